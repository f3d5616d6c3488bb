"""A worker that judges nothing: times follow from kernel, configuration and shape, so that any number of these agree.

    fake_worker.py --greeting FILE [--log FILE] [--state FILE] [--evaluate ACTION,...] [--meets FILE]...
                   [--set KEY=VALUE]... [--then KEY=VALUE]... [--verdict VERDICT=TEXT]...
                   [--seconds OP=SECONDS]...

`--greeting` holds what a real one says first. `--state` counts starts and batches of all processes that share it:
batch number N does the N-th ACTION (the last one for all that follow), and `--then` changes the greeting from the second
start on, `--set` from the first. A batch waits until those whose states are `--meets` have begun one
(FILE:N: and have started N times). What was answered is a line of `--log`: the process, kernel, configuration.

An answer to OP takes SECONDS, and a line of `--log` says before that it was asked: the process, OP.

A kernel whose source holds TEXT has that VERDICT, "compile_failed", the first that fits; all others are right.

ACTIONs: ok, dies, garbage (a line that is no JSON), other (an answer to another question), short (too few evaluations),
hangs (says nothing), works (says that it works, for ever), floods (the same without a pause), slowly (says so three times, then answers),
full (its disk is), shouts (the same in a megabyte of escapes), huge (a line that does not end), lies (a time that is none).
"""

import argparse
import fcntl
import hashlib
import json
import os
import sys
import time

WORKING = '{"working":true}'


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def number(*parts):
    """From 0 to 1, the same for the same parts."""
    return int(hashlib.md5(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8], 16) / 0xffffffff


def nanoseconds(kernel, configuration, point):
    elements = 1
    for extent in point["dims"].values():
        elements *= extent
    return 1000 + elements * (0.5 + number(kernel, configuration, point["label"]))


def measurement(time_ns):
    return {"samples_ns": [time_ns], "median_ns": time_ns, "low_ns": 0.99 * time_ns, "high_ns": 1.01 * time_ns}


def evaluation(request, verdict="ok"):
    kernel, configuration = request["kernel"], request["configuration"]
    key = hashlib.md5(json.dumps([kernel["source"], configuration, request["points"], request["effort"]],
                                 sort_keys=True).encode()).hexdigest()
    evidence = "" if verdict == "ok" else "it was planted"
    points = [{"point": point, "verdict": verdict, "evidence": evidence} for point in request["points"]]
    for result in points if verdict == "ok" else []:
        result["time"] = measurement(nanoseconds(kernel["id"], configuration, result["point"]))
    return {"key": key, "kernel": kernel["id"], "configuration": configuration, "verdict": verdict, "evidence": evidence,
            "points": points, "compile_seconds": 0.1, "check_seconds": 0.1, "time_seconds": 0.1}


def contender_ns(contender, point):
    if contender["baseline"]:
        return 4 * nanoseconds("baseline", {}, point)
    return nanoseconds(contender["kernel"]["id"], contender["configuration"], point)


def comparison(request):
    points = []
    for point in request["points"]:
        times = [contender_ns(contender, point) for contender in request["contenders"]]
        results = []
        for contender, own in zip(request["contenders"], times):
            ratio = own / times[0]
            results.append({"name": contender["name"], "verdict": "ok", "time": measurement(own),
                            "speedup": {"ratio": ratio, "low": 0.99 * ratio, "high": 1.01 * ratio},
                            "decision": "faster" if ratio > 1.02 else "slower" if ratio < 0.98 else "undecided"})
        points.append({"point": point, "results": results})
    return {"points": points}


class Worker:
    def __init__(self, arguments):
        self.arguments = arguments
        self.seconds = {op: float(seconds) for op, seconds in (one.split("=") for one in arguments.seconds)}
        with open(arguments.greeting, encoding="utf-8") as file:
            self.greeting = json.load(file)
        self.change(arguments.set)
        if self.counted("starts") > 1:
            self.change(arguments.then)

    def change(self, changes):
        for change in changes:
            key, value = change.split("=", 1)
            if key == "fingerprint":
                self.greeting["machine"]["fingerprint"] = value
            else:
                self.greeting[key] = value

    def counted(self, what):
        if not self.arguments.state:
            return 1
        with open(self.arguments.state, "a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            counts = json.loads(file.read() or "{}")
            counts[what] = counts.get(what, 0) + 1
            file.seek(0)
            file.truncate()
            file.write(json.dumps(counts))
        return counts[what]

    def meet(self):
        """Who is quick would do the others' work before they begin."""
        for state in self.arguments.meets:
            while not self.has_met(state):
                time.sleep(0.01)

    def has_met(self, state):
        file, _, starts = state.partition(":")
        try:
            with open(file, encoding="utf-8") as text:
                counts = json.loads(text.read() or "{}")
        except (OSError, ValueError):    # not there, or being written
            return False
        return "batches" in counts and counts["starts"] >= int(starts or 1)

    def log(self, *words):
        if self.arguments.log:
            with open(self.arguments.log, "a", encoding="utf-8") as file:
                file.write(json.dumps([os.getpid(), *words]) + "\n")

    def evaluate(self, requests):
        actions = self.arguments.evaluate.split(",")
        action = actions[min(self.counted("batches"), len(actions)) - 1]
        self.meet()
        if action == "dies":
            sys.exit(9)
        while action in ("hangs", "works"):
            if action == "works":
                say(WORKING)
            time.sleep(0.02)
        if action == "garbage":
            say("slurmstepd: error: *** STEP CANCELLED ***")
            time.sleep(60)
        while action == "floods":
            sys.stdout.write(1000 * (WORKING + "\n"))
        if action in ("full", "shouts"):
            phrase = "/tmp/x: cannot be written: No space left on device"
            return {"error": {"phrase": phrase + 100000 * "\x1b[31m\nxx" if action == "shouts" else phrase,
                              "hint": "free some disk space", "exit": 3}}
        while action == "huge":
            sys.stdout.write("x" * 1000000)
        if action == "slowly":
            for _ in range(3):
                say(WORKING)
        if action == "other":
            return {"evaluations": [{**evaluation(request), "kernel": "another"} for request in requests]}
        if action == "short":
            return {"evaluations": [evaluation(request) for request in requests[1:]]}
        for request in requests:
            self.log(request["kernel"]["id"], request["configuration"])
        return {"evaluations": [evaluation(request, self.verdict_of(request)) for request in requests]}

    def verdict_of(self, request):
        planted = (verdict.split("=", 1) for verdict in self.arguments.verdict)
        return next((verdict for verdict, text in planted if text in request["kernel"]["source"]), "ok")

    def probe(self, request):
        found = evaluation(request, self.verdict_of(request))
        self.log("probe", found["key"])
        return {name: found[name] for name in ("verdict", "evidence", "points", "compile_seconds", "time_seconds")}

    def answer(self, message):
        op = message["op"]
        if op in self.seconds:
            self.log(op)
            time.sleep(self.seconds[op])
        if op == "hello":
            return self.greeting
        if op == "machine":
            rates = {"fma_flops_one_core": 1e11, "fma_flops_all_cores": 2e11, "memory_read": 1e12, "memory_copy": 1e12,
                     "memory_copy_one_core": 1e12}
            return {"machine": {**self.greeting["machine"], "ceilings": rates}}
        if op == "languages":
            return {"languages": ["cpp"]}
        if op == "open":
            return {"toolchain": self.greeting["toolchain"], "toolchains": {}}
        if op == "baselines":
            return {"baselines": ["numpy"], "missing": []}
        if op == "evaluate":
            return self.evaluate([{**request, "kernel": message["kernels"][request["kernel"]]}
                                  for request in message["requests"]])
        if op == "compare":
            return {"comparison": comparison(message["request"])}
        if op == "sanitize":
            return {"sanitizers": []}
        if op == "probe":
            return {"probes": [self.probe(request) for request in message["requests"]]}
        if op == "profile":
            return {"profile": {"verdict": "ok", "points": [], "missing": ["this worker measures nothing"]}}
        if op == "vectors":
            return {"vectors": []}
        if op == "reseed":
            self.log("reseed", message["seed"])
            return {}
        if op == "ping":
            return {}
        return {"error": {"phrase": f"worker: unknown op '{op}'", "hint": "", "exit": 2}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--greeting", required=True)
    parser.add_argument("--log")
    parser.add_argument("--state")
    parser.add_argument("--evaluate", default="ok")
    parser.add_argument("--meets", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--then", action="append", default=[])
    parser.add_argument("--verdict", action="append", default=[])
    parser.add_argument("--seconds", action="append", default=[])
    worker = Worker(parser.parse_args())
    for line in sys.stdin:
        say(json.dumps(worker.answer(json.loads(line))))


if __name__ == "__main__":
    main()
