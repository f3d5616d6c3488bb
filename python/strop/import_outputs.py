"""What a module returns that is no flat tuple: dictionaries and nested tuples of tensors, as a tuple and back."""

from __future__ import annotations

import re
from typing import Iterator

import torch


def is_flat(value) -> bool:
    parts = value if isinstance(value, (tuple, list)) else [value]
    return all(isinstance(part, torch.Tensor) for part in parts)


def leaves(value, path: str = "") -> list[tuple[str, object]]:
    """What is in it, each with the text that takes it out: `['mean'][0]`."""
    if type(value) is dict:
        parts = [(f"[{key!r}]", part) for key, part in value.items()]
    elif isinstance(value, (tuple, list)):
        parts = [(f"[{place}]", part) for place, part in enumerate(value)]
    else:
        return [(path, value)]
    return [leaf for step, part in parts for leaf in leaves(part, path + step)]


def tensors(value) -> list[tuple[str, torch.Tensor]]:
    return [(path, leaf) for path, leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


def name_at(path: str) -> str:
    """['mean'][0]: mean_0."""
    name = "_".join(re.findall(r"\w+", path))
    return name if re.search(r"[^\W\d]", path) else "y" + name


def rebuilt(value, given: Iterator[str]) -> str:
    """The text of the same structure with what is given for its tensors, in their order."""
    if isinstance(value, torch.Tensor):
        return next(given)
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {rebuilt(part, given)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(rebuilt(part, given) for part in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(rebuilt(part, given) for part in value)}{',' if len(value) == 1 else ''})"
    return repr(value)
