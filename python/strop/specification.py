"""From a NumPy function, and what is said of its arguments, to a problem folder (docs/problems.md)."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import pathlib
import re
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from strop.program import BadInput
from strop.source import plain_function, source_of, uses_torch
from strop.whole_numbers import drawn

TENSOR = re.compile(r"\s*(\w+)\s*\[([^\]]*)\]\s*(?:(-?\d+)\s*<=)?\s*(\w+)?\s*(?:<\s*(-?\d+))?\s*$")
LARGEST_INTEGER = 2**53  # that problem.yaml's numbers hold
DTYPES = ("float32", "float64", "bfloat16", "float16", "int32", "int64", "int8", "uint8", "bool")
NAME = re.compile(r"[A-Za-z_]\w*")
TENSOR_HINT = 'for instance "float32[M, N]", "float32[N] uniform" or "int64[B, S] integers < 50"'
PROBES = ((5, 7, 11, 13, 17, 19, 23), (8, 4, 16, 6, 12, 10, 20), (9, 3, 6, 12, 15, 18, 21))

Inputs = Mapping[str, Any]
Shapes = Union[Mapping[str, Mapping[str, int]], Sequence[Mapping[str, int]]]


def _check_dtype(name: str, dtype: str) -> None:
    if dtype not in DTYPES:
        raise BadInput(f"inputs: {name} is of dtype {dtype}, which is not known", "one of " + ", ".join(DTYPES))


def tensor(name: str, given: Any) -> dict[str, Any]:
    """'float32[M, N] uniform' or {"dtype": ..., "shape": [...], ...} as an entry of problem.yaml."""
    if isinstance(given, Mapping):
        if "dtype" not in given or "shape" not in given:
            raise BadInput(f"inputs: {name} needs a dtype and a shape", TENSOR_HINT)
        _check_dtype(name, str(given["dtype"]))
        return {**given, "shape": [extent if isinstance(extent, int) else str(extent) for extent in given["shape"]]}
    match = TENSOR.match(given) if isinstance(given, str) else None
    if not match:
        raise BadInput(f"inputs: {name} is {given!r}, which is not a description of a tensor", TENSOR_HINT)
    dtype, shape, least, fill, limit = match.groups()
    _check_dtype(name, dtype)
    entry: dict[str, Any] = {"dtype": dtype, "shape": [word.strip() for word in shape.split(",") if word.strip()]}
    if fill:
        entry["fill"] = fill
    if least:
        entry["from"] = int(least)
    if limit:
        entry["limit"] = int(limit)
    return entry


def from_arrays(inputs: Inputs) -> tuple[dict[str, dict[str, Any]], Optional[dict[str, int]]]:
    """Arrays stand for their type and shape: equal extents are one dimension. Their point, where there are any."""
    names: dict[int, str] = {}
    entries: dict[str, dict[str, Any]] = {}
    for name, given in inputs.items():
        if not hasattr(given, "__array__") or isinstance(given, str):
            entries[name] = tensor(name, given)
            continue
        shape: list[Any] = []
        for extent in given.shape:
            shape.append(1 if extent == 1 else names.setdefault(int(extent), f"D{len(names)}"))
        entries[name] = {"dtype": str(given.dtype).replace("torch.", ""), "shape": shape}
        if entries[name]["dtype"].startswith(("int", "uint")):
            low, high = (int(given.min()), int(given.max())) if math.prod(given.shape) else (0, 0)
            entries[name].update(drawn(entries[name]["dtype"], low, high, math.prod(given.shape)))
    return entries, {symbol: extent for extent, symbol in names.items()} or None


def dimensions(inputs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for entry in inputs.values():
        for extent in entry["shape"]:
            found.update(dict.fromkeys(NAME.findall(str(extent))))
    return list(found)


def extent_of(expression: Any, sizes: Mapping[str, Any]) -> int:
    try:
        return int(eval(str(expression), {"__builtins__": {}}, dict(sizes)))    # the caller's own text
    except SyntaxError:
        raise BadInput(f"the extent '{expression}' is no formula", "an extent is a number, a name, or a formula of names") from None
    except ZeroDivisionError:
        at = ", ".join(f"{name}={value}" for name, value in sizes.items())
        raise BadInput(f"the extent '{expression}' divides by zero at {at}") from None


def _arguments(inputs: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, Any]):
    import numpy as np
    random = np.random.default_rng(0)
    for entry in inputs.values():
        shape = tuple(extent_of(extent, sizes) for extent in entry["shape"])
        half = entry["dtype"] in ("float16", "bfloat16")  # computed in float32
        dtype = np.dtype("float32" if half else entry["dtype"])
        if dtype.kind in "iub":
            yield random.integers(entry.get("from", 0), entry.get("limit", 2), shape).astype(dtype)
        else:
            yield (random.random(shape) + 0.1).astype(dtype)


def _results(function, inputs, parameters, sizes):
    import numpy as np
    arguments = list(_arguments(inputs, {**parameters, **sizes}))
    if uses_torch(function):
        import torch
        with torch.no_grad():
            result = function(*map(torch.from_numpy, arguments), *parameters.values())
    else:
        with np.errstate(all="ignore"):
            result = function(*arguments, *parameters.values())
    if not isinstance(result, (tuple, list)):
        result = (result,)
    for part in result:
        if np.asarray(part).dtype == object or isinstance(part, (dict, str)):
            raise BadInput(f"{function.__name__} returns a {type(part).__name__}", "return an array, or a tuple of arrays")
    return [np.asarray(part) for part in result]


def _candidates(names: Sequence[str]):
    """Expressions that an output's extent may be, the simplest first."""
    yield from names
    for first, second in itertools.combinations(names, 2):
        yield f"{first}*{second}"
        yield f"{first} + {second}"
    for name in names:
        for number in (2, 3, 4):
            yield f"{name}*{number}"
            yield f"{name}//{number}"
        for number in (1, 2, 3, 4):
            yield f"{name} + {number}"
            yield f"{name} - {number}"


def _tried(names: Sequence[str], points: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """Small sizes, and those of the sweep."""
    return [dict(zip(names, itertools.cycle(probe))) for probe in PROBES] + [dict(point) for point in points]


def infer_outputs(function: Callable, inputs: Mapping[str, Mapping[str, Any]], parameters: Mapping[str, Any],
                  points: Sequence[Mapping[str, int]]) -> dict[str, dict[str, Any]]:
    """Calls the function at a few small shapes, and says its results' extents in the inputs' dimensions."""
    names = dimensions(inputs)
    seen: list = []
    failure = None
    for sizes in _tried(names, points):
        if len(seen) >= 3:
            break
        try:
            seen.append((sizes, _results(function, inputs, parameters, sizes)))
        except BadInput:
            raise
        except Exception as error:    # a shape that the function does not take: the next one
            failure = error
    if not seen:
        raise BadInput(f"{function.__name__} fails at every shape that was tried: {failure}",
                       "check `inputs`, or give `outputs` yourself")
    outputs = {}
    for k, first in enumerate(seen[0][1]):
        shape = [_shape_of(function, k, axis, seen, names) for axis in range(first.ndim)]
        real = {entry["dtype"] for entry in inputs.values() if "float" in entry["dtype"]}
        narrow = {"float64": "float32"} if "float64" not in real else {}
        if len(real) == 1 and real <= {"float16", "bfloat16"}:    # what is computed from them is stored as they are
            narrow = dict.fromkeys(("float64", "float32", "float16"), next(iter(real)))
        dtype = str(first.dtype)
        outputs[f"out{k}" if len(seen[0][1]) > 1 else "out"] = {"dtype": narrow.get(dtype, dtype), "shape": shape}
    return outputs


def _shape_of(function, k, axis, seen, names):
    extents = [results[k].shape[axis] for _, results in seen]
    for candidate in _candidates(names):
        if all(extent_of(candidate, sizes) == extent for (sizes, _), extent in zip(seen, extents)):
            return candidate
    if len(set(extents)) == 1:
        return extents[0]
    raise BadInput(f"axis {axis} of what {function.__name__} returns has the extents {extents}, which are no simple "
                   "expression of the inputs' dimensions", 'give outputs={"y": "float32[...]"}')


def parameters_of(function: Callable, inputs: Inputs, given: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    """Arguments behind the inputs: scalars by their defaults, or as given."""
    named = list(inspect.signature(function).parameters.values())
    if named and named[0].name == "self":
        raise BadInput(f"{function.__name__} is a method", "give a function of the inputs")
    by_name = [argument.name for argument in named if argument.kind is inspect.Parameter.KEYWORD_ONLY]
    if by_name:
        raise BadInput(f"{function.__name__} takes '{by_name[0]}' by its name only", "leave out the `*` before it")
    if [argument.name for argument in named[:len(inputs)]] != list(inputs):
        raise BadInput(f"inputs are {list(inputs)}, {function.__name__} takes {[a.name for a in named]}",
                       "name the inputs as the function does, in its order")
    values = {}
    for argument in named[len(inputs):]:
        value = (given or {}).get(argument.name, argument.default)
        if isinstance(value, Mapping):
            value = value.get("value")
        if value is inspect.Parameter.empty:
            raise BadInput(f"{function.__name__} needs a value for '{argument.name}'",
                           f'parameters={{"{argument.name}": 1.0}}')
        if not isinstance(value, (int, float)):
            raise BadInput(f"parameter {argument.name} is {value!r}; parameters are numbers",
                           "set it inside of the function")
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            raise BadInput(f"parameter {argument.name} is {value}, beyond 2**53", "set it inside of the function")
        values[argument.name] = value
    unknown = set(given or {}) - set(values)
    if unknown:
        raise BadInput(f"{function.__name__} has no parameter {sorted(unknown)[0]}")
    return values


def declared(values: Mapping[str, Any], given: Optional[Mapping[str, Any]],
             tensors: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Parameters with types: what was said, or that of Python's number beside such arrays."""
    real = "float64" if any(entry["dtype"] == "float64" for entry in tensors) else "float32"
    entries = {}
    for name, value in values.items():
        usual = "bool" if isinstance(value, bool) else "int64" if isinstance(value, int) else real
        said = (given or {}).get(name)
        entries[name] = {"dtype": usual, **(said if isinstance(said, Mapping) else {}), "value": value}
    return entries


def _check_copy(source: str, function: Callable, inputs: Mapping[str, Mapping[str, Any]], parameters: Mapping[str, Any],
                points: Sequence[Mapping[str, int]]) -> None:
    """The source by itself has to compute what the function does: decorators are left out of it, for instance."""
    import numpy as np
    space: dict[str, Any] = {"__name__": f"strop_copy_of_{function.__name__}"}
    for sizes in _tried(dimensions(inputs), points):
        try:
            expected = _results(function, inputs, parameters, sizes)
        except Exception:    # a shape that the function does not take: the next one
            continue
        try:
            exec(compile(source, f"<copy of {function.__name__}>", "exec"), space)
            found = _results(space[function.__name__], inputs, parameters, sizes)
        except Exception as error:
            raise BadInput(f"the source of {function.__name__} by itself fails: {type(error).__name__}: {error}",
                           "make what it uses inside of the function, or give a problem folder") from error
        if len(found) != len(expected) or not all(map(np.array_equal, found, expected, [_has_nan(e) for e in expected])):
            raise BadInput(f"the source of {function.__name__} by itself computes something else than "
                           f"{function.__name__} does", "it may have a decorator, or depend on what is outside of it")
        return


def _has_nan(value: Any) -> bool:
    """Whether equal NaNs have to count: numbers that are no floats know none."""
    return value.dtype.kind == "f"


def points_of(shapes: Shapes) -> dict[str, dict[str, int]]:
    """Points by label; those of a list are labelled by their sizes."""
    each = list(shapes.values()) if isinstance(shapes, Mapping) else list(shapes)
    if not all(isinstance(one, Mapping) for one in each):
        raise BadInput(f"shapes: {each[0]!r} is no shape", 'shapes={"large": {"M": 4096, "N": 1024}}')
    points = [{name: int(extent) for name, extent in one.items()} for one in each]
    labels = list(shapes) if isinstance(shapes, Mapping) else ["_".join(map(str, one.values())) or "only" for one in points]
    return dict(zip(labels, points))


def write_problem(folder: pathlib.Path, function: Callable, inputs: Inputs, shapes: Optional[Shapes] = None,
                  outputs: Optional[Mapping[str, Any]] = None, parameters: Optional[Mapping[str, Any]] = None,
                  name: Optional[str] = None, **more: Any) -> pathlib.Path:
    """problem.yaml and reference.py. `more`: other keys of problem.yaml, such as `range` and `tolerance`."""
    function = getattr(function, "original", function)  # of @strop.kernel
    plain_function(function)
    entries, point = from_arrays(inputs)
    values = parameters_of(function, entries, parameters)
    if not shapes and not point:
        raise BadInput("no shapes were given", 'shapes={"large": {"M": 4096, "N": 1024}}, or arrays as inputs')
    sweep = points_of(shapes or {"given": point or {}})
    points = list(sweep.values())
    missing = [(label, key) for label, one in sweep.items() for key in dimensions(entries) if key not in {**values, **one}]
    if missing:
        raise BadInput(f"shapes: {missing[0][0]!r} has no value for '{missing[0][1]}'", 'shapes={"large": {"M": 4096, "N": 1024}}')
    results = ({key: tensor(key, value) for key, value in outputs.items()} if outputs
               else infer_outputs(function, entries, values, points))
    document = {"name": name or function.__name__, "function": function.__name__, "inputs": entries,
                "parameters": declared(values, parameters, [*entries.values(), *results.values()]), "outputs": results, "shapes": sweep, **more}
    folder.mkdir(parents=True, exist_ok=True)
    source = source_of(function)
    _check_copy(source, function, entries, values, points)
    (folder / "reference.py").write_text(source, encoding="utf-8")
    lines = [f"{key}: {json.dumps(value)}" for key, value in document.items() if value not in ({}, None)]
    (folder / "problem.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
