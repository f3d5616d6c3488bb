"""A worker that lies: hostile_worker.py KIND SEED CORPUS COMMAND... passes what it is asked to the real worker COMMAND
and spoils an answer, the N-th that is not a greeting, where N follows from the seed; KINDS says how."""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import time

WORKING = '{"working":true}'
STRANGE = [None, True, -1, 0, 1e308, -1e308, 2**70, "", "x" * 100000, "\x1b[2J\x07\u202e", [], {}, [[]] * 3, "\ud800"]


def say(data):
    os.write(1, data) if len(data) < 4096 else sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def line(text):
    say((text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")) + b"\n")


def places(value, path=()):
    """Of all values in a document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def put(document, path, value):
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


class Liar:
    def __init__(self, random_, corpus):
        self.random, self.corpus = random_, sorted(pathlib.Path(corpus).iterdir())
        self.late = None

    def huge(self, _):
        for _ in range(4000):
            say(b"x" * 1000000)

    def flood(self, _):
        for _ in itertools.count():
            line(WORKING)

    def deep(self, _):
        line("[" * 1000000)
        line('{"evaluations":' * 200000 + "1" + "}" * 200000)

    def truncated(self, answer):
        line(answer[:self.random.randrange(1, len(answer))])

    def flipped(self, answer):
        data = bytearray(answer.encode())
        for _ in range(self.random.choice([1, 3, 30])):
            data[self.random.randrange(len(data))] = self.random.randrange(256)
        line(bytes(data).replace(b"\n", b" "))

    def corpus_(self, _):
        for file in self.random.sample(self.corpus, min(30, len(self.corpus))):
            line(file.read_bytes())

    def strange(self, answer):
        document = json.loads(answer)
        for path in self.random.sample(found := list(places(document))[1:], min(len(found), self.random.choice([1, 1, 3]))):
            try:
                put(document, path, self.random.choice(STRANGE))
            except (KeyError, IndexError, TypeError):    # inside of what was replaced before
                pass
        line(json.dumps(document))

    def numbers(self, answer):
        """Times that nothing takes."""
        document = json.loads(answer)
        value = self.random.choice([-1, -1e300, 1e308, 0, -0.0])
        for path in list(places(document))[1:]:
            if str(path[-1]).endswith(("_ns", "_seconds", "ratio", "low", "high")):
                put(document, path, value)
        line(json.dumps(document))

    def keys(self, answer):
        """One evaluation under the name of another."""
        document = json.loads(answer)
        for evaluation in document.get("evaluations", []):
            evaluation["key"] = "same"
        line(json.dumps(document))

    def fewer(self, answer):
        document = json.loads(answer)
        for key, value in document.items():
            if isinstance(value, list):
                document[key] = value[1:]
        line(json.dumps(document))

    def twice(self, answer):
        line(answer)
        line(answer)

    def delayed(self, answer):
        """From now on each answer is to the question before."""
        self.late, answer = answer, self.late or "{}"
        line(answer)

    def error(self, _):
        phrase = self.random.choice(["\x1b[31mno\nstrop: yes\x07", "x" * 10000000, "disk full", ""])
        line(json.dumps({"error": {"phrase": phrase, "hint": phrase, "exit": self.random.choice([0, 1, 3, 99, -1, "x"])}}))

    def mute(self, _):
        os.close(1)
        time.sleep(600)

    def trickle(self, answer):
        for character in answer.encode():
            say(bytes([character]))
            time.sleep(0.5)

    def binary(self, _):
        line(bytes(self.random.randrange(256) for _ in range(10000)).replace(b"\n", b""))


KINDS = [name for name in vars(Liar) if not name.startswith("__")]
FOR_EVER = {"delayed"}


def main():
    kind, seed, corpus, *command = sys.argv[1:]
    random_ = random.Random(f"{kind}-{seed}")
    liar, count, at = Liar(random_, corpus), 0, random_.randrange(1, 9)
    real = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for question in sys.stdin:
            real.stdin.write(question)
            real.stdin.flush()
            while (answer := real.stdout.readline()) and answer.strip() == WORKING:
                line(WORKING)
            if not answer:
                break
            if '"op":"hello"' not in question.replace(" ", ""):
                count += 1
            if count == at or kind in FOR_EVER and count > at:
                getattr(liar, kind)(answer.rstrip("\n"))
            else:
                line(answer.rstrip("\n"))
    except BrokenPipeError:
        os._exit(0)
    finally:
        real.kill()


if __name__ == "__main__":
    main()
