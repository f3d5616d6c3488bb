"""Exported loops (import_loops) as loops of the tracer."""

from __future__ import annotations

import builtins

from strop.trace_array import Traced
from strop.trace_calls import call
from strop.trace_dims import Untraceable, is_int
from strop.trace_loops import Loop
from strop.trace_states import UNBOUND
from strop.trace_walks import LONG, range_

KEPT = "what a step of a loop computes is kept outside of it"
MOST = (1 << 63) - 1  # "to the end"


def is_part(node, name: str) -> bool:
    target = node.target
    return node.op == "call_function" and getattr(target, "namespace", "") == "strop" and target._opname == name


def run(reader, nodes: list):
    """In their order; the nodes from where a loop begins to where it ends make one."""
    place = 0
    while place < len(nodes):
        node = nodes[place]
        if is_part(node, "loop_state"):
            raise Untraceable(KEPT)
        if not is_part(node, "loop_begin"):
            reader.values[node] = reader.follow(node)
            place += 1
            continue
        ends = [i for i, one in enumerate(nodes) if is_part(one, "loop_end") and one.args[5] == node.args[1]]
        if not ends:  # a pass that was not the last one, of which something was kept
            raise Untraceable(KEPT)
        between = nodes[place : ends[0] + 1]
        inner = depending(between, node.args[1])
        run(reader, [one for one in between if one not in inner])
        repeat(reader, [one for one in between if one in inner])
        place = ends[0] + 1


def depending(nodes: list, id_: int) -> set:
    """On the step or a state of that loop. A loop within it does as a whole."""
    ids, found = {id_}, set()
    while True:
        for node in nodes:
            begins = is_part(node, "loop_begin") or is_part(node, "loop_state")
            if (begins and node.args[1] in ids) or any(one in found for one in node.all_input_nodes):
                found.add(node)
        within = {node.args[5] for node in found if is_part(node, "loop_end")}
        if within <= ids:
            return found
        ids |= within


SCATTERED = ("select_scatter", "slice_scatter")


def is_written(node) -> bool:
    """A state that steps write parts of: a scatter into it."""
    while getattr(node.target, "_opname", "") in SCATTERED:
        node = node.args[0]
        if is_part(node, "loop_state"):
            return True
    return False


def scattered(target, source, name, dim=0, start=None, end=None, step=1):
    """In place."""
    key = start if name == "select_scatter" else slice(start, None if end is None or end == MOST else end, step)
    target[(slice(None),) * (dim % target.ndim) + (key,)] = source
    return target


def repeat(reader, nodes: list):
    begin, end = nodes[0], nodes[-1]
    places, after, last, each, count, id_, _ = end.args
    own = {node.args[2]: node for node in nodes if is_part(node, "loop_state") and node.args[1] == id_}
    body = [node for node in nodes if node not in (begin, end, *own.values())]
    names = {place: f"state{place}" for place in places}
    lasts = [f"last{i}" for i in builtins.range(len(last))]
    lists = [f"each{i}" for i in builtins.range(len(each))]
    begun = {name: reader.values[own[place].args[0]] for place, name in names.items() if place in own}
    local = begun | {name: [] for name in lists}
    unread = [name for name in names.values() if name not in begun]
    written = [name for name, node in zip(names.values(), after) if is_written(node)]
    for name in written:  # in place, which is nobody else's business
        local[name] = Traced(local[name].node, local[name].shape, local[name].dtype)
    kept, fresh = [*names.values(), *lasts], [*lasts, *unread]
    about = {"names": [*kept, *lists], "watched": [], "stored": kept, "fresh": fresh, "mutated": [*lists, *written]}
    count = reader.value(count)
    loop = Loop(builtins.range(count) if is_int(count) and count >= LONG else range_(count), ("loop", id_), "t", about)
    for item in loop:
        if loop.symbolic:
            values = loop.turn(local, {})
            local = {name: value for name, value in zip(loop.names, values) if value is not UNBOUND}
            if loop.done:
                continue
            item = loop.item
        reader.values[begin] = item
        for place, node in own.items():
            reader.values[node] = local[names[place]] if place in names else reader.values[node.args[0]]
        reader.in_place |= {id(local[name]): local[name] for name in written}
        run(reader, body)
        local |= {name: reader.value(node) for name, node in zip(kept, [*after, *last])}
        for name, node in zip(lists, each):
            local[name].append(reader.value(node))
    reader.values[end] = [local[name] for name in kept] + [call("stack", (local[name],), {}) for name in lists]
