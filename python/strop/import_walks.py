"""What a followed loop of a PyTorch module goes over (import_loops): range, tensors and their unbind, and enumerate, zip
and reversed of them; and the lists that loops fill."""

from __future__ import annotations

import builtins
from typing import Any, Callable, Iterable

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

LONG = 32  # steps of a known number that are no single operations


class LoopUnfollowed(Exception):
    """It has to be unrolled."""


class Following:
    """Whether loops are followed now."""

    on = False
    unrolled = False  # whatever is asked for
    apart = ""  # the step of each that is run by itself: "first" or "last"
    walks = 0  # that were met
    depth = 0  # of loops whose bodies run; 0 where none is followed
    begun = 0  # loops so far, each pass over a body by itself


class Walk:
    """`count` items, which `at` gives for a number from 0 on; `whole`: a tensor of them, items first, where there is
    one."""

    def __init__(self, count, at: Callable, sources: Iterable = (), whole: torch.Tensor | None = None):
        self.count, self.at, self.whole = count, at, whole
        self.sources = list(sources)  # the tensors that it goes over
        Following.walks += 1

    def __iter__(self):
        """For who does not loop over it: Python makes a number of the count."""
        return (self.at(place) for place in builtins.range(int(self.count)))

    def __len__(self):
        return int(self.count)

    def __getitem__(self, place):
        if not isinstance(place, (int, torch.SymInt)):
            return list(self)[place]
        return self.at(place if not isinstance(place, int) or place >= 0 else self.count + place)

    def taken_apart(self):
        """(the first step if it is run by itself, the others, likewise the last)"""
        if not Following.apart:
            return [], self, []
        if Following.apart == "last":
            return [], Walk(self.count - 1, self.at, self.sources), [self.at(self.count - 1)]
        return [self.at(0)], Walk(self.count - 1, lambda step: self.at(step + 1), self.sources), []


def is_long(count) -> bool:
    return isinstance(count, torch.SymInt) or count >= LONG


def walk_of(items) -> Walk | None:
    """None: an iterable of Python's own."""
    if not Following.on:
        return None
    if isinstance(items, Walk):
        return items
    if isinstance(items, SteppedList):
        return items.walk()
    if isinstance(items, torch.Tensor) and items.ndim and is_long(items.shape[0]):
        return Walk(items.shape[0], lambda step: items[step], [items], items)
    return None


def range_(*bounds):
    begin, end, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    known = all(isinstance(one, int) for one in (begin, end))
    if not Following.on or not isinstance(step, int) or step == 0:
        return builtins.range(*bounds)
    if not known and not all(isinstance(one, (int, torch.SymInt)) for one in (begin, end)):
        return builtins.range(*bounds)
    far, width = (end - begin, step) if step > 0 else (begin - end, -step)
    count = far if width == 1 else (far + width - 1) // width
    if known and count < LONG:
        return builtins.range(*bounds)
    return Walk(count, lambda place: begin + step * place)


def counts() -> bool:
    """Whether a `while` that counts is a loop over a range now."""
    return Following.on


def counted(start, bound, step: int, sign: str):
    """The numbers that `while NUMBER < bound` meets, which grows by `step`; or <=, >, >=."""
    if not all(isinstance(one, (int, torch.SymInt)) for one in (start, bound)):
        raise LoopUnfollowed
    return range_(start, bound + (0 if sign in ("<", ">") else 1 if step > 0 else -1), step)


def unchanged(bound, now):
    if not are_same(bound, now):
        raise LoopUnfollowed


def enumerate_(items, start=0):
    walk = walk_of(items)
    if walk is None:
        return builtins.enumerate(items, start)
    return Walk(walk.count, lambda step: (start + step, walk.at(step)), walk.sources)


def zip_(*several, **options):
    walks = [walk_of(items) for items in several]
    if options or all(walk is None for walk in walks):
        return builtins.zip(*several, **options)
    known = [walk_of_known_length(items) if walk is None else walk for walk, items in zip(walks, several)]
    if not all(walk is not None and walk.count == known[0].count for walk in known):
        raise LoopUnfollowed
    sources = [one for walk in known for one in walk.sources]
    return Walk(known[0].count, lambda step: tuple(walk.at(step) for walk in known), sources)


def walk_of_known_length(items) -> Walk | None:
    if isinstance(items, builtins.range):
        return Walk(len(items), lambda place: items.start + items.step * place)
    return None


def are_same(one, other) -> bool:
    """As far as is known."""
    symbols = isinstance(one, torch.SymInt) and isinstance(other, torch.SymInt)
    return one is other or (one.node.expr == other.node.expr if symbols else as_number(one) == as_number(other))


def as_number(value):
    """Where it is one, whatever it is made of."""
    if isinstance(value, torch.SymInt):
        return int(value.node.expr) if value.node.expr.is_number else None
    return value


def reversed_(items):
    if isinstance(items, SteppedList) and Following.on:
        return items[::-1]
    walk = walk_of(items)
    if walk is None:
        return builtins.reversed(items)
    return Walk(walk.count, lambda step: walk.at(walk.count - 1 - step), walk.sources)


def unbind(target, *arguments, **options):
    """target.unbind(...), where target may be torch itself."""
    tensor, rest = method_of(target, arguments)
    dim = rest[0] if rest else options.get("dim", 0)
    if len(rest) + len(options) > 1 or not is_cut(tensor, dim):
        return target.unbind(*arguments, **options)
    return Walk(tensor.shape[dim], lambda step: tensor.select(dim, step), [tensor], tensor.movedim(dim, 0))


def split(target, *arguments, **options):
    """target.split(1, ...)"""
    tensor, rest = method_of(target, arguments)
    rest += [options[name] for name in ("split_size", "dim") if name in options]
    dim = rest[1] if len(rest) == 2 else 0
    if not rest or not isinstance(rest[0], int) or rest[0] != 1 or not is_cut(tensor, dim):
        return target.split(*arguments, **options)
    return Walk(tensor.shape[dim], lambda step: tensor.narrow(dim, step, 1), [tensor])


def method_of(target, arguments):
    return (arguments[0], list(arguments[1:])) if target is torch and arguments else (target, list(arguments))


def is_cut(tensor, dim) -> bool:
    return Following.on and isinstance(tensor, torch.Tensor) and isinstance(dim, int) and is_long(tensor.shape[dim])


def sum_(items, *start, **options):
    if isinstance(items, SteppedList) and not start and not options:
        return items.stacked().sum(0)
    return builtins.sum(items, *start, **options)


def sequence(kind, items):
    """list(items), tuple(items)"""
    if not Following.on or kind not in (list, tuple):
        return kind(items)
    if isinstance(items, SteppedList):
        return items[:]
    walk = walk_of(items)
    return kind(items) if walk is None or walk.whole is None else SteppedList([], walk.whole)


class SteppedList:
    """What a loop has appended to a list: a tensor with the steps first. Stacked or concatenated (import_functions)."""

    def __init__(self, before: list, each: torch.Tensor, after: list | None = None):
        self.before, self.each, self.after = before, each, after or []

    def stacked(self, dim: int = 0):
        parts = [torch.stack(self.before)] if self.before else []
        parts += [self.each, *([torch.stack(self.after)] if self.after else [])]
        return torch.cat(parts).movedim(0, dim)

    def item_ndim(self) -> int:
        return self.each.ndim - 1

    def concatenated(self, dim: int = 0):
        dim %= self.item_ndim()
        return torch.cat([*self.before, self.each.movedim(0, dim).flatten(dim, dim + 1), *self.after], dim)

    def walk(self) -> Walk:
        whole = self.stacked()
        return Walk(whole.shape[0], lambda step: whole[step], [], whole)

    @property
    def count(self):
        return len(self.before) + self.each.shape[0] + len(self.after)

    def append(self, value):
        self.after.append(value)

    def extend(self, values):
        if not isinstance(values, (list, tuple)):
            raise LoopUnfollowed
        self.after.extend(values)

    def __add__(self, values):
        if not isinstance(values, list):
            return NotImplemented
        return SteppedList(self.before, self.each, self.after + values)

    def __radd__(self, values):
        if not isinstance(values, list):
            return NotImplemented
        return SteppedList(values + self.before, self.each, self.after)

    def reverse(self):
        self.before, self.each, self.after = self.after[::-1], self.each.flip(0), self.before[::-1]

    def __getitem__(self, place):
        if isinstance(place, slice):
            return self._part(place)
        if isinstance(place, torch.SymInt):
            return self.stacked()[place]
        if not isinstance(place, int):
            raise LoopUnfollowed
        if 0 <= place < len(self.before):
            return self.before[place]
        if -len(self.after) <= place < 0:
            return self.after[place]
        return self.each[place - len(self.before) if place >= 0 else place + len(self.after)]

    def _part(self, place: slice) -> SteppedList:
        if (place.start, place.stop, place.step) == (None, None, None):
            return SteppedList(list(self.before), self.each, list(self.after))
        if (place.start, place.stop, place.step) == (None, None, -1):
            return SteppedList(self.after[::-1], self.each.flip(0), self.before[::-1])
        if isinstance(place.step, int) and place.step < 0:
            raise LoopUnfollowed
        return SteppedList([], self.stacked()[place])

    def _unknown(self, *_):
        raise LoopUnfollowed

    __iter__ = __len__ = __bool__ = _unknown  # type: ignore[assignment]


class SteppedItems(SteppedList):
    """Items that are tuples and the like: a list for each of their tensors."""

    def __init__(self, columns: list, structure):  # noqa: super's parts are those of the columns
        self.columns, self.structure = columns, structure

    def _item(self, leaves):
        return tree_unflatten(list(leaves), self.structure)

    def walk(self) -> Walk:
        walks = [column.walk() for column in self.columns]
        return Walk(walks[0].count, lambda step: self._item(walk.at(step) for walk in walks), [])

    @property
    def count(self):
        return self.columns[0].count

    def _leaves(self, value):
        leaves, structure = tree_flatten(value)
        if structure != self.structure:
            raise LoopUnfollowed
        return leaves

    def append(self, value):
        for column, leaf in zip(self.columns, self._leaves(value)):
            column.append(leaf)

    def extend(self, values):
        for value in values:
            self.append(value)

    def reverse(self):
        for column in self.columns:
            column.reverse()

    def __getitem__(self, place):
        parts = [column[place] for column in self.columns]
        return SteppedItems(parts, self.structure) if isinstance(place, slice) else self._item(parts)

    def unzipped(self):
        """zip(*items): of tuples of tensors."""
        if not all(child.is_leaf() for child in self.structure.children_specs):
            raise LoopUnfollowed
        return iter(self.columns)

    def _refused(self, *_, **__):
        raise LoopUnfollowed

    stacked = concatenated = item_ndim = __add__ = __radd__ = _refused


def stepped(before: list, each: list, after: list, structure) -> SteppedList:
    """A list of what is made of `structure`; `each`: for each tensor of an item, those of all steps."""
    if structure.is_leaf():
        return SteppedList(before, each[0], after)
    columns = [SteppedList([], one, []) for one in each]
    for items, into in ((before, "before"), (after, "after")):
        for item in items:
            leaves, now = tree_flatten(item)
            if now != structure:
                raise LoopUnfollowed
            for column, leaf in zip(columns, leaves):
                getattr(column, into).append(leaf)
    return SteppedItems(columns, structure)


def unzipped(items):
    """zip(*items)"""
    return items.unzipped() if isinstance(items, SteppedItems) else builtins.zip(*items)


class Growing:
    """Stands for a list while the body of a loop runs: `elements` are its tensors before this step, some of them states.
    Where steps append to it, `latest` stands for what the step before has appended."""

    def __init__(self, elements: list, latest: Any = None):
        self.elements = elements
        self.latest = latest
        self.appended: list = []
        self.read_from_the_end = False
        self.in_front = False  # each is put there

    def append(self, value):
        if self.in_front:
            raise LoopUnfollowed
        if self.read_from_the_end and self.latest is None:
            self.latest = LoopUnfollowed  # the next pass knows it
        self.appended.append(value)

    def extend(self, values):
        if not isinstance(values, (list, tuple)):
            raise LoopUnfollowed
        for value in values:
            self.append(value)

    def insert(self, place, value):
        if place != 0 or self.appended or self.latest is not None:
            raise LoopUnfollowed
        self.appended.append(value)
        self.in_front = True

    def _place(self, place):
        if not isinstance(place, int):
            raise LoopUnfollowed
        if place >= 0:
            return place
        self.read_from_the_end = True
        return place + len(self.elements)

    def __getitem__(self, place):
        if self.in_front:
            raise LoopUnfollowed
        if isinstance(place, int) and place < 0 and self.appended:
            if -place > len(self.appended):
                raise LoopUnfollowed
            return self.appended[place]
        if isinstance(self.latest, torch.Tensor) and isinstance(place, int) and place < 0:
            if place != -1:
                raise LoopUnfollowed
            return self.latest
        return self.elements[self._place(place)]

    def __setitem__(self, place, value):
        if self.appended or self.latest is not None:
            raise LoopUnfollowed
        self.elements[self._place(place)] = value

    def __iter__(self):
        if self.appended:
            raise LoopUnfollowed
        self.read_from_the_end = True
        return iter(self.elements)

    def __len__(self):
        if self.appended:
            raise LoopUnfollowed
        self.read_from_the_end = True
        return len(self.elements)
