"""A PyTorch module as the target of `optimize`: its inputs, its file, and what takes its place."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import itertools
import pathlib
import re
import sys
from typing import Any, Mapping, Optional, Sequence

from strop.module_arguments import is_flat, must_be_taken_apart, taken_apart, with_containers, with_leaves
from strop.program import BadInput
from strop.specification import Shapes, dimensions, extent_of, points_of, tensor

MOST_COMPARED = 1 << 24  # elements of inputs at which a written file is called
LOADED = itertools.count()
NEAR = 0.05  # of the largest value: results in 16 bits differ by some percent
EXAMPLES = 'inputs={"x": torch.randn(8, 64)}, or {"x": "float32[B, 64]"} with shapes={"small": {"B": 8}}'


def is_module(target: Any) -> bool:
    """Without an import of PyTorch."""
    return any(kind.__module__ == "torch.nn.modules.module" and kind.__name__ == "Module" for kind in type(target).__mro__)


def _plain(module: Any) -> Any:
    """What torch.compile was given."""
    return getattr(module, "_orig_mod", module)


def name_of(module: Any) -> str:
    """TransformerBlock: transformer_block."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(_plain(module)).__name__).lower().strip("_") or "module"


def write_module(folder: pathlib.Path, module: Any, inputs: Any, shapes: Optional[Shapes], name: str) -> pathlib.Path:
    """A file that `strop optimize` takes.

    inputs: the arguments of forward, by name or in order; tensors are examples, descriptions as of a function's inputs
    need `shapes`. BadInput: forward does not take them, or cannot be exported.
    """
    from strop.module_file import module_file

    module = _plain(module)
    if module.training and any(getattr(part, "track_running_stats", False) for part in module.modules()):
        raise BadInput(f"{type(module).__name__} normalizes with the statistics of a batch and updates its own",
                       "call .eval() first; with training's statistics give a file (docs/problems.md)")
    given, structure = taken_apart(_by_name(module, inputs))
    if must_be_taken_apart(module, structure):
        module = with_leaves(module, structure)
    described = {name_: tensor(name_, value) for name_, value in given.items() if _is_described(value)}
    points = points_of(shapes) if shapes else {}
    if described and not points:
        raise BadInput("no shapes were given", EXAMPLES)
    if points and any(hasattr(value, "shape") for value in given.values()):
        raise BadInput("shapes are given, and inputs that are examples of one", EXAMPLES)
    missing = [key for point in points.values() for key in dimensions(described) if key not in point]
    if missing:
        raise BadInput(f"shapes: a shape has no '{missing[0]}'", EXAMPLES)
    sizes = {label: {key: [extent_of(extent, point) for extent in entry["shape"]] for key, entry in described.items()}
             for label, point in points.items()}
    at = _telling(points)
    given = {key: _example(described[key], [extent_of(extent, at) for extent in described[key]["shape"]])
             if key in described else value for key, value in given.items()}
    for key, value in given.items():
        if 0 in getattr(value, "shape", ()):
            raise BadInput(f"inputs: {key} has shape {list(value.shape)}", "every extent has to be at least 1")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    called = {key: entry["shape"] for key, entry in described.items()}
    text = module_file(module, given, sizes, called)
    if not is_flat(structure):
        text += f"\n\nARGUMENTS = {structure!r}    # of the module's own forward\n"
    path.write_text(text, encoding="utf-8")
    cases = {label: {key: _example(described[key], one[key]) if key in described else value for key, value in given.items()}
             for label, one in sizes.items()}
    _check_file(path, module, cases or {"the example": given})
    return path


def replacement(folder: pathlib.Path, name: str, module: Any) -> Any:
    """ModelNew of a result folder with the module's own tensors, not copies, in its mode."""
    if not (folder / f"{name}_module.py").is_file():
        raise BadInput(f"{folder} is not the result of a module", "call the result as a function")
    module = _plain(module)
    original, made = _load(folder / f"{name}_original.py"), _load(folder / f"{name}_module.py")
    new = made.ModelNew(*getattr(original, "get_init_inputs", list)())
    state = {**dict(module.named_buffers()), **module.state_dict(keep_vars=True)}
    for kind, found in (("parameters", new.named_parameters), ("buffers", new.named_buffers)):
        for key, own in list(found(remove_duplicate=False)):
            if key not in state:
                continue          # a constant of the program
            if state[key].shape != own.shape or state[key].dtype != own.dtype:
                raise BadInput(f"'{key}' is {state[key].dtype} {list(state[key].shape)}, and {own.dtype} {list(own.shape)} in "
                               f"the module that was optimized", "give a module of the same sizes")
            place, _, last = key.rpartition(".")
            getattr(new.get_submodule(place), "_" + kind)[last] = state[key]
    parameters = dict(module.named_parameters()), dict(new.named_parameters())
    for here, there, what in ((*parameters, "the module that was optimized"), (*parameters[::-1], "this module")):
        if missing := sorted(set(here) - set(there)):
            raise BadInput(f"{what} has no '{missing[0]}'", "give the module that was optimized")
    new.train(module.training)
    structure = getattr(original, "ARGUMENTS", None)
    _compare(new, with_leaves(module, structure) if structure else module, original.get_inputs())
    return with_containers(new, structure) if structure else new


def _leaves(module: Any, inputs: Mapping[str, Any]) -> list[Any]:
    """The tensors that it returns."""
    import torch

    with torch.no_grad():
        result = module(**{name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()})
    return [leaf for leaf in torch.utils._pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def _is_near(one: Any, other: Any) -> bool:
    import torch

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return one.numel() == 0 or float((one != other).double().mean()) < NEAR
    room = NEAR * float(other.double().nan_to_num().abs().max()) if other.numel() else 0.0
    return bool(torch.isclose(one.double(), other.double(), rtol=NEAR, atol=room, equal_nan=True).all())


def _compare(new: Any, module: Any, inputs: Sequence[Any]) -> None:
    """Once, as what a kernel has as constants (numbers, masks, the code itself) stands in no parameter.

    BadInput: they do not compute the same.
    """
    given = dict(zip(inspect.signature(new.forward).parameters, inputs))
    try:
        expected, found = _leaves(copy.deepcopy(module), given), _leaves(new, given)
    except Exception as error:
        raise BadInput(f"the module does not take the inputs that it was optimized for: {error}",
                       "give the module that was optimized") from error
    if not all(map(_is_near, found, expected)):
        raise BadInput("the module computes something else than the one that was optimized",
                       "its numbers, masks and code have to be the same; only parameters may differ")


def _check_file(path: pathlib.Path, module: Any, cases: Mapping[str, Mapping[str, Any]]) -> None:
    """Whether the file computes what the module does at each of these inputs. BadInput: it does not."""
    own, written = copy.deepcopy(module), _load(path).Model()
    written.load_state_dict(module.state_dict())
    for label, given in cases.items():
        if sum(value.numel() for value in given.values() if hasattr(value, "numel")) > MOST_COMPARED:
            continue
        try:
            expected = _leaves(own, given)
        except Exception as error:
            raise BadInput(f"{type(module).__name__}.forward fails at '{label}': {error}", EXAMPLES) from error
        try:
            near = all(map(_is_near, _leaves(written, given), expected))
        except Exception as error:
            raise BadInput(f"{type(module).__name__} cannot be exported for '{label}': {error}",
                           "Python's own code decides on extents there; optimize each of these shapes by itself") from error
        if not near:
            raise BadInput(f"what torch.export makes of {type(module).__name__} computes something else at '{label}'",
                           "Python's own code may decide on extents there; optimize each of these shapes by itself")


def _load(path: pathlib.Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"strop_{path.stem}_{next(LOADED)}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded  # torch.compile imports what it finds by the name
    spec.loader.exec_module(loaded)
    return loaded


def _by_name(module: Any, inputs: Any) -> dict[str, Any]:
    """Arguments of forward in its order, with defaults between those that are given."""
    signature = inspect.signature(module.forward)
    described = isinstance(inputs, str) or hasattr(inputs, "shape")
    try:
        if isinstance(inputs, Mapping):
            bound = signature.bind(**inputs)
        else:
            bound = signature.bind(*([inputs] if described else inputs))
    except TypeError as error:
        raise BadInput(f"{type(module).__name__}.forward: {error}", EXAMPLES) from None
    given = list(bound.arguments)
    bound.apply_defaults()
    names = [key for key in signature.parameters if key in given]
    if any(signature.parameters[key].kind.name.startswith("VAR_") for key in names):
        raise BadInput(f"{type(module).__name__}.forward takes any number of arguments", "wrap it in a module with named ones")
    last = list(signature.parameters).index(names[-1]) if names else -1
    return {key: bound.arguments[key] for key in list(signature.parameters)[: last + 1]}


def _is_described(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and "[" in value)


def _telling(points: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Small sizes by which extents are known to vary: torch.export takes 1 for a number, and equal ones for one extent."""
    sizes: dict[str, int] = {}
    for name in {name: None for point in points.values() for name in point}:
        size = max(point.get(name, 1) for point in points.values())
        while size > 1 and size in sizes.values():
            size += 1
        sizes[name] = size
    return sizes


def _example(entry: Mapping[str, Any], shape: Sequence[int]) -> Any:
    import torch

    dtype = getattr(torch, entry["dtype"], None)
    if not isinstance(dtype, torch.dtype):
        raise BadInput(f"inputs: {entry['dtype']} is no type of PyTorch", EXAMPLES)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    if not dtype.is_floating_point:
        return torch.full(shape, entry.get("limit", 2) - 1).to(dtype)
    drawn = {"uniform": torch.rand(shape), "positive": torch.rand(shape) + 0.1}
    return drawn.get(entry.get("fill", "normal"), torch.randn(shape)).to(dtype)
