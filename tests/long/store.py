"""scripts/fleet store: many processes write to one PostgreSQL database while clients are killed and the server restarts."""

import json
import pathlib
import random
import signal
import subprocess
import threading
import time

from tests.cli.postgres_server import Server, programs
from tests.long.scene import HOME, STROP, Failure, checked, end, environment, need, require, run, show, tell

SHARED_EVERY, DOCUMENT_EVERY, RUN_EVERY = 4, 5, 50    # as in store_client.cpp


class Client:
    """A process that writes, started again where it was when it is killed; what was acknowledged to it."""

    def __init__(self, program, address, name, log):
        self.program, self.address, self.name, self.log = program, address, name, log
        self.acknowledged, self.kills, self.failed = -1, 0, ""
        self.ending = False
        self.process = None
        self.start()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()

    def start(self):
        self.process = subprocess.Popen([self.program, self.address, self.name, str(self.acknowledged + 1)], text=True,
                                        stdout=subprocess.PIPE, stderr=self.log, start_new_session=True)

    def listen(self):
        while True:
            for line in self.process.stdout:
                number = int(line.split()[1])
                if number != self.acknowledged + 1:
                    self.failed = f"{self.name}: {number} was acknowledged after {self.acknowledged}"
                self.acknowledged = number
            code = self.process.wait()
            self.process.stdout.close()
            if self.ending:
                return
            if code == 3 and "cannot be reached" in last_line(self.log.name):    # it began while the server was away
                time.sleep(0.2)
            elif code != -signal.SIGKILL:
                self.failed = f"{self.name} ended with {code}: {last_line(self.log.name)}"
                return
            self.start()

    def kill(self):
        self.kills += 1
        self.process.kill()

    def close(self):
        self.ending = True
        end(self.process)
        self.thread.join()


def last_line(file):
    return (pathlib.Path(file).read_text("utf-8").strip().splitlines() or ["it said nothing"])[-1]


def disturb(server, clients, arguments):
    """Kills and restarts, evenly over the time; clients wait for a server that is away."""
    random_, begun, seconds = random.Random(arguments.seed), time.monotonic(), arguments.minutes * 60
    moments = sorted([(random_.uniform(0.02, 0.97) * seconds, "kill") for _ in range(arguments.kills)] +
                     [((i + 0.5) / arguments.restarts * seconds, "restart") for i in range(arguments.restarts)])
    for moment, what in moments:
        time.sleep(max(0.0, begun + moment - time.monotonic()))
        failed = [client.failed for client in clients if client.failed]
        require(not failed, "; ".join(failed))
        if what == "kill":
            random_.choice(clients).kill()
        else:
            server.stop()
            time.sleep(random_.uniform(0, 3))
            server.start()
            tell(f"restarted the server; {sum(client.acknowledged + 1 for client in clients)} acknowledged")
    time.sleep(max(0.0, begun + seconds - time.monotonic()))


def rows_of(clients, kept, documents, runs):
    """What each client wrote against what is there."""
    rows = []
    for client in clients:
        count, missing, twice, wrong = client.acknowledged + 1, 0, 0, 0
        for number in range(count):
            found = kept.get((client.name if number % SHARED_EVERY else "shared", f"{client.name}-{number}"), [])
            missing += not found
            twice += len(found) > 1
            wrong += any(value != number for value in found)
            missing += number % DOCUMENT_EVERY == 0 and (client.name, f"{client.name}-{number}") not in documents
        saved = runs.get(client.name, -1)
        newest = (count - 1) // RUN_EVERY * RUN_EVERY
        stale = count > 0 and saved not in (newest, newest + RUN_EVERY)
        problem = f"{missing} lost, {twice} twice, {wrong} wrong" if missing or twice or wrong else \
            f"its run says {saved}" if stale else client.failed
        rows.append({"client": client.name, "kills": client.kills, "acknowledged": count, "lost": missing, "twice": twice,
                     "wrong": problem})
    return rows


def table(server, database, statement):
    return [json.loads(line) for line in server.sql(database, f"SELECT json_build_array({statement}")]


def store(scene, arguments):
    need([], "")
    if not programs():
        raise Failure("the programs of PostgreSQL are not installed: scripts/setup --tests")
    build = pathlib.Path(STROP).parent
    checked("cmake", "--build", build, "--target", "store_client", seconds=900)
    server = Server()
    scene.callback(server.close)
    database = server.fresh()
    address = server.address(database)
    log = scene.enter_context((scene.folder / "log").open("w", encoding="utf-8"))
    clients = []
    for i in range(arguments.clients):
        clients.append(Client(build / "store_client", address, f"client{i:02}", log))
        scene.callback(clients[-1].close)
    disturb(server, clients, arguments)
    for client in clients:
        client.close()
    kept, sequences = {}, {}
    columns = "run, key, sequence, evaluation::json -> 'configuration' -> 'N'"
    for run_name, key, sequence, value in table(server, database, f"{columns}) FROM evaluations"):
        kept.setdefault((run_name, key), []).append(value)
        sequences.setdefault(run_name, []).append(sequence)
    gaps = [name for name, numbers in sequences.items() if sorted(numbers) != list(range(len(numbers)))]
    documents = {tuple(row) for row in table(server, database, "run, key) FROM documents")}
    runs = dict(table(server, database, "run, evaluations) FROM runs"))
    rows = rows_of(clients, kept, documents, runs)
    rows.append({"client": "shared run", "acknowledged": len(sequences.get("shared", [])),
                 "wrong": f"not numbered one after the other: {', '.join(gaps)}" if gaps else ""})
    listed = run(STROP, "runs", "--store", address, "--json", env=environment())
    require(listed.returncode == 0 and len(json.loads(listed.stdout)) == len(runs), f"strop runs: {listed.stderr}")
    said = (scene.folder / "log").read_text("utf-8").strip().splitlines()
    return show("store", rows, arguments.json, kills=sum(client.kills for client in clients), restarts=arguments.restarts,
                minutes=arguments.minutes, acknowledged=sum(client.acknowledged + 1 for client in clients),
                kept=sum(map(len, kept.values())), errors_said=len(said))
