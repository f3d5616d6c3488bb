"""`strop serve` as a browser and a script see it."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from tests.cli.strop_cli import BINARY, HOME, InFolder, environment, strop, violations, wait_until


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Served(InFolder):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "runs.db"

    def serve(self, *words):
        """Starts the server; the address that it printed."""
        self.server = subprocess.Popen([os.path.abspath(BINARY), "serve", "--port", "0", "--store", str(self.store), *words],
                                       cwd=self.folder, env=environment(), text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
        self.addCleanup(self.server.communicate)
        self.addCleanup(self.server.kill)
        return self.server.stdout.readline().strip()

    def ask(self, address, form=None, **headers):
        """(status, headers, text); redirects are not followed."""
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(address, data, {name.replace("_", "-"): value for name, value in headers.items()})
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=30) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.headers, answer.read().decode()

    def post(self, address, path, **fields):
        token = re.search(r'name="form_token" value="(\w+)"', self.ask(address)[2]).group(1)
        return self.ask(address + path, {"form_token": token, **fields})


class Pages(Served):
    def test_a_run_is_started_stopped_resumed_and_shown(self):
        problem = self.problem("shifted")
        address = self.serve()
        self.assertIn("There is no run yet", self.ask(address)[2])
        status, headers, _ = self.post(address, "runs", problem=str(problem), budget="60s")
        self.assertEqual(status, 303)
        run = address + headers["Location"].lstrip("/")
        name = run.rsplit("/", 1)[1]
        self.assertTrue(name.startswith("shifted-"))
        self.assertTrue(wait_until(lambda: "Latest evaluations" in self.ask(run + "/progress")[2]))
        self.assertIn("<h1>Running</h1>", self.ask(run)[2])
        self.assertEqual(self.post(address, "runs", problem=str(problem), budget="60s")[0], 409)

        self.assertEqual(self.post(address, f"runs/{name}/stop")[0], 303)
        self.assertTrue(wait_until(lambda: json.loads(self.ask(address + "api/runs")[2])[0]["outcome"] == "interrupted"))
        self.assertTrue(wait_until(lambda: self.ask(run + "/progress")[1]["X-Strop-Running"] == "no"))
        self.assertEqual(self.post(address, f"runs/{name}/resume", budget="4s")[0], 303)
        self.assertTrue(wait_until(lambda: self.ask(run + "/progress")[1]["X-Strop-Running"] == "no", 180))

        report = json.loads(self.ask(address + "api/runs/" + name)[2])
        schema = json.loads((pathlib.Path(HOME) / "docs" / "report.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(violations(report, schema), [])
        self.assertIn(report["outcome"], ("improved", "no_improvement"))
        page = self.ask(run)[2]
        self.assertIn("Strategies and kernels", page)
        kernel = re.search(rf'href="/(runs/{name}/kernels/[^"]+)"', page).group(1)
        self.assertIn('<pre class="source">', self.ask(address + kernel)[2])

    def test_an_end_of_the_server_leaves_a_run_that_can_be_resumed(self):
        problem = self.problem("shifted")
        address = self.serve()
        run = self.post(address, "runs", problem=str(problem), budget="60s")[1]["Location"]
        self.assertTrue(wait_until(lambda: "Latest evaluations" in self.ask(address + run[1:] + "/progress")[2]))
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(60), 130)
        runs = json.loads(strop("runs", "--store", "runs.db", "--json", cwd=self.folder).stdout)
        self.assertEqual([entry["outcome"] for entry in runs], ["interrupted"])

    def test_what_does_not_start_is_said(self):
        address = self.serve()
        self.assertEqual(self.post(address, "runs", problem="nowhere", budget="5s")[0], 303)
        self.assertIn("no such problem", self.ask(address)[2])
        self.assertEqual(self.post(address, "runs", problem="--help", budget="5s")[0], 400)
        self.assertFalse(self.store.exists())


class Guarded(Served):
    def test_a_token_is_needed_off_the_loopback(self):
        address = self.serve("--host", "0.0.0.0")
        token = re.fullmatch(r"http://[^/]+/\?token=([0-9a-f]{32})", address).group(1)
        here = f"http://127.0.0.1:{urllib.parse.urlsplit(address).port}/"
        for path in ("", "api/runs", "nothing"):
            self.assertEqual(self.ask(here + path)[0], 401)
        self.assertEqual(self.ask(here, {"problem": "softmax"})[0], 401)
        status, headers, _ = self.ask(here + "?token=" + token)
        self.assertEqual((status, headers["Location"]), (303, "/"))
        self.assertEqual(self.ask(here, Cookie=headers["Set-Cookie"].split(";")[0])[0], 200)
        self.assertEqual(self.ask(here + "api/runs", Authorization="Bearer " + token)[0], 200)

    def test_pages_of_other_sites_are_refused(self):
        address = self.serve()
        self.assertEqual(self.ask(address, Host="evil.example")[0], 403)
        self.assertEqual(self.ask(address, Origin="http://evil.example")[0], 403)
        self.assertEqual(self.ask(address + "runs", {"problem": "softmax", "budget": "5s"})[0], 403)
        self.assertEqual(self.ask(address)[0], 200)

    def test_bytes_that_are_no_request_do_no_harm(self):
        address = self.serve()
        port = urllib.parse.urlsplit(address).port
        for text in (b"\0\xff\n\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /runs/%00%0a%ff%3Cb%3E HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                     b"GET /" + b"a" * 8000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /?page=" + b"%" * 99 + b" HTTP/1.1\r\n",
                     b"POST /runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n",
                     b"BREW / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                self.assertNotIn(b" 200 ", connection.recv(65536).split(b"\r\n")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("HEAD", "/")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read()), (200, b""))


class Mistakes(Served):
    def test_a_port_in_use_is_said_in_a_line(self):
        self.says_that_a_port_is_taken("serve")

    def test_flags(self):
        self.fails(["serve", "--port", "65536"], 2, "--port 65536: is not a port", "a number up to 65535; 0: any that is free")
        self.fails(["serve", "--token", "short"], 2, "--token: is not a token",
                   "at least 16 letters, digits, - and _ that nobody guesses")
        file = self.folder / "token"
        file.write_text("a-secret-that-is-long\n", encoding="utf-8")
        file.chmod(0o644)
        self.fails(["serve", "--token-file", "token"], 2, "token: others may use this token file", "chmod 600 token")
        (self.folder / "no.db").write_text("this is no database, however long it is", encoding="utf-8")
        done = strop("serve", "--port", "0", "--store", "no.db", cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no.db: is corrupt", done.stderr)

    def test_an_interrupt_ends_it(self):
        address = self.serve()
        self.assertTrue(address.startswith("http://127.0.0.1:"))
        began = time.monotonic()
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(30), 130)
        self.assertLess(time.monotonic() - began, 20)


if __name__ == "__main__":
    unittest.main()
