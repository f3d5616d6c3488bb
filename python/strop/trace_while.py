"""`while` loops that count, as loops over a range, whose number of steps is known before they begin.

    while i < n and TEST:       becomes     _bound = n
        BODY                                for _item in _strop_counted(i, _bound, 1, "<"):
                                                i = _item
                                                _strop_unchanged(_bound, n)
                                                if not TEST: break
                                                BODY

where BODY says `i += 1` once, not in a branch. So does `while True` whose body begins with `if i >= n or ...: break`.
`i != n` is taken for `i < n`: else it would never end.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from strop.trace_syntax import ends_loop, placed, statement

SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
CHANGES = {"append", "insert", "extend", "remove", "pop", "popleft", "appendleft", "clear", "add", "discard", "update"}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}  # of whole numbers: the counter's


def counted_loop(node: ast.While, number: int, foreign: set[str]) -> list | None:
    """The statements in its place; None: it does not count. `foreign`: names that other functions may bind, too."""
    test, body = _entered(node)
    if test is None or node.orelse or any(isinstance(one, ast.Match) for top in body for one in ast.walk(top)):
        return None
    operands = _operands(test)
    readings = [(place, *one) for place, operand in enumerate(operands) for one in _readings(operand)]
    for place, counter, sign, bound in sorted(readings, key=lambda one: _doubt(one[3])):
        step = _step_of(counter, body)
        rest = [*operands[:place], *operands[place + 1 :]]
        if step is None or counter in foreign or not _is_fixed(bound, body):
            continue
        if sign == "!=" and abs(step) == 1:
            sign = "<" if step > 0 else ">"
        if sign not in (("<", "<=") if step > 0 else (">", ">=")):
            continue
        if place > 0 and not (_is_plain(bound) and all(map(_is_pure, rest[:place]))):
            continue  # what stands before it is asked first
        return _as_for(node, body, (counter, sign, bound, step), rest, number)
    return None


def _operands(test) -> list:
    """All of them hold as long as the loop goes on."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [one for value in test.values for one in _operands(value)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.BoolOp):
        opposite = _opposite(test.operand)
        return [test] if isinstance(opposite, ast.UnaryOp) else _operands(opposite)
    if isinstance(test, ast.Compare) and len(test.ops) > 1 and all(isinstance(one, ast.Name) for one in test.comparators[:-1]):
        pairs = zip([test.left, *test.comparators], test.ops, test.comparators)
        return [ast.copy_location(ast.Compare(a, [how], [b]), test) for a, how, b in pairs]
    return [test]


def _doubt(bound) -> int:
    """Whether it may be an array's value: extents first, then numbers."""
    return 0 if any(map(_is_extent, ast.walk(bound))) else 1 if isinstance(bound, ast.Constant) else 2


def _entered(node: ast.While):
    """Its test, and its body; of `while True` the first `if ...: break` is the test."""
    if not (isinstance(node.test, ast.Constant) and node.test.value in (True, 1)):
        return node.test, node.body
    first: Any = node.body[0]
    if isinstance(first, ast.If) and not first.orelse and isinstance(first.body[0], ast.Break):
        return _opposite(first.test), node.body[1:]
    if isinstance(first, ast.If) and first.orelse and isinstance(first.orelse[0], ast.Break):
        return first.test, [*first.body, *node.body[1:]]
    return None, node.body


def _opposite(test):
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return ast.copy_location(ast.BoolOp(ast.And(), [_opposite(value) for value in test.values]), test)
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _readings(test):
    """Name, sign and bound, where it compares a name, or one with a number added, with something: both ways around."""
    inverted = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    test = test.operand if inverted else test
    if isinstance(test, ast.Name) and not inverted:
        yield test.id, "!=", ast.copy_location(ast.Constant(0), test)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in SIGNS:
        return
    sign, right = SIGNS[type(test.ops[0])], test.comparators[0]
    sign = OPPOSITE[sign] if inverted else sign
    for one, how, other in ((test.left, sign, right), (right, MIRRORED[sign], test.left)):
        if isinstance(one, ast.Name):
            yield one.id, how, other
        elif isinstance(one, ast.BinOp) and isinstance(one.left, ast.Name) and _signed(one.op, one.right) is not None:
            less = ast.copy_location(ast.Constant(_signed(one.op, one.right)), one)
            yield one.left.id, how, ast.copy_location(ast.BinOp(other, ast.Sub(), less), one)


def _step_of(name: str, body: list) -> int | None:
    """By how much the body changes it, once and in every step."""
    stores = [one for top in body for one in _stores(name, top)]
    if len(stores) != 1:
        return None
    for one in body:
        if any(store in ast.walk(one) for store in stores):
            return _increment(name, one)
        if ends_loop(one, ast.Continue):
            return None
    return None


def _stores(name: str, node) -> list:
    """Not the names of a comprehension's own, or of a function's."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node] if node.name == name else []
    if isinstance(node, ast.Lambda):
        return []
    own = [node] if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, (ast.Store, ast.Del)) else []
    parts = [one.iter for one in node.generators] if hasattr(node, "generators") else ast.iter_child_nodes(node)
    binds = [one.target for one in ast.walk(node) if isinstance(one, ast.NamedExpr)] if hasattr(node, "generators") else []
    return [*own, *(one for part in [*parts, *binds] for one in _stores(name, part))]


def _is_fixed(bound, body: list) -> bool:
    """As far as its names tell. An array that is made anew (x = x + 1) has its extents still: that is seen in each step."""
    extents = {id(inner) for one in ast.walk(bound) if _is_extent(one) for inner in ast.walk(one)}
    names = {one.id for one in ast.walk(bound) if isinstance(one, ast.Name) and id(one) not in extents}
    grows = {one.func.value.id for top in body for one in ast.walk(top) if isinstance(one, ast.Call)
             and isinstance(one.func, ast.Attribute) and isinstance(one.func.value, ast.Name) and one.func.attr in CHANGES}
    used = {one.id for one in ast.walk(bound) if isinstance(one, ast.Name)}
    stores = {one.id for top in body for one in ast.walk(top) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return not names & stores and not used & grows


def _is_extent(node) -> bool:
    """len(x), x.shape, x.size."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("shape", "size", "ndim") and isinstance(node.value, ast.Name)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _is_plain(bound) -> bool:
    """It can always be computed."""
    if _is_extent(bound) or isinstance(bound, (ast.Name, ast.Constant)):
        return True
    if isinstance(bound, ast.Subscript):
        return _is_extent(bound.value)
    return isinstance(bound, ast.BinOp) and _is_plain(bound.left) and _is_plain(bound.right)


def _is_pure(test) -> bool:
    calls = [one.func for one in ast.walk(test) if isinstance(one, ast.Call)]
    binds = any(isinstance(one, ast.NamedExpr) for one in ast.walk(test))
    return not binds and not any(
        isinstance(one, ast.Name) and one.id == "next" or isinstance(one, ast.Attribute) and one.attr in CHANGES
        for one in calls
    )


def _increment(name: str, statement) -> int | None:
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
        return _signed(statement.op, statement.value)
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        statement = ast.Assign([statement.target], statement.value)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = zip(target.elts, value.elts)
        target, value = next(((t, v) for t, v in pairs if isinstance(t, ast.Name) and t.id == name), (target, value))
    if not isinstance(target, ast.Name) or not isinstance(value, ast.BinOp):
        return None
    if isinstance(value.left, ast.Name) and value.left.id == name:
        return _signed(value.op, value.right)
    swapped = isinstance(value.op, ast.Add) and isinstance(value.right, ast.Name) and value.right.id == name
    return _signed(value.op, value.left) if swapped else None


def _signed(operator, value) -> int | None:
    whole = isinstance(value, ast.Constant) and type(value.value) is int and value.value != 0
    if not whole or not isinstance(operator, (ast.Add, ast.Sub)):
        return None
    return value.value if isinstance(operator, ast.Add) else -value.value


def _as_for(node: ast.While, body: list, counting, rest: list, number: int) -> list:
    counter, sign, bound, step = counting
    known, item = f"_strop_bound_{number}", f"_strop_counted_{number}"
    begin = statement(f"{known} = 0")
    begin.value = bound
    unchanged = statement(f"_strop_unchanged({known}, 0)")
    unchanged.value.args[1] = copy.deepcopy(bound)
    loop = statement(f"for {item} in _strop_counted({counter}, {known}, {step}, {sign!r}):\n {counter} = {item}")
    own = [*(_leaving(test) for test in rest), *body]
    loop.body += [unchanged, *own, copy.deepcopy(unchanged)]
    loop.called = counter
    return [placed(begin, node, bound), placed(loop, node, *own)]


def _leaving(test):
    stop = ast.copy_location(ast.Break(), test)
    return ast.copy_location(ast.If(ast.copy_location(ast.UnaryOp(ast.Not(), test), test), [stop], []), test)

