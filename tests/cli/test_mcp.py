"""`strop mcp` as an assistant's program sees it."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from tests.cli.strop_cli import BINARY, environment, write_problem

VERSION = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


class Assistant(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strop-mcp-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = subprocess.Popen([os.path.abspath(BINARY), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, cwd=self.folder, env=environment())
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.stdin.close)

    def ask(self, method, **params):
        """The answer, and the notifications before it."""
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.server.stdin.flush()
        told = []
        while True:
            message = json.loads(self.server.stdout.readline())
            if message.get("id") == 1:
                return message, told
            told.append(message)

    def call(self, name, **arguments):
        meta = {"_meta": {**VERSION["_meta"], "progressToken": "p"}}
        message, told = self.ask("tools/call", name=name, arguments=arguments, **meta)
        return message["result"] if "result" in message else message["error"], told

    def test_every_tool_is_described(self):
        tools = self.ask("tools/list", **VERSION)[0]["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools],
                         ["optimize", "judge", "profile", "tune", "list", "runs", "report"])
        for tool in tools:
            self.assertEqual(tool["inputSchema"]["type"], "object")
            self.assertTrue(tool["description"])

    def test_a_kernel_is_judged_by_its_source(self):
        problem = write_problem(self.folder, "shifted")
        answer, told = self.call("judge", problem=str(problem), source="int no_such_function;")
        self.assertFalse(answer["isError"])
        messages = [message["params"]["message"] for message in told]
        self.assertTrue(any(re.search(r"is compiled, checked and timed at \d+ shapes$", one) for one in messages), messages)
        self.assertEqual(answer["structuredContent"]["verdict"], "compile_failed")

    def test_a_problem_is_optimized_with_progress_and_found_again(self):
        problem = write_problem(self.folder, "shifted")
        answer, told = self.call("optimize", problem=str(problem), budget="8s", evaluations=4, seed=3)
        self.assertTrue(any("verifying" in message["params"]["message"] for message in told))
        run = answer["structuredContent"]["run"]
        self.assertIn(run, answer["content"][0]["text"])
        self.assertEqual([entry["run"] for entry in self.call("runs")[0]["structuredContent"]["items"]], [run])
        uri = self.ask("resources/list", **VERSION)[0]["result"]["resources"][0]["uri"]
        text = self.ask("resources/read", uri=uri, **VERSION)[0]["result"]["contents"][0]["text"]
        self.assertIn("shifted", text)

    def test_failures_of_the_program_are_the_tools(self):
        answer, _ = self.call("optimize", problem="nowhere")
        self.assertTrue(answer["isError"])
        self.assertIn("'nowhere': no such problem", answer["content"][0]["text"])
        answer, _ = self.call("optimize", problem="softmax", model=["exec:true"])
        self.assertIn("max_cost", answer["content"][0]["text"])

    def test_arguments_are_checked(self):
        self.assertEqual(self.call("judge", problem="softmax")[0]["code"], -32602)
        self.assertEqual(self.call("list", nonsense=1)[0]["code"], -32602)
        self.assertEqual(self.call("runs", problem="--json")[0]["code"], -32602)


if __name__ == "__main__":
    unittest.main()
