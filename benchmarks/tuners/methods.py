"""The searches that are compared. Each proposes configurations to a ledger until the ledger ends it."""

import importlib.util
import json
import math
import random
import subprocess
from dataclasses import dataclass, field
from typing import Callable

from measured import Ledger, Space, best_after, steps

OPTUNA = {    # the sampler's class and options; is it told what violates a constraint; do numbers have neighbours
    "optuna:tpe": ("TPESampler", {"multivariate": False}, True, False),
    "optuna:tpe_not_told": ("TPESampler", {"multivariate": False}, False, False),
    "optuna:tpe_multivariate": ("TPESampler", {"multivariate": True}, True, False),
    "optuna:tpe_multivariate_not_told": ("TPESampler", {"multivariate": True}, False, False),
    "optuna:tpe_multivariate_ordered": ("TPESampler", {"multivariate": True}, True, True),
    "optuna:tpe_multivariate_ordered_not_told": ("TPESampler", {"multivariate": True}, False, True),
    "optuna:gp": ("GPSampler", {}, True, True),
    "optuna:gp_not_told": ("GPSampler", {}, False, True),
}
KERNEL_TUNER = ("random_sample", "genetic_algorithm", "diff_evo", "simulated_annealing", "pso", "firefly_algorithm",
                "basinhopping", "dual_annealing", "minimize", "mls", "ordered_greedy_mls", "greedy_mls", "greedy_ils",
                "hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt", "skopt")
PYATF = ("auc_bandit", "differential_evolution", "pattern_search", "round_robin", "simulated_annealing", "torczon")
STROP = ("strop", "strop+earlier", "strop+unrelated")
SLOW = {"optuna:tpe", "optuna:tpe_not_told", "optuna:gp", "optuna:gp_not_told", "kernel_tuner:bayes_opt",
        "kernel_tuner:skopt"}    # minutes a search: only when asked for by name
FREE_IN_A_ROW = 20    # of Optuna's proposals

Finder = Callable[[Ledger, int], None]


@dataclass
class Job:
    """One search of one method on one space."""

    method: str
    space: str
    seed: int
    evaluations: int
    strop: str = "strop"
    earlier: list[str] = field(default_factory=list)
    limit: int = 900    # seconds


def names() -> list[str]:
    return ["random", *(f"kernel_tuner:{name}" for name in KERNEL_TUNER), *(f"pyatf:{name}" for name in PYATF),
            *OPTUNA, *STROP]


def missing_package(method: str) -> bool:
    packages = {"kernel_tuner": ["kernel_tuner", "pyatf"], "pyatf": ["kernel_tuner", "pyatf"],
                "optuna": ["optuna", *(["torch"] if "gp" in method else [])]}.get(method.split(":")[0], [])
    return any(importlib.util.find_spec(package) is None for package in packages)


def uniform(ledger: Ledger, seed: int) -> None:
    """Without repetition over the valid configurations."""
    configurations = list(ledger.space.configurations)
    random.Random(seed).shuffle(configurations)
    for configuration in configurations:
        ledger.measure(configuration)


def rising(values: list) -> bool:
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return numbers and all(a < b for a, b in zip(values, values[1:]))


def optuna_search(ledger: Ledger, seed: int, sampler: str, options: dict, told: bool, ordered: bool) -> None:
    """A failing configuration is told as pruned, which counts as worse than all that succeeded. A violation is told
    likewise, or else as a failed trial, which samplers leave out of their models. A repeat is told once more: where it
    is drawn again in silence, the sampler proposes the same for thousands of times. It may do so even then: after a
    number of free proposals in a row it is handed a new valid configuration, drawn uniformly."""
    import optuna
    from optuna.distributions import CategoricalDistribution, IntDistribution
    from optuna.trial import TrialState

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed, **options))
    tunables = list(zip(ledger.space.names, ledger.space.values))
    domains = {
        name: IntDistribution(0, len(values) - 1) if ordered and rising(values)
        else CategoricalDistribution(range(len(values)))
        for name, values in tunables if len(values) > 1
    }
    fresh = list(ledger.space.configurations)
    random.Random(seed).shuffle(fresh)
    while not ledger.full:
        if ledger.free_in_a_row >= FREE_IN_A_ROW:
            one = next(one for one in fresh if one not in ledger.seen)
            study.enqueue_trial({name: values.index(value) for value, (name, values) in zip(one, tunables)
                                 if name in domains})
        trial = study.ask(domains)
        configuration = tuple(values[trial.params.get(name, 0)] for name, values in tunables)
        time = ledger.measure(configuration)
        if time is not None:
            study.tell(trial, math.log(time))
        else:
            study.tell(trial, state=TrialState.PRUNED if told or ledger.holds(configuration) else TrialState.FAIL)


def finder(method: str) -> Finder:
    if method == "random":
        return uniform
    if method in OPTUNA:
        return lambda ledger, seed: optuna_search(ledger, seed, *OPTUNA[method])
    family, _, name = method.partition(":")
    from kernel_tuner_searches import search    # only where its packages are
    return lambda ledger, seed: search(ledger, seed, name, pyatf=family == "pyatf")


def strop_search(job: Job, space: Space) -> list[list]:
    """Our own search, in a process of its own. Its document is believed only as far as the space confirms it."""
    command = [job.strop, "tune", "--replay", job.space, "--evaluations", str(job.evaluations), "--seed",
               str(job.seed), "--json", *(["--earlier", *job.earlier] if job.earlier else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=job.limit)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    result = json.loads(done.stdout)
    if not math.isclose(result["optimum"], space.optimum, rel_tol=1e-9):
        raise RuntimeError(f"strop reads an optimum of {result['optimum']}, the space holds {space.optimum}")
    order = [space.by_key[key] for key in result["evaluated"]]
    if len(set(order)) != len(order) or len(order) > job.evaluations:
        raise RuntimeError("strop measured a configuration twice, or more of them than it may")
    found = steps(space, order)
    for number, claimed in enumerate(result["trajectory"], 1):
        if claimed != best_after(found, number, None):
            raise RuntimeError(f"strop reports {claimed} after {number} evaluations, the space says otherwise")
    told = result["configuration"]    # without members before the first success
    chosen = space.times.get(tuple(told[name] for name in space.names)) if told else None
    if len(result["trajectory"]) != len(order) or chosen != best_after(found, len(order), None):
        raise RuntimeError(f"strop reports {result['configuration']}, the space says {chosen}")
    return found
