"""What a comparison of searches is judged by: optimum over best found, and the methodology's score over time."""

import bisect
import math
import random
import statistics
from dataclasses import dataclass

from measured import Space, best_after

CUTOFFS = (0.01, 0.95)    # how far between the median and the optimum the score's time starts and ends
POINTS = 1000
RESAMPLES = 1000


def ratio(space: Space, found: list[list], evaluations: int) -> float:
    """Optimum over best found; before anything succeeded the slowest valid configuration stands in."""
    return space.optimum / best_after(found, evaluations, space.slowest)


def geometric_mean(groups: list[list[float]]) -> float:
    """Of groups (spaces) that weigh the same however many repeats they hold."""
    return math.exp(statistics.fmean(statistics.fmean(map(math.log, group)) for group in groups))


def interval(groups: list[list[float]], seed: int = 1) -> tuple[float, float]:
    """A bootstrap 95% interval: the repeats of every space are drawn again, the spaces are taken as given."""
    generator = random.Random(seed)
    logs = [[math.log(value) for value in group] for group in groups]
    means = sorted(
        statistics.fmean(sum(generator.choices(group, k=len(group))) / len(group) for group in logs)
        for _ in range(RESAMPLES)
    )
    return math.exp(means[round(0.025 * (RESAMPLES - 1))]), math.exp(means[round(0.975 * (RESAMPLES - 1))])


@dataclass
class Baseline:
    """Random search as the methodology expects it, on one space."""

    descending: list[float]    # the valid times, slowest first
    mean_cost: float
    median_cost: float

    @classmethod
    def of(cls, space: Space) -> "Baseline":
        costs = list(space.costs.values())
        if not any(costs):    # a space without costs is scored by evaluations
            costs = [1.0]
        return cls(space.valid[::-1], statistics.fmean(costs), statistics.median(costs))

    @property
    def optimum(self) -> float:
        return self.descending[-1]

    def evaluations_to(self, cutoff: float) -> int:
        """How many evaluations random search is expected to need to come this far from the median to the optimum."""
        count = len(self.descending)
        wanted = self.optimum + (statistics.median(self.descending) - self.optimum) * (1 - cutoff)
        index = next(i for i, time in enumerate(self.descending) if time <= wanted)
        return math.ceil(index / (count + 1 - index))

    def expected(self, time: float) -> float:
        """Its best time once that much was spent."""
        count, evaluations = len(self.descending), time / self.mean_cost
        return self.descending[min(count - 1, round(evaluations * (count + 1) / (evaluations + 1)))]

    def times(self, evaluations: int, points: int = POINTS) -> list[float]:
        """The moments a score looks at. None lies beyond what the evaluations of a search pay for."""
        start, end = (self.evaluations_to(cutoff) * self.median_cost for cutoff in CUTOFFS)
        end = min(end, evaluations * self.mean_cost)
        start = min(start, end)
        return [start + (end - start) * i / max(1, points - 1) for i in range(points)]


def best_at(found: list[list], time: float, nothing: float) -> float:
    """The best of a search once that much was spent."""
    index = bisect.bisect_right(found, time * (1 + 1e-9), key=lambda step: step[2])
    return found[index - 1][1] if index else nothing


def curve(space: Space, runs: list[list[list]], evaluations: int, points: int = POINTS) -> list[float]:
    """Where the mean of the runs lies between random search (0) and the optimum (1), over time."""
    baseline = Baseline.of(space)
    # At the optimum random search leaves nothing to gain: it counts as no better than the second best.
    second = next((time for time in reversed(baseline.descending) if time > baseline.optimum), None)
    if second is None:
        return [1.0] * points
    result = []
    for time in baseline.times(evaluations, points):
        best = statistics.fmean(best_at(found, time, space.slowest) for found in runs)
        expected = max(baseline.expected(time), second)
        result.append((best - expected) / (baseline.optimum - expected))
    return result


def score(curves: list[list[float]]) -> float:
    """The mean over spaces, then over time."""
    return statistics.fmean(statistics.fmean(column) for column in zip(*curves))
