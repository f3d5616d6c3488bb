"""`strop mcp --http` as an assistant's program sees it."""

import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import unittest
import urllib.parse

from tests.cli.strop_cli import BINARY, InFolder, descendants, environment, lives, strop, wait_until

JSON, EVENTS = "application/json", "text/event-stream"
MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
TOOLS = ["optimize", "judge", "profile", "tune", "list", "runs", "report"]
INITIALIZE = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def message(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def events(answer):
    """The messages of a stream, each as soon as it came."""
    for line in iter(answer.readline, b""):
        if line.startswith(b"data: "):
            yield json.loads(line[len(b"data: "):])


def sockets(process):
    """Those that it has open; none when it has ended."""
    found = set()
    with contextlib.suppress(OSError):
        for file in pathlib.Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(os.readlink(file))
    return {name for name in found if name.startswith("socket:")}


class Served(InFolder):
    def serve(self, *words):
        """Starts the server; its address is kept."""
        self.server = subprocess.Popen([os.path.abspath(BINARY), "mcp", "--http", "--port", "0", *words],
                                       cwd=self.folder, env=environment(), text=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
        self.addCleanup(self.server.communicate)
        self.addCleanup(self.server.kill)
        self.address = urllib.parse.urlsplit(self.server.stdout.readline().strip())
        self.assertEqual(self.address.path, "/mcp")

    @contextlib.contextmanager
    def open(self, body=None, method="POST", path="/mcp", **headers):
        """The answer to one request, unread; it is dropped afterwards. A header that is None is not sent."""
        given = {"Content-Type": JSON, "Accept": f"{JSON}, {EVENTS}"}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=60)
        data = json.dumps(body) if isinstance(body, dict) else body
        connection.request(method, path, data, {name: value for name, value in given.items() if value is not None})
        with connection.getresponse() as answer:
            try:
                yield answer
            finally:
                connection.close()

    def ask(self, body=None, **more):
        """(status, headers, the answer itself: of a stream the last message)."""
        with self.open(body, **more) as answer:
            if answer.headers["Content-Type"] == EVENTS:
                return answer.status, answer.headers, list(events(answer))[-1]
            text = answer.read().decode()
            is_json = answer.headers["Content-Type"] == JSON
            return answer.status, answer.headers, json.loads(text) if is_json else text

    def begin(self):
        """The headers of a new session."""
        status, headers, answer = self.ask(message("initialize", INITIALIZE))
        self.assertEqual((status, answer["result"]["protocolVersion"]), (200, LEGACY))
        self.assertRegex(headers["Mcp-Session-Id"], r"^[!-~]{32,}$")
        session = {"Mcp_Session_Id": headers["Mcp-Session-Id"], "MCP_Protocol_Version": LEGACY}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.assertEqual(self.ask(told, **session)[::2], (202, ""))
        return session

    def modern(self, method, params=None, **headers):
        """What the keywords of a request are in the version without sessions."""
        params = {**(params or {}), "_meta": {**META, "progressToken": "p"}}
        name = params.get("name") or params.get("uri")
        return {"body": message(method, params), "MCP_Protocol_Version": MODERN, "Mcp_Method": method, "Mcp_Name": name,
                **headers}

    def long_call(self):
        problem = self.problem("shifted")
        return {"name": "optimize", "arguments": {"problem": str(problem), "budget": "10m"},
                "_meta": {"progressToken": 7}}

    def nothing_runs(self):
        return wait_until(lambda: not descendants(self.server.pid))


class Eras(Served):
    def test_tools_are_listed_and_called_in_a_session(self):
        self.serve()
        session = self.begin()
        status, headers, answer = self.ask(message("tools/list"), **session)
        self.assertEqual((status, headers["Content-Type"]), (200, JSON))
        self.assertEqual([tool["name"] for tool in answer["result"]["tools"]], TOOLS)
        call = message("tools/call", {"name": "runs", "arguments": {}}, "a")
        status, headers, answer = self.ask(call, **session)
        self.assertEqual((status, headers["Content-Type"], answer["id"]), (200, EVENTS, "a"))
        self.assertEqual(answer["result"]["structuredContent"], {"items": []})
        status, _, answer = self.ask(message("no/method"), **session)    # 404 would end the session
        self.assertEqual((status, answer["error"]["code"]), (200, -32601))
        session.pop("MCP_Protocol_Version")    # a client of 2025-03-26 does not send it
        self.assertEqual(self.ask(message("ping"), **session)[::2], (200, {"jsonrpc": "2.0", "id": 1, "result": {}}))

    def test_tools_are_listed_and_called_without_one(self):
        self.serve()
        status, headers, answer = self.ask(**self.modern("server/discover"))
        self.assertEqual((status, answer["result"]["supportedVersions"][0]), (200, MODERN))
        self.assertIsNone(headers["Mcp-Session-Id"])
        answer = self.ask(**self.modern("tools/list"))[2]
        self.assertEqual([tool["name"] for tool in answer["result"]["tools"]], TOOLS)
        status, headers, answer = self.ask(**self.modern("tools/call", {"name": "runs", "arguments": {}}))
        self.assertEqual((status, headers["Content-Type"]), (200, EVENTS))
        self.assertEqual(answer["result"]["structuredContent"], {"items": []})
        status, _, answer = self.ask(**self.modern("no/method"))
        self.assertEqual((status, answer["error"]["code"]), (404, -32601))
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        self.assertEqual(self.ask(told, MCP_Protocol_Version=MODERN)[::2], (202, ""))

    def test_a_kernel_is_judged_by_its_source(self):
        self.serve()
        problem = self.problem("shifted")
        call = {"name": "judge", "arguments": {"problem": str(problem), "source": "int no_such_function;"}}
        for answer in (self.ask(**self.modern("tools/call", call))[2],
                       self.ask(message("tools/call", call), **self.begin())[2]):
            self.assertFalse(answer["result"]["isError"])
            self.assertEqual(answer["result"]["structuredContent"]["verdict"], "compile_failed")

    def test_headers_say_what_the_message_says(self):
        self.serve()
        call = {"name": "runs", "arguments": {}}
        for wrong in ({"MCP_Protocol_Version": None}, {"MCP_Protocol_Version": LEGACY}, {"Mcp_Method": None},
                      {"Mcp_Method": "tools/list"}, {"Mcp_Name": None}, {"Mcp_Name": "judge"}):
            status, _, answer = self.ask(**self.modern("tools/call", call, **wrong))
            self.assertEqual((status, answer["id"], answer["error"]["code"]), (400, 1, -32020), wrong)
        encoded = self.modern("tools/call", call, Mcp_Name="=?base64?cnVucw==?=")
        self.assertIn("result", self.ask(**encoded)[2])
        unnamed = self.modern("tools/list")
        unnamed["body"]["params"].pop("_meta")
        status, _, answer = self.ask(**unnamed)
        self.assertEqual((status, answer["error"]["code"]), (400, -32602))

    def test_an_unknown_version_is_refused_with_those_that_are_known(self):
        self.serve()
        future = self.modern("tools/list", MCP_Protocol_Version="2031-01-01")
        future["body"]["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2031-01-01"
        session = {**self.begin(), "MCP_Protocol_Version": "1999-01-01"}
        for request in (future, {"body": message("tools/list"), **session}):
            status, _, answer = self.ask(**request)
            self.assertEqual((status, answer["error"]["code"]), (400, -32022))
            self.assertIn(MODERN, answer["error"]["data"]["supported"])


class Sessions(Served):
    def test_a_session_ends_once(self):
        self.serve()
        session, other = self.begin(), self.begin()
        self.assertNotEqual(session, other)
        self.assertEqual(self.ask(method="DELETE", **session)[0], 204)
        self.assertEqual(self.ask(method="DELETE", **session)[0], 404)
        status, _, answer = self.ask(message("tools/list"), **session)
        self.assertEqual((status, answer["error"]["code"], answer["id"]), (404, -32600, 1))
        self.assertEqual(self.ask(message("tools/list"), **other)[0], 200)

    def test_a_session_is_needed_where_the_version_has_them(self):
        self.serve()
        self.assertEqual(self.ask(message("tools/list"))[0], 400)
        self.assertEqual(self.ask(message("tools/list"), Mcp_Session_Id="0" * 32)[0], 404)
        self.assertEqual(self.ask(method="DELETE")[0], 400)
        for method, headers in (("GET", self.begin()), ("PUT", {}), ("DELETE", {"MCP_Protocol_Version": MODERN})):
            status, given, _ = self.ask(method=method, **headers)
            self.assertEqual((status, given["Allow"]), (405, "POST, DELETE"), method)


class Calls(Served):
    """Of a tool that would take ten minutes."""

    def test_one_that_is_cancelled_ends_with_its_stream(self):
        self.serve()
        session = self.begin()
        with self.open(message("tools/call", self.long_call(), 5), **session) as answer:
            told = events(answer)
            first = next(told)
            self.assertEqual((first["method"], first["params"]["progressToken"]), ("notifications/progress", 7))
            self.assertTrue(descendants(self.server.pid))
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
            self.assertEqual(self.ask(cancel, **self.begin())[0], 202)    # of another session, about its own request
            self.assertTrue(descendants(self.server.pid))
            self.assertEqual(self.ask(cancel, **session)[0], 202)
            self.assertFalse([said for said in told if "id" in said])
        self.assertTrue(self.nothing_runs())
        runs = self.ask(**self.modern("tools/call", {"name": "runs", "arguments": {}}))[2]
        self.assertEqual([run["outcome"] for run in runs["result"]["structuredContent"]["items"]], ["interrupted"])

    def test_one_ends_with_the_client_that_waits_for_it(self):
        self.serve()
        for request in (self.modern("tools/call", self.long_call()),
                        {"body": message("tools/call", self.long_call()), **self.begin()}):
            with self.open(**request) as answer:
                self.assertEqual(next(events(answer))["method"], "notifications/progress")
            self.assertTrue(self.nothing_runs())

    def test_one_ends_with_its_session(self):
        self.serve()
        session = self.begin()
        with self.open(message("tools/call", self.long_call()), **session) as answer:
            told = events(answer)
            next(told)
            self.assertEqual(self.ask(method="DELETE", **session)[0], 204)
            self.assertFalse([said for said in told if "id" in said])
        self.assertTrue(self.nothing_runs())

    def test_one_ends_with_the_server(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.serve()
            with self.open(**self.modern("tools/call", self.long_call())) as answer:
                told = events(answer)
                next(told)
                started = descendants(self.server.pid)
                self.assertTrue(started)
                self.server.send_signal(number)
                self.assertFalse([said for said in told if "id" in said])
            self.assertEqual(self.server.wait(60), 130)
            self.assertTrue(wait_until(lambda: not any(lives(*process) for process in started)))


    def test_one_has_nothing_of_its_client(self):
        self.serve()
        with self.open(**self.modern("tools/call", self.long_call())) as answer:
            next(events(answer))
            self.assertTrue(sockets(self.server.pid))
            for process, _ in descendants(self.server.pid):
                self.assertFalse(sockets(process) & sockets(self.server.pid))


class Guarded(Served):
    def test_a_token_is_needed_off_the_loopback(self):
        self.serve("--host", "0.0.0.0")
        token = re.fullmatch(r"Authorization: Bearer ([0-9a-f]{32})\n", self.server.stdout.readline()).group(1)
        request = self.modern("tools/list")
        for wrong in ({}, {"Authorization": "Bearer " + "0" * 32}, {"Authorization": token},
                      {"Cookie": "strop_token=" + token}, {"path": "/mcp?token=" + token}):
            status, headers, _ = self.ask(**request, **wrong)
            self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"), wrong)
        self.assertEqual(self.ask(method="GET", path="/")[0], 401)
        self.assertEqual(self.ask(**request, Authorization="Bearer " + token)[0], 200)

    def test_a_token_of_the_users_is_not_printed(self):
        self.serve("--token", "a-secret-that-is-long")
        self.assertEqual(self.ask(**self.modern("tools/list"))[0], 401)
        self.assertEqual(self.ask(**self.modern("tools/list"), Authorization="Bearer a-secret-that-is-long")[0], 200)
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.communicate()[0], "")

    def test_pages_of_other_sites_are_refused(self):
        self.serve()
        request = self.modern("tools/list")
        for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"},
                        {"Sec_Fetch_Site": "cross-site"}):
            self.assertEqual(self.ask(**request, **foreign)[0], 403, foreign)
        status, headers, _ = self.ask(**request, Origin=f"http://127.0.0.1:{self.address.port}")
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, None))


class BadRequests(Served):
    def test_what_is_no_message_is_refused(self):
        self.serve()
        for body, code in (("nonsense", -32700), ("", -32700), ("[" * 100, -32700), ("[]", -32600), ("{}", -32600),
                           ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600)):
            status, _, answer = self.ask(body)
            self.assertEqual((status, answer["error"]["code"]), (400, code), body)

    def test_what_cannot_be_answered_is_refused(self):
        self.serve()
        request = self.modern("tools/list")
        for wrong, expected in (({"Content_Type": "text/plain"}, 415), ({"Content_Type": None}, 415),
                                ({"Content_Type": JSON + "; charset=utf-8"}, 200),
                                ({"Accept": JSON}, 406), ({"Accept": EVENTS}, 406), ({"Accept": "text/html"}, 406),
                                ({"Accept": None}, 406), ({"Accept": "*/*"}, 200),
                                ({"path": "/"}, 404), ({"path": "/mcp/"}, 404)):
            self.assertEqual(self.ask(**{**request, **wrong})[0], expected, wrong)
        self.assertEqual(self.ask(" " * (4 << 20) + " ")[0], 413)
        self.assertEqual(self.ask(iter([b"{}"]), Transfer_Encoding="chunked")[0], 411)

    def test_bytes_that_are_no_request_do_no_harm(self):
        self.serve()
        # What follows a request that was refused is not the next one.
        hidden = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}"
        for text in (b"\0\xff\n\n", b"POST /mcp HTTP/1.1\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + hidden,
                     b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n" + hidden,
                     b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 200\r\n\r\n" + hidden,
                     b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.address.port), timeout=30) as connection:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
                received = b""
                with contextlib.suppress(ConnectionResetError):
                    while part := connection.recv(65536):
                        received += part
                self.assertLessEqual(received.count(b"HTTP/1.1 "), 1, text)
                self.assertNotIn(b" 200 ", received)
        self.assertEqual(self.ask(**self.modern("tools/list"))[0], 200)

    def test_it_goes_on_after_bodies_of_any_kind(self):
        self.serve()
        session = self.begin()
        source = random.Random(1)
        parts = [b"{", b"}", b"[", b"]", b'"jsonrpc":"2.0"', b",", b'"id":1', b'"id":"\\ud800"', b":", b"null", b"\xff", b"1e999",
                 b'"method":"tools/call"', b'"method":"initialize"', b'"method":"ping"', b'"params":{}',
                 b'"params":{"name":"list"}', b'"params":{"_meta":[]}']
        for number in range(200):
            body = b"".join(source.choices(parts, k=source.randrange(12)))
            if number % 2:
                body = b'{"jsonrpc":"2.0",' + b",".join(source.choices(parts[6:], k=3)) + b"}"
            headers = source.choice([{}, session, {"MCP_Protocol_Version": MODERN}])
            self.assertIn(self.ask(body, **headers)[0], (200, 202, 400, 404), body)
        self.assertEqual(self.ask(message("tools/list"), **session)[0], 200)


class Mistakes(Served):
    def test_a_port_in_use_is_said_in_a_line(self):
        self.says_that_a_port_is_taken("mcp", "--http")

    def test_flags(self):
        self.fails(["mcp", "--http", "--port", "65536"], 2, "--port 65536: is not a port",
                   "a number up to 65535; 0: any that is free")
        self.fails(["mcp", "--http", "--port", "0", "--host", "no.such.name.invalid"], 3,
                   "no.such.name.invalid:0: is not an address of this machine",
                   "choose another --port (0: any that is free) or --host")
        self.fails(["mcp", "--http", "--token", "short"], 2, "--token: is not a token",
                   "at least 16 letters, digits, - and _ that nobody guesses")
        self.fails(["mcp", "--port", "1"], 2, "--port is for HTTP", "strop mcp --http --port ...")
        self.assertIn("--http", strop("help", "mcp").stdout)


if __name__ == "__main__":
    unittest.main()
