"""@strop.kernel: a function that is optimized when it is first called."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import pathlib
import sys
from typing import Any, Callable, Mapping, Optional

from strop.optimizing import optimize
from strop.program import BadInput
from strop.result import Result
from strop.source import source_of
from strop.specification import Inputs, Shapes, dimensions, extent_of, from_arrays


def _cache() -> pathlib.Path:
    """Where the program keeps its own."""
    shared = os.environ.get("XDG_CACHE_HOME")
    usual = pathlib.Path(shared) if shared else pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("STROP_CACHE", usual / "strop")) / "kernels"


class OptimizedFunction:
    """Calls the winner at shapes of the sweep, and at all shapes inside of `range` where one was given; the original
    function everywhere else, and where nothing faster was found."""

    def __init__(self, function: Callable, inputs: Inputs, shapes: Shapes, options: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.original = function
        self._inputs, _ = from_arrays(inputs)
        self._given = inputs
        self._shapes = shapes
        self._options = dict(options)
        self._range = (self._options.get("problem") or {}).get("range")
        self._result: Optional[Result] = None

    @property
    def result(self) -> Result:
        """Optimizes where that was not done before, in this process or in an earlier one."""
        if self._result is None:
            self._result = self._earlier() or self._optimize()
        return self._result

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        arrays = self._arrays(arguments, named)
        if arrays is not None and self._may_run(arrays) and self.result.improved:
            return self.result(*arrays)
        return self.original(*arguments, **self._parameters(arguments, named), **named)

    def _arrays(self, arguments: Any, named: Mapping[str, Any]) -> Any:
        """The inputs in their order; None where one is missing, or a parameter has another value than in the kernel."""
        if not named and len(arguments) == len(self._inputs):
            return arguments
        signature = inspect.signature(self.original)
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError:
            return None    # the original says what is wrong
        names = list(signature.parameters)[:len(self._inputs)]
        made_for = self._options.get("parameters") or {}
        for name in given.keys() - names:
            value = made_for.get(name, signature.parameters[name].default)
            if type(given[name]) not in (bool, int, float) or given[name] != value:
                return None
        return tuple(given[name] for name in names) if given.keys() >= set(names) else None

    def _parameters(self, arguments: Any, named: Mapping[str, Any]) -> dict[str, Any]:
        """Those that the kernel was made for, where the caller gives none."""
        given = self._options.get("parameters") or {}
        known = list(inspect.signature(self.original).parameters)[:len(arguments)]
        return {name: value for name, value in given.items() if name not in known and name not in named}

    def _may_run(self, arguments: Any) -> bool:
        """Whether the kernel takes these, at a shape that it was made for."""
        if len(arguments) != len(self._inputs):
            return False
        sizes: dict[str, int] = {}
        for entry, value in zip(self._inputs.values(), arguments):
            if not _is_taken(value, entry) or len(value.shape) != len(entry["shape"]):
                return False
            for extent, actual in zip(entry["shape"], value.shape):
                if str(extent).isidentifier() and sizes.setdefault(str(extent), int(actual)) != actual:
                    return False
        if any(name not in sizes for name in dimensions(self._inputs)):
            return False
        for entry, value in zip(self._inputs.values(), arguments):
            if tuple(extent_of(extent, sizes) for extent in entry["shape"]) != tuple(value.shape):
                return False
        points = list(self._shapes.values()) if isinstance(self._shapes, Mapping) else list(self._shapes)
        if self._range:
            return all(low <= sizes[name] <= high for name, (low, high) in self._range.items() if name in sizes)
        return any(dict(point) == sizes for point in points)

    def _folder(self) -> pathlib.Path:
        what = json.dumps([source_of(self.original), self._inputs, self._shapes, self._options], sort_keys=True, default=str)
        key = hashlib.sha256(what.encode()).hexdigest()[:16]
        return _cache() / f"{self.original.__name__}-{key}"

    def _earlier(self) -> Optional[Result]:
        try:
            return Result.load(self._folder(), self._folder().parent / "strop.db")
        except BadInput:
            return None

    def _optimize(self) -> Result:
        folder = self._folder()
        store = folder.parent / "strop.db"
        folder.parent.mkdir(parents=True, exist_ok=True)
        result = optimize(self.original, self._given, self._shapes, out=folder, store=store, **self._options)
        if not (folder / "report.json").exists():    # nothing was found: the next process need not look again
            folder.mkdir(exist_ok=True)
            (folder / "report.json").write_text(json.dumps(result.report), encoding="utf-8")
        return result


def _is_taken(value: Any, entry: Mapping[str, Any]) -> bool:
    """An array or a tensor that the kernel reads as the original would: of its type, in order, its indexes in bounds."""
    if str(getattr(value, "dtype", "")).replace("torch.", "") != entry["dtype"]:
        return False
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        plain = value.is_contiguous() and value.device.type == "cpu" and not value.is_neg()
        taken = plain and not (value.requires_grad and torch.is_grad_enabled())
    else:
        plain = (type(value).__module__, type(value).__name__) == ("numpy", "ndarray")  # no subclass
        taken = plain and value.flags.c_contiguous and value.flags.aligned
    if taken and "limit" in entry and 0 not in value.shape:
        least = entry.get("from", -entry["limit"] if entry["dtype"] == "int8" else 0)
        taken = int(value.min()) >= least and int(value.max()) < entry["limit"]
    return bool(taken)


def kernel(inputs: Inputs, shapes: Shapes, **options: Any) -> Callable[[Callable], OptimizedFunction]:
    """`options`: those of `strop.optimize`."""
    def decorate(function: Callable) -> OptimizedFunction:
        return OptimizedFunction(function, inputs, shapes, options)
    return decorate
