"""Loops inside of loops whose number of steps changes: for j in range(i).

Such a loop goes over all numbers that it meets in any step of the loop around it; steps that the range of this step
does not have change nothing.
"""

from __future__ import annotations

from strop.trace_array import Traced, pointwise
from strop.trace_dims import EXTREMA, SymInt, Untraceable, steps_in, with_step
from strop.trace_sizes import never_negative
from strop.trace_walks import Walk

REFUSAL = "an extent that changes with each step"


class Guard:
    """Which numbers of `walk`, a walk over all, are of the range that has `count` numbers from `first` on, forwards or
    backwards (`direction`)."""

    def __init__(self, ranged: Walk):
        if ranged.range is None or abs(ranged.range[1]) != 1:
            raise Untraceable(REFUSAL)
        self.first, self.direction = ranged.range
        self.count = ranged.count
        last = self.first + (self.count - 1) * self.direction
        low, high = (self.first, last) if self.direction > 0 else (last, self.first)
        self.low, self.high = low, high
        least, most = -_most(-low), _most(high)
        self.start = least if self.direction > 0 else most
        self.walk = Walk(most - least + 1, lambda step: self.start + self.direction * step)

    def rooms(self, step: SymInt) -> tuple:
        """Not negative in the steps that the range has."""
        number = self.walk.at(step)
        return number - self.low, self.high - number

    def holds(self, step: SymInt) -> Traced:
        rooms = [room for room in self.rooms(step) if not never_negative(room)]
        conditions = [pointwise("greater_equal", room, 0) for room in rooms]
        return pointwise("logical_and", *conditions) if len(conditions) == 2 else conditions[0]

    def before(self, step: SymInt):
        """How many steps of the range come before this one."""
        return (self.walk.at(step) - self.first) * self.direction


def _most(number):
    """Over all steps of the loops around."""
    for name in steps_in(number):
        candidates = [with_step(number, name, step) for step in (0, SymInt.steps[name].count - 1)]
        if None in candidates:
            candidates = _parts(number)
        found = next((one for one in candidates if name not in steps_in(one) and never_negative(one - number)), None)
        if found is None:
            raise Untraceable(REFUSAL)
        number = found
    return number


def _parts(number) -> list:
    """T of min(T, i + 3) - 1."""
    result = []
    for monomial, factor in number.terms.items():
        for atom in monomial:
            if len(monomial) == 1 and atom.text in EXTREMA:
                rest = number - factor * SymInt({monomial: 1})
                result += [rest + factor * part for part in EXTREMA[atom.text]]
    return result
