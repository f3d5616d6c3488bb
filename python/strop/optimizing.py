"""The main commands as functions."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from strop import module_target
from strop.program import BadInput, Progress, run
from strop.result import Result
from strop.source import plain_function
from strop.specification import Shapes, write_problem

Target = Union[str, pathlib.Path, Callable]


def _flags(**given: Any) -> list[str]:
    """budget="60s" as --budget 60s; a list repeats its flag, True stands alone, None and False leave it out."""
    words: list[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(flag)
            elif one is not None and one is not False:
                words += [flag, str(one)]
    return words


def optimize(target: Target, inputs: Any = None, shapes: Optional[Shapes] = None, *,
             outputs: Optional[Mapping[str, Any]] = None, parameters: Optional[Mapping[str, Any]] = None,
             name: Optional[str] = None, problem: Optional[Mapping[str, Any]] = None, budget: str = "2m",
             model: Union[str, Sequence[str], None] = None, out: Union[str, pathlib.Path, None] = None,
             progress: Progress = False, **flags: Any) -> Result:
    """Finds the fastest kernel for a NumPy function, a PyTorch module, a problem folder or a file.

    inputs: name: "float32[M, N]", or an array that stands for its type and shape; shapes: label: {"M": 4096, ...}. Of a
    module the arguments of its forward, where a tensor is an example whose extents may vary.
    outputs: name: "float32[M]", where they cannot be inferred by calling the function. parameters: numbers that
    follow the inputs, where they have no default. problem: other keys of problem.yaml (`range`, `tolerance`).
    out: the result folder (strop-out/NAME); a function's problem is kept in it, so that its run can be resumed.
    flags: any flag of `strop optimize`, with underscores.
    """
    place = str(target)
    if module_target.is_module(target):
        if outputs or parameters or problem:
            raise BadInput("a module's outputs, parameters and ranges are found in it",
                           "write its problem with `strop import`, and change its problem.yaml")
        name = name or module_target.name_of(target)
        out = pathlib.Path(out or f"strop-out/{name}")
        place = str(module_target.write_module(out / "problem", target, inputs or {}, shapes, name))
    elif callable(target):
        name = name or plain_function(target).__name__
        out = pathlib.Path(out or f"strop-out/{name}")
        place = str(write_problem(out / "problem", target, inputs or {}, shapes, outputs, parameters, name,
                                  **(problem or {})))
    elif inputs or shapes or outputs or parameters or problem:
        raise BadInput(f"{place} is a problem of its own: inputs and shapes stand in it",
                       "change its problem.yaml, or give a function")
    words = ["optimize", place, "--json", *_flags(budget=budget, model=model, out=out, quiet=not progress, **flags)]
    return Result(json.loads(run(words, progress).output), flags.get("store"))


def judge(kernel: Union[str, pathlib.Path], problem: Union[str, pathlib.Path, None] = None, *,
          configuration: Optional[Mapping[str, Any]] = None, sanitize: bool = False, **flags: Any) -> dict[str, Any]:
    """Compiles, checks and times one kernel file: what `strop judge --json` prints."""
    settings = [f"{name}={value}" for name, value in (configuration or {}).items()]
    words = ["judge", str(kernel), "--json", *_flags(problem=problem, set=settings, sanitize=sanitize, **flags)]
    return json.loads(run(words).output)


def profile(kernel: Union[str, pathlib.Path], problem: Union[str, pathlib.Path, None] = None, **flags: Any) -> Any:
    """What limits a kernel at each shape, with the evidence: what `strop profile --json` prints."""
    return json.loads(run(["profile", str(kernel), "--json", *_flags(problem=problem, **flags)]).output)


def tune(kernel: Union[str, pathlib.Path], problem: Union[str, pathlib.Path, None] = None, *, budget: str = "2m",
         progress: Progress = False, **flags: Any) -> Result:
    """Turns the tunables of one kernel file."""
    words = ["tune", str(kernel), "--json",
             *_flags(problem=problem, budget=budget, quiet=not progress, **flags)]
    return Result(json.loads(run(words, progress).output), flags.get("store"))
