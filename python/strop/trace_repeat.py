"""A loop over steps that the tracer itself makes: of a recurrent layer."""

from __future__ import annotations

from typing import Any, Callable

from strop.trace_array import Traced, cast
from strop.trace_bodies import Record
from strop.trace_passes import Pass


def over_steps(count, states: list[Traced], body: Callable[[Any, list[Traced]], tuple]) -> tuple[list, list]:
    """`body(step, states)` gives the states that a step leaves, of the shapes and types of those before, and values.

    Returns the values of all steps, each along a new first axis, and the states after the last one.
    """
    step = Pass("", "step", count)
    before = [Traced(step.placeholder(state.shape, state.dtype), state.shape, state.dtype) for state in states]
    after, values = body(step.symbol, before)
    step.end()
    step.leave()
    record = Record(step)
    for first, old, new in zip(states, before, after):
        record.state(first.node, old.node, cast(new, first.dtype))
    stacks = [record.stack(value.node) for value in values]
    return (
        [record.result("stack", index, (count, *value.shape)) for index, value in zip(stacks, values)],
        [record.result("last", index, state.shape) for index, state in enumerate(states)],
    )
