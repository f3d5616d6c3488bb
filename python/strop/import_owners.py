"""Who else sees what a followed loop of a PyTorch module changes (import_loops): other names, other owners, and objects
that keep it."""

from __future__ import annotations

import collections
import types

import torch

from strop.import_walks import Growing, SteppedList, Walk


def leaves(value):
    """The tensors in it."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Growing):
        yield from leaves([*value.elements, *value.appended, value.latest])
    elif isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    elif is_object(value):
        yield from (one for one in vars(value).values() if isinstance(one, torch.Tensor))


def is_object(value) -> bool:
    """With attributes that a call may set."""
    kinds = (type, types.ModuleType, types.FunctionType, torch.Tensor, Walk, SteppedList)
    return hasattr(value, "__dict__") and not isinstance(value, kinds)


class Kept:
    """What is kept in objects that names stand for, and in modules within them; `closures`: and what functions among
    them have of the names around them."""

    def __init__(self, local: dict, closures: bool = False):
        tops = [value for name, value in local.items() if is_object(value) and not name.startswith("_strop")]
        modules = [one for top in tops if isinstance(top, torch.nn.Module) for one in top.modules()]
        self.owners = [*tops, *modules]
        functions = [value for value in local.values() if closures and isinstance(value, types.FunctionType)]
        self.cells = [cell for function in functions for cell in function.__closure__ or ()]
        self.seen = self._fingerprints()

    def _fingerprints(self) -> list:
        of_owners = [(key, fingerprint(value)) for owner in self.owners for key, value in vars(owner).items()]
        return of_owners + [fingerprint(cell.cell_contents) for cell in self.cells if not is_empty(cell)]

    def has_changed(self) -> bool:
        return self._fingerprints() != self.seen


def is_empty(cell) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


def fingerprint(value):
    if isinstance(value, (int, float, str, bool, type(None))):
        return value
    if isinstance(value, dict):
        return [(key, id(one)) for key, one in value.items()]
    return (id(value), len(value)) if isinstance(value, (list, collections.deque)) else id(value)


def beside(name: str, local: dict):
    """What the other names stand for."""
    return (value for other, value in local.items() if other != name and not other.startswith("_strop"))


def has_other_name(name: str, tensor: torch.Tensor, local: dict) -> bool:
    """Whether who changes it in place changes what another name stands for."""
    storage = tensor.untyped_storage()._cdata
    return any(one.untyped_storage()._cdata == storage for value in beside(name, local) for one in leaves(value))


def containers(value):
    """The lists and dictionaries in it, and itself."""
    if isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield value
        for one in value.values() if isinstance(value, dict) else value:
            yield from containers(one)


def has_other_owner(name: str, container, local: dict) -> bool:
    """Whether another name stands for what it is made of, or for what it is a part of."""
    own = {id(one) for one in containers(container)}
    return any(id(one) in own for value in beside(name, local) for one in containers(value))
