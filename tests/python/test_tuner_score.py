"""The figures that searches are compared by, on spaces small enough to work out by hand."""

import gzip
import json
import math
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "benchmarks", "tuners"))

import score  # noqa: E402
from measured import Ended, Ledger, Space, steps  # noqa: E402
from methods import Job, strop_search  # noqa: E402
from figures import report  # noqa: E402


def cache(times, cost=10):
    """A cache file's text: one tunable, a time or a failure for each of its values."""
    entries = {}
    for value, time in enumerate(times):
        entries[str(value)] = {"x": value, "time": time, "compile_time": cost - 1, "benchmark_time": 1}
    return json.dumps({"device_name": "device", "kernel_name": "kernel", "tune_params_keys": ["x"], "objective": "time",
                       "tune_params": {"x": list(range(len(times) + 1))}, "cache": entries})


def space_of(content):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel_device.json.gz")
        with open(path, "wb") as file:
            file.write(content)
        return Space(path)


class Reading(unittest.TestCase):
    def test_failures_costs_and_names(self):
        space = space_of(gzip.compress(cache([3.0, "RuntimeFailedConfig", 2.0]).encode()))
        self.assertEqual(space.label, "kernel_device")
        self.assertEqual(space.times, {(0,): 3.0, (1,): None, (2,): 2.0})
        self.assertEqual(space.costs[(1,)], 10)
        self.assertEqual((space.optimum, space.slowest), (2.0, 3.0))

    def test_a_failure_marked_by_its_own_key(self):
        document = json.loads(cache([3.0, 1.0]))
        document["cache"]["1"]["__error__"] = "CompilationFailedConfig"
        self.assertEqual(space_of(json.dumps(document).encode()).valid, [3.0])

    def test_a_file_whose_writer_was_stopped(self):
        text = cache([3.0, 2.0])
        self.assertEqual(space_of((text.removesuffix("}}") + ",\n").encode()).valid, [2.0, 3.0])


class Counting(unittest.TestCase):
    def test_failures_cost_and_repeats_and_violations_do_not(self):
        ledger = Ledger(space_of(cache([3.0, "InvalidConfig", 2.0, 1.0]).encode()), 3)
        self.assertEqual([ledger.measure((x,)) for x in (0, 1, 0, 4, 2)], [3.0, None, 3.0, None, 2.0])
        self.assertEqual((ledger.order, ledger.free), ([(0,), (1,), (2,)], 2))
        with self.assertRaises(Ended):
            ledger.measure((3,))
        self.assertEqual((ledger.reason, len(ledger.order)), ("budget", 3))
        self.assertEqual(steps(ledger.space, ledger.order), [[1, 3.0, 10.0], [3, 2.0, 30.0]])

    def test_a_search_that_repeats_itself_ends(self):
        ledger = Ledger(space_of(cache([3.0, 2.0]).encode()), 2)
        with self.assertRaises(Ended):
            for _ in range(ledger.IN_A_ROW + 2):
                ledger.measure((0,))
        self.assertEqual(ledger.reason, "stuck")


class Ratios(unittest.TestCase):
    def test_ratio_before_and_after_a_success(self):
        space = space_of(cache([4.0, 2.0, 1.0]).encode())
        found = [[2, 2.0, 20.0], [3, 1.0, 30.0]]
        self.assertEqual([score.ratio(space, found, budget) for budget in (1, 2, 9)], [0.25, 0.5, 1.0])

    def test_spaces_weigh_the_same(self):
        self.assertAlmostEqual(score.geometric_mean([[0.25, 0.25, 0.25], [1.0]]), 0.5)

    def test_interval(self):
        low, high = score.interval([[0.5] * 4, [1.0] * 3])
        self.assertAlmostEqual(low, math.sqrt(0.5))
        self.assertAlmostEqual(high, math.sqrt(0.5))
        low, high = score.interval([[0.8, 0.9, 1.0, 0.7, 0.85]])
        self.assertTrue(0.7 < low < 0.84 < high < 1.0)


class Ours(unittest.TestCase):
    """What our own search says of itself is checked against the space."""

    def search(self, **document):
        self.space = space_of(cache([3.0, "InvalidConfig", 2.0, 1.0]).encode())
        self.space.costs[(1,)] = 4
        told = {"optimum": 1.0, "best": 2.0, "configuration": {"x": 2}, "evaluations": 3,
                "trajectory": [None, 3.0, 2.0], "evaluated": ["1", "0", "2"]}
        with tempfile.TemporaryDirectory() as folder:
            command = os.path.join(folder, "strop")
            with open(command, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ncat <<'END'\n{json.dumps({**told, **document})}\nEND\n")
            os.chmod(command, 0o755)
            return strop_search(Job("strop", "space.json", 1, 3, command), self.space)

    def test_costs_are_those_of_what_it_evaluated(self):
        self.assertEqual(self.search(), [[2, 3.0, 14.0], [3, 2.0, 24.0]])
        self.assertEqual(self.search(evaluated=["1"], trajectory=[None], configuration={}), [])

    def test_false_claims(self):
        for claim in ({"optimum": 2.0}, {"configuration": {"x": 0}}, {"configuration": {"x": 1}},
                      {"configuration": {}}, {"trajectory": [None, 3.0, 1.5]}, {"trajectory": [None, None, 2.0]},
                      {"evaluated": ["0", "2", "0"]}, {"trajectory": []}, {"evaluated": ["0", "1", "2"]},
                      {"evaluated": ["1", "0", "2", "3"], "trajectory": [None, 3.0, 2.0, 1.0],
                       "configuration": {"x": 3}}):
            with self.subTest(claim), self.assertRaises(RuntimeError):
                self.search(**claim)


class Methodology(unittest.TestCase):
    """Times 1 to 9, each costing 10. Median 5. 1% of the way from it to the optimum is 4.96, first reached at index 5
    of 9..1: ceil(5 / 5) = 1 evaluation. 95% is 1.2, at index 8: ceil(8 / 2) = 4 evaluations. Random search expects
    D[round(10 M / (M + 1))], at most D[8]: D[5] = 4, D[7] = 2, D[8] = 1, D[8] = 1 after 1 to 4 evaluations. The optimum
    counts as the second best, 2. A search that measures 6, 3, 1 lies at (6-4)/(1-4), (3-2)/(1-2), 1, 1."""

    def setUp(self):
        self.space = space_of(cache([9.0, 2.0, 7.0, 4.0, 5.0, 6.0, 3.0, 8.0, 1.0]).encode())
        self.runs = [[[1, 6.0, 10.0], [2, 3.0, 20.0], [3, 1.0, 30.0]]]

    def test_baseline(self):
        baseline = score.Baseline.of(self.space)
        self.assertEqual([baseline.evaluations_to(cutoff) for cutoff in score.CUTOFFS], [1, 4])
        self.assertEqual(baseline.times(400, 4), [10.0, 20.0, 30.0, 40.0])
        self.assertEqual(baseline.times(2, 2), [10.0, 20.0])
        self.assertEqual([baseline.expected(time) for time in (0, 10, 20, 30, 40)], [9, 4, 2, 1, 1])

    def test_curve_and_score(self):
        curve = score.curve(self.space, self.runs, 400, 4)
        for value, by_hand in zip(curve, [-2 / 3, -1, 1, 1], strict=True):
            self.assertAlmostEqual(value, by_hand)
        self.assertAlmostEqual(score.score([curve]), 1 / 12)
        self.assertAlmostEqual(score.score([curve, [1, 1, 1, 1]]), 13 / 24)

    def test_runs_are_averaged_and_nothing_found_is_the_slowest(self):
        curve = score.curve(self.space, [*self.runs, []], 400, 4)    # (6 + 9) / 2, (3 + 9) / 2, (1 + 9) / 2 twice
        for value, by_hand in zip(curve, [-7 / 6, -4, -3, -3], strict=True):
            self.assertAlmostEqual(value, by_hand)

    def test_tables(self):
        lines = [{"method": method, "digest": self.space.digest, "seed": 1, "seconds": 0.5, "steps": self.runs[0]}
                 for method in ("strop", "random", "peer")]
        figures, text = report(["strop", "peer", "random", "absent"], [self.space], lines, 60)
        self.assertEqual(list(figures["overall"]), ["strop", "peer", "random"])
        self.assertEqual(figures["overall"]["peer"]["budgets"]["25"]["mean"], 1.0)
        self.assertEqual(figures["best_peer"], {"25": (1.0, "peer"), "50": (1.0, "peer")})
        self.assertIn("1.000 [1.000 1.000]", text)


if __name__ == "__main__":
    unittest.main()
