"""Kernel Tuner's strategies and pyATF's techniques, driven on a measured space.

Both get the valid configurations themselves in place of constraints, so neither loses time to building its space."""

import functools
import importlib
import inspect
import math

from kernel_tuner.interface import Options, strategy_map
from kernel_tuner.runners.runner import Runner
from kernel_tuner.searchspace import Searchspace
from kernel_tuner.util import InvalidConfig, RuntimeFailedConfig, TuningBudget
from pyatf import TP
from pyatf.range import Set
from pyatf.search_space import SearchSpace as Trees

from measured import Ledger, Space, load


class Valid(Searchspace):
    """Made anew for every search: it hands out neighbours that earlier searches on it looked up."""

    def __init__(self, ledger: Ledger):
        space = ledger.space
        self.ledger = ledger
        super().__init__(None, None, None, from_cache={
            "tune_params": dict(zip(space.names, space.values)),
            "cache": {number: dict(zip(space.names, one)) for number, one in enumerate(space.configurations)},
        })

    def is_param_config_valid(self, param_config: tuple) -> bool:
        valid = super().is_param_config_valid(param_config)
        if not valid:    # free, but not forever
            self.ledger.free_proposal()
        return valid


class Device:
    max_threads = 1_000_000_000


class LedgerRunner(Runner):
    """What Kernel Tuner measures with."""

    def __init__(self, ledger: Ledger):
        super().__init__()
        self.ledger, self.dev = ledger, Device()

    def get_device_info(self):
        return self.dev

    def get_environment(self, tuning_options):
        return {}

    def run(self, parameter_space, tuning_options):
        return [self.one(tuple(element), tuning_options.budget) for element in parameter_space]

    def one(self, configuration: tuple, budget: TuningBudget) -> dict | None:
        if budget.is_done():
            return None
        before = len(self.ledger.order)
        time = self.ledger.measure(configuration)
        budget.add_evaluations(len(self.ledger.order) - before)
        result = dict(zip(self.ledger.space.names, configuration))
        if time is not None:
            result["time"] = time
        else:
            result["__error__"] = RuntimeFailedConfig() if self.ledger.holds(configuration) else InvalidConfig()
        return result


def told_budget(strategy: str, ledger: Ledger) -> int:
    """What a strategy is told that it may spend, so that it spends what the ledger allows and knows when that is."""
    if strategy == "simulated_annealing":    # cools down at three quarters of it
        return math.ceil(ledger.evaluations / 0.75) + 1
    if strategy in ("dual_annealing", "skopt"):    # count what is free
        return ledger.PER_EVALUATION * ledger.evaluations
    return ledger.evaluations


def run_strategy(ledger: Ledger, seed: int, strategy: str) -> None:
    space, told = Valid(ledger), told_budget(strategy, ledger)
    strategy_map[strategy].tune(space, LedgerRunner(ledger), Options(
        tune_params=space.tune_params, objective=["time"], objective_higher_is_better=[False], strategy=strategy,
        strategy_options=Options(max_fevals=told), max_fevals=told, seed=seed,
        budget=TuningBudget(max_fevals=ledger.evaluations), restrictions=[], cache={}, metrics=None, verbose=False,
        simulation_mode=True))


@functools.lru_cache(maxsize=None)
def trees(path: str) -> Trees:
    """pyATF's space, which holds nothing of the searches on it. Its constraints say which values may follow which."""
    space = load(path)
    return Trees(*(TP(f"p{place}", Set(*values), following(space, place)) for place, values in enumerate(space.values)),
                 verbosity=0)


def following(space: Space, place: int):
    """A constraint on one tunable over as few earlier ones as decide it, None if none does: what does not depend on
    each other lies in trees of its own."""
    allowed: dict[tuple, set] = {}
    for configuration in space.configurations:
        allowed.setdefault(configuration[:place], set()).add(configuration[place])
    known = list(range(place))
    for earlier in range(place):
        at = known.index(earlier)
        fewer: dict[tuple, set] = {}
        for prefix, values in allowed.items():
            if fewer.setdefault(prefix[:at] + prefix[at + 1:], values) != values:
                break
        else:
            allowed = fewer
            known.remove(earlier)
    if not known and allowed[()] == set(space.values[place]):
        return None
    arguments = [f"p{earlier}" for earlier in known]

    def constraint(**values):
        return values[f"p{place}"] in allowed.get(tuple(values[name] for name in arguments), ())

    kind = inspect.Parameter.KEYWORD_ONLY
    constraint.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in [*arguments, f"p{place}"]])
    return constraint


def run_technique(ledger: Ledger, name: str) -> None:
    module = importlib.import_module(f"pyatf.search_techniques.{name}")
    technique = getattr(module, next(word for word in dir(module) if word.lower() == name.replace("_", "")))()
    space = trees(ledger.space.path)
    technique.initialize(space.num_tps)
    while not ledger.full:
        costs = {}
        for coordinates in technique.get_next_coordinates():
            values = space.get_configuration(coordinates)
            costs[coordinates] = ledger.measure(tuple(values[f"p{place}"] for place in range(space.num_tps)))
        technique.report_costs(costs)


def search(ledger: Ledger, seed: int, name: str, pyatf: bool) -> None:
    run_technique(ledger, name) if pyatf else run_strategy(ledger, seed, name)
