"""Fully measured search spaces, and the ledger of a search that is replayed on one."""

import functools
import gzip
import json
import math
import pathlib
import zlib

COSTS = ("compile_time", "verification_time", "benchmark_time")


class Ended(BaseException):
    """Stops a search from within. No `except Exception` of a peer may swallow it."""


class Space:
    """Every valid configuration (a tuple of values in the order of the names), its time or None, and its cost."""

    def __init__(self, path: str):
        content = pathlib.Path(path).read_bytes()
        self.path, self.label = str(path), pathlib.Path(path).name.removesuffix(".gz").removesuffix(".json")
        self.digest = f"{zlib.crc32(content):08x}"
        data = document(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
        self.kernel, self.device = data["kernel_name"], data["device_name"]
        self.names = list(data["tune_params_keys"])
        self.values = [list(data["tune_params"][name]) for name in self.names]
        self.times: dict[tuple, float | None] = {}
        self.costs: dict[tuple, float] = {}
        self.by_key: dict[str, tuple] = {}
        for key, entry in data["cache"].items():
            configuration = tuple(entry[name] for name in self.names)
            self.times[configuration] = measured_time(entry, data.get("objective", "time"))
            self.costs[configuration] = sum(entry[part] for part in COSTS if is_number(entry.get(part)))
            self.by_key[key] = configuration
        self.configurations = list(self.times)
        self.valid = sorted(time for time in self.times.values() if time is not None)
        if not self.valid:
            raise ValueError(f"no configuration of {path} succeeded")

    @property
    def optimum(self) -> float:
        return self.valid[0]

    @property
    def slowest(self) -> float:
        return self.valid[-1]


def document(content: bytes) -> dict:
    """The JSON of a cache file; one whose writer was stopped lacks its end."""
    text = content.decode()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(text.rstrip().rstrip(",") + "}\n}")


def is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def measured_time(entry: dict, objective: str) -> float | None:
    """A failure is marked by a string for the objective or by a key of its own."""
    time = entry.get(objective)
    return float(time) if is_number(time) and time > 0 and "__error__" not in entry else None


@functools.lru_cache(maxsize=None)
def load(path: str) -> Space:
    return Space(path)


class Ledger:
    """Answers the proposals of one search. A first measurement costs one evaluation, also where it fails; a repeat
    and a configuration that the space does not hold (it violates a constraint) cost nothing."""

    IN_A_ROW, PER_EVALUATION = 20_000, 500    # free proposals before a search counts as stuck

    def __init__(self, space: Space, evaluations: int):
        self.space = space
        self.evaluations = min(evaluations, len(space.times))
        self.order: list[tuple] = []
        self.seen: set[tuple] = set()
        self.free = self.free_in_a_row = 0
        self.reason = "by itself"

    def holds(self, configuration: tuple) -> bool:
        return configuration in self.space.times

    def free_proposal(self) -> None:
        self.free += 1
        self.free_in_a_row += 1
        if self.free_in_a_row >= self.IN_A_ROW or self.free >= self.PER_EVALUATION * self.evaluations:
            self.end("stuck")

    def end(self, reason: str) -> None:
        self.reason = reason
        raise Ended(reason)

    def measure(self, configuration: tuple) -> float | None:
        """The time, None for a failure; ends the search at the first new proposal after its last evaluation."""
        if configuration in self.seen or not self.holds(configuration):
            self.free_proposal()
        else:
            if len(self.order) >= self.evaluations:
                self.end("budget")
            self.free_in_a_row = 0
            self.seen.add(configuration)
            self.order.append(configuration)
        return self.space.times.get(configuration)

    @property
    def full(self) -> bool:
        return len(self.order) >= self.evaluations


def steps(space: Space, order: list[tuple]) -> list[list]:
    """Where the best improved: [evaluation, best time, cost spent so far]."""
    found, best, spent = [], math.inf, 0.0
    for number, configuration in enumerate(order, 1):
        spent += space.costs[configuration]
        time = space.times[configuration]
        if time is not None and time < best:
            best = time
            found.append([number, best, spent])
    return found


def best_after(found: list[list], evaluations: int, nothing: float | None) -> float | None:
    return next((best for number, best, _ in reversed(found) if number <= evaluations), nothing)
