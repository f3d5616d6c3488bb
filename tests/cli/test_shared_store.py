"""A store in a database of a PostgreSQL server, from outside."""

import json
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from tests.cli.postgres_server import PASSWORD, Server, free_port, programs
from tests.cli.strop_cli import BINARY, descendants, environment, strop, wait_until
from tests.cli.test_knowledge import LESSON, shared_run
from tests.cli.test_serve import Served

RUN = ["optimize", "shifted", "--budget", "2s", "--evaluations", "3", "--point", "small", "--seed", "5", "--json"]


def process_file(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@unittest.skipUnless(programs(), "the programs of PostgreSQL are not installed: scripts/setup --tests")
class SharedStore(Served):
    @classmethod
    def setUpClass(cls):
        cls.database_server = Server()

    @classmethod
    def tearDownClass(cls):
        cls.database_server.close()

    def setUp(self):
        super().setUp()
        self.database = self.database_server.fresh()
        self.store = self.database_server.address(self.database)

    def sql(self, statement):
        return self.database_server.sql(self.database, statement)

    def strop(self, *words, code=0, **changes):
        done = strop(*words, cwd=self.folder, **{"STROP_STORE": self.store, **changes})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def start(self, *words, **changes):
        process = subprocess.Popen([os.path.abspath(BINARY), *words], cwd=self.folder, text=True,
                                   env=environment(**{"STROP_STORE": self.store, **changes}),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for_evaluations(self, process):
        def look():
            time.sleep(0.2)    # asking costs a process
            return self.evaluated() or process.poll() is not None
        self.assertTrue(wait_until(look))

    def evaluated(self):
        try:
            return self.sql("SELECT key FROM evaluations ORDER BY run, sequence")
        except subprocess.CalledProcessError:    # there are no tables yet
            return []

    def write(self, folder, *runs):
        for kind, documents in (("runs", {run["run"]["run"]: run for run in runs}), ("lessons", {"0": LESSON})):
            (self.folder / folder / kind).mkdir(parents=True, exist_ok=True)
            for name, document in documents.items():
                (self.folder / folder / kind / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")

    def test_a_run_and_everything_that_asks_for_it(self):
        self.problem("shifted")
        record = self.run_with_password()
        self.assertTrue(record["verified"], record["verification"])
        self.assertFalse((self.folder / "strop-out/strop.db").exists())
        [listed] = json.loads(self.strop("runs", "--json").stdout)
        self.assertEqual((listed["run"], listed["outcome"]), (record["run"], record["outcome"]))
        self.assertIn(record["strategies"][0]["id"], self.strop("show", record["run"][:9]).stdout)
        self.assertEqual(json.loads(self.strop("report", record["run"], "--format", "json").stdout), record)
        self.assertIn(record["run"], self.strop("query", "--similar", "shifted").stdout)
        self.assertIn("shifted", self.strop("list", "--slow").stdout)
        self.assertEqual(json.loads(self.strop("resume", record["run"], "--json", "--quiet").stdout), record)
        self.strop("knowledge", "export", "one")
        self.strop("knowledge", "import", "one", STROP_STORE="other.db")
        self.strop("knowledge", "export", "two", STROP_STORE="other.db")
        files = [{file.relative_to(self.folder / name): file.read_bytes()
                  for file in (self.folder / name).rglob("*.*") if file.is_file()} for name in ("one", "two")]
        self.assertEqual(*files)
        self.assertIn("as they should be", self.strop("knowledge", "check", "one").stdout)
        views = self.sql("SELECT DISTINCT problem, machine <> '', strategy <> '', verdict FROM evaluations_view "
                         "WHERE median_seconds > 0")
        self.assertEqual(views, ["shifted|t|t|ok"])
        self.experience_of(record)

    def run_with_password(self):
        """Its record; the password stays where it is."""
        secret = f"postgresql://ann:{PASSWORD}@127.0.0.1:{self.database_server.port}/{self.database}"
        process = self.start(*RUN, "--verbose", "--store", secret, STROP_STORE=secret, PGPASSWORD=PASSWORD)
        self.wait_for_evaluations(process)
        below = [pid for pid, _ in descendants(process.pid)]
        listed = "".join(process_file(pid, name) for pid in [process.pid, *below] for name in ("cmdline", "environ"))
        out, said = process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 1), said)
        self.assertIn("postgresql://ann:", listed)
        kept = "".join(file.read_text(encoding="utf-8", errors="replace")
                       for file in self.folder.rglob("*") if file.is_file())
        documents = "\n".join(self.sql("SELECT record FROM runs UNION ALL SELECT document FROM documents"))
        for text in (listed, out, said, kept, documents):
            self.assertNotIn(PASSWORD, text)
        return json.loads(out)

    def experience_of(self, record):
        """A run keeps where its experience came from, and no password."""
        secret = f"postgresql://ann:{PASSWORD}@127.0.0.1:{self.database_server.port}/{self.database}"
        shown = secret.replace(f":{PASSWORD}@", "@")
        done = self.strop(*RUN, "--knowledge", secret, code=2, STROP_STORE="own.db")
        self.assertEqual(done.stderr.splitlines()[0],
                         f"strop: --knowledge {shown}: its password would be kept with the run")
        done = strop(*RUN, "--quiet", "--knowledge", shown, cwd=self.folder, STROP_STORE="own.db", PGPASSWORD=PASSWORD)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn(f"({shown})", done.stdout)
        self.assertEqual(self.sql("SELECT run FROM runs"), [record["run"]])

    def test_a_server_that_goes_away_is_waited_for(self):
        """One that does not come back in time leaves a run to resume."""
        self.problem("shifted")
        process = self.start(*RUN, "--store-wait", "500ms")
        self.wait_for_evaluations(process)
        kept = self.evaluated()
        self.database_server.stop()
        self.addCleanup(lambda: self.database_server.process.poll() is None or self.database_server.start())
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, said)
        self.assertRegex(said, r"(?m)^once the store is back go on with: strop resume shifted-\S+$")
        self.assertRegex(said, r"(?m)^strop: postgresql://\S+: was lost and does not come back: .*\nhint: .*$")

        self.database_server.start()
        [run] = json.loads(self.strop("runs", "--json").stdout)
        process = self.start("resume", run["run"], "--json")
        self.assertTrue(wait_until(
            lambda: self.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = 'strop'") or process.poll()))
        self.database_server.stop()
        self.database_server.start()
        out, said = process.communicate(timeout=100)
        self.assertIn(process.returncode, (0, 1), said)
        self.assertRegex(said, r"(?m)^postgresql://\S+ was lost \(.*\); waiting for it, at most 60 s$")
        self.assertRegex(said, r"(?m)^postgresql://\S+ is back$")
        keys = self.evaluated()
        self.assertEqual(keys[:len(kept)], kept)
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(json.loads(out)["evaluations"]["total"], len(keys))

    def test_what_is_wrong_is_one_line_without_a_password(self):
        def says(store, code, phrase, hint, *words):
            done = strop(*(words or ["runs"]), "--store", store, cwd=self.folder)
            self.assertRegex(done.stderr, f"^strop: {phrase}\nhint: {hint}\n$")
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertNotIn("secret", done.stderr)
        nobody, port = free_port(), self.database_server.port
        says(f"postgresql://ann:secret@127.0.0.1:{nobody}/runs", 3,
             f"postgresql://ann@127.0.0.1:{nobody}/runs: cannot be reached: .*refused", "is the server up.*")
        says(f"postgresql://ann:secret@127.0.0.1:{port}/{self.database}", 3,
             f"postgresql://ann@127.0.0.1:{port}/{self.database}: cannot be reached: .*password authentication failed.*",
             "put the password into .*pgpass.*")
        says(f"postgresql://ann@127.0.0.1:{port}/{self.database}", 3, ".*: cannot be reached: .*no password supplied",
             "put the password into .*pgpass.*")
        says(self.database_server.address("nowhere"), 3, ".*: cannot be reached: .*\"nowhere\" does not exist", "createdb .*")
        says("postgresql://ann:sec/ret@host/runs", 2, r"postgresql://\.\.\.: the address of the store cannot be read",
             "as in postgresql://USER@HOST/DATABASE.*")
        says("mysql://ann:secret@host/runs", 2, "mysql://: is no address of a store", "a store is a file.*")
        says(self.store, 2, f"{self.store}: there is no such store", "leave --store out.*")
        self.assertEqual(self.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), ["0"],
                         "who only reads makes nothing")
        self.write("theirs", shared_run("a-1"))
        self.strop("knowledge", "import", "theirs")
        self.sql("UPDATE strop_store SET version = 99")
        says(self.store, 3, f"{self.store}: was written by a newer Strop .store version 99, this one knows .*",
             "update Strop.*")

    def test_passwords_need_not_be_in_an_address(self):
        self.write("theirs", shared_run("a-1"))
        self.strop("knowledge", "import", "theirs")
        address = self.database_server.address(self.database, "ann")
        pgpass = self.folder / "pgpass"
        pgpass.write_text(f"127.0.0.1:{self.database_server.port}:*:ann:{PASSWORD}\n", encoding="utf-8")
        pgpass.chmod(0o600)
        for changes in ({"PGPASSFILE": str(pgpass)}, {"PGPASSWORD": PASSWORD}):
            self.assertEqual(len(json.loads(self.strop("runs", "--store", address, "--json", **changes).stdout)), 1)

    def test_two_processes_at_once(self):
        people = ["ann", "bob", "cat"]
        for person in people:
            self.write(person, *(shared_run(f"{person}-{i}") for i in range(6)), shared_run("all"))
        processes = [self.start("knowledge", "import", person) for person in people + people]
        self.assertEqual([process.wait() for process in processes], [0] * 6)
        listed = json.loads(self.strop("runs", "--json").stdout)
        self.assertEqual(len(listed), 19)
        self.assertEqual(self.sql("SELECT count(*) FROM digests"), ["19"])
        self.assertEqual(self.sql("SELECT count(*) FROM lessons"), ["1"])

    def test_an_import_that_is_killed_leaves_whole_runs_only(self):
        self.write("theirs", *(shared_run(f"r-{i}") for i in range(25)))
        chance = random.Random(7)
        for _ in range(int(os.environ.get("STROP_KILLS", "5"))):
            process = self.start("knowledge", "import", "theirs")
            time.sleep(chance.uniform(0, 0.4))
            process.kill()
            process.communicate()
            if not self.sql("SELECT 1 FROM pg_tables WHERE tablename = 'strop_store'"):
                self.assertEqual(self.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), [])
                continue
            self.assertEqual(self.sql("SELECT run FROM runs EXCEPT SELECT run FROM digests"), [])
            self.assertLessEqual(set(self.sql("SELECT DISTINCT record::json ->> 'origin' FROM runs")), {"theirs"})
            if self.sql("SELECT count(*) FROM runs") == ["25"]:    # begin afresh, so that later kills meet something
                self.sql("TRUNCATE runs, digests, signatures, lessons, testimonies")
        self.strop("knowledge", "import", "theirs")
        self.strop("knowledge", "export", "one")
        self.assertEqual(self.strop("knowledge", "check", "one").stdout,
                         "one: 25 runs, 1 lesson, 1 pattern as they should be\n")

    def test_the_page_of_all_runs(self):
        self.write("theirs", shared_run("a-1"))
        self.strop("knowledge", "import", "theirs")
        secret = f"postgresql://ann:{PASSWORD}@127.0.0.1:{self.database_server.port}/{self.database}"
        problem = self.problem("shifted")
        self.store = f"postgresql://ann:{PASSWORD}@127.0.0.1:{self.database_server.port}/{self.database}"
        address = self.serve()
        page = self.ask(address)[2]
        self.assertIn("a-1", page)
        run = self.post(address, "runs", problem=str(problem), budget="60s")[1]["Location"]
        self.assertTrue(wait_until(lambda: "Latest evaluations" in self.ask(address + run[1:] + "/progress")[2]))
        pids = [self.server.pid, *(pid for pid, _ in descendants(self.server.pid))]
        self.assertNotIn(PASSWORD, page + "".join(process_file(pid, "cmdline") for pid in pids))
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(60), 130)
        self.assertEqual(self.sql("SELECT outcome FROM runs WHERE problem = 'shifted'"), ["interrupted"])


if __name__ == "__main__":
    unittest.main()
