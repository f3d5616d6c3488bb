"""Arguments of a module's forward as a file has them: by name, one tensor each. Tuples, lists and dictionaries of
tensors are taken apart: `state=(h, c)` becomes `state_0` and `state_1`."""

from __future__ import annotations

import copy
import inspect
import keyword
import re
from typing import Any, Callable, Mapping

from strop.program import BadInput

Structure = Mapping[str, Any]  # argument of forward: a name, or a container of names


def taken_apart(given: Mapping[str, Any]) -> tuple[dict[str, Any], Structure]:
    """Leaves by name, and where each belongs."""
    leaves: dict[str, Any] = {}

    def name_of(wanted: str) -> str:
        name = re.sub(r"\W", "_", wanted)
        while name in leaves or (name in given and name != wanted) or keyword.iskeyword(name):
            name += "_"
        return name

    def named(wanted: str, value: Any) -> Any:
        if isinstance(value, Mapping) and "dtype" not in value:
            return {key: named(f"{wanted}_{key}", one) for key, one in value.items()}
        if type(value) in (tuple, list):
            return type(value)(named(f"{wanted}_{place}", one) for place, one in enumerate(value))
        name = name_of(wanted)
        leaves[name] = value
        return name

    return leaves, {key: named(key, value) for key, value in given.items()}


def is_flat(structure: Structure) -> bool:
    return all(name == key for key, name in structure.items())


def must_be_taken_apart(module: Any, structure: Structure) -> bool:
    """Arguments that have no name, too, as torch.export takes them by name."""
    kinds = inspect.signature(module.forward).parameters.values()
    return not is_flat(structure) or any(one.kind is one.POSITIONAL_ONLY for one in kinds)


def with_leaves(module: Any, structure: Structure) -> Any:
    """`module`, over the same parameters, with a forward that takes the leaves by name."""
    parameters = inspect.signature(module.forward).parameters
    arguments = [text(value) if parameters[key].kind is inspect.Parameter.POSITIONAL_ONLY else f"{key}={text(value)}"
                 for key, value in structure.items()]
    return _with_forward(module, ", ".join(leaves_of(structure)), ", ".join(arguments))


def with_containers(module: Any, structure: Structure) -> Any:
    """The other way: a forward that takes what the original's does, over one that takes leaves."""
    known = inspect.signature(module.forward).parameters
    heads: list[str] = []
    for key, value in structure.items():
        default = known[value].default if isinstance(value, str) else inspect.Parameter.empty
        has_one = isinstance(default, (bool, int, float, str, type(None)))
        heads.append(f"{key}={default!r}" if has_one else f"{key}=None" if "=" in "".join(heads) else key)
    places = {leaf: place for key, value in structure.items() for leaf, place in places_in(value, key)}
    return _with_forward(module, ", ".join(heads), ", ".join(f"{name}={places[name]}" for name in known))


def container_text(value: Any, inside: Callable[[Any], str]) -> str:
    """A dictionary, list or tuple as Python; `inside` writes what it holds."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {inside(one)}" for key, one in value.items()) + "}"
    words = ", ".join(map(inside, value))
    return f"[{words}]" if isinstance(value, list) else f"({words}{',' if len(value) == 1 else ''})"


def text(value: Any) -> str:
    return value if isinstance(value, str) else container_text(value, text)


def places_in(value: Any, place: str) -> list[tuple[str, str]]:
    """Of each leaf, how it is read: state_0, "state[0]"."""
    if isinstance(value, str):
        return [(value, place)]
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    return [found for key, one in inside for found in places_in(one, f"{place}[{key!r}]")]


def leaves_of(structure: Structure) -> list[str]:
    return [leaf for key, value in structure.items() for leaf, _ in places_in(value, key)]


def _with_forward(module: Any, head: str, given: str) -> Any:
    """What it calls is a method, as torch.compile finds no names beside a function that was made from text."""
    kind = type(module)
    own = f"_forward_{len(kind.__mro__)}"
    scope: dict[str, Any] = {"__name__": __name__}
    try:
        exec(f"def forward(self, {head}):\n    return self.{own}({given})\n", scope)  # pylint: disable=exec-used
    except SyntaxError as error:
        raise BadInput(f"{kind.__name__}.forward: its arguments cannot be written as text ({error.msg})",
                       "keys of dictionaries are strings or numbers") from error
    changed = copy.copy(module)
    changed.__class__ = type(kind.__name__, (kind,), {"forward": scope["forward"], own: kind.forward, "__module__": kind.__module__})
    return changed
