"""A PostgreSQL server for tests of a shared store: in a temporary folder, on a socket there and a port of the loopback,
gone with the tests."""

import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

PASSWORD = "correct-horse"    # of the user "ann", who needs it


def programs():
    """The newest folder with the server's programs; None where there is none."""
    found = sorted(path.parent for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1] if found else None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="strop-postgres-"))
        self.port, self.databases, self.process = free_port(), 0, None
        self.user = None    # root may not run it
        if os.geteuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            self.user = "postgres" if "postgres" in names else "nobody"
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, pwd.getpwnam(self.user).pw_gid)
        self.run(programs() / "initdb", "-D", self.folder / "data", "-U", "strop", "-A", "trust", "-E", "UTF8",
                 "--locale=C.UTF-8", "--no-sync", "--no-instructions")
        (self.folder / "data/pg_hba.conf").write_text(
            "local all all trust\nhost all strop 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
            encoding="utf-8")
        self.start()
        self.sql("postgres", f"CREATE ROLE ann LOGIN SUPERUSER PASSWORD '{PASSWORD}'")

    def run(self, *words):
        subprocess.run([str(word) for word in words], user=self.user, cwd="/", check=True, capture_output=True)

    def start(self):
        self.process = subprocess.Popen(
            [str(programs() / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), "-p", str(self.port),
             "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=16MB"],
            user=self.user, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ready = [str(programs() / "pg_isready"), "-q", "-h", str(self.folder), "-p", str(self.port)]
        limit = time.monotonic() + 30
        while subprocess.run(ready, check=False).returncode != 0:
            if time.monotonic() > limit:
                raise RuntimeError("the server does not answer")
            time.sleep(0.05)

    def stop(self):
        """At once, as if its machine had failed; nothing that it acknowledged is lost."""
        self.process.send_signal(3)
        self.process.wait()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder)

    def fresh(self):
        """The name of an empty database."""
        self.databases += 1
        self.sql("postgres", f"CREATE DATABASE d{self.databases} STRATEGY wal_log")
        return f"d{self.databases}"

    def address(self, database, user="strop"):
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def sql(self, database, statements):
        """The values of the result's rows, as texts."""
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-p",
                               str(self.port), "-U", "strop", "-d", database, "-c", statements],
                              check=True, capture_output=True, text=True)
        return done.stdout.splitlines()
