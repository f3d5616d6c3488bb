"""Rewrites a reference so that its loops may run over extents that vary (trace_loops).

    for TARGET in ITER: BODY        becomes     _loop = _strop_loop(ITER, ...)
                                                for _item in _loop:
                                                    if _loop.symbolic:      # once a pass over the body
                                                        (the names of the body) = _loop.turn(locals(), globals())
                                                        if _loop.done: continue
                                                        _item = _loop.item
                                                    TARGET = _item
                                                    BODY
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from strop.trace_leaves import MOST_REPEATED, nodes_of, without_continue, without_leaves
from strop.trace_returns import without_returns_in_loops
from strop.trace_spellings import spelled_out
from strop.trace_syntax import ends_loop, number_of, placed, returns, statement, statements
from strop.trace_while import counted_loop

GROWS = {"append", "insert", "extend", "reverse"}


def rewritten(source: str, path: str):
    tree = spelled_out(ast.parse(source, path))
    return ast.fix_missing_locations(Rewriter().visit(tree))


def stored(nodes) -> set[str]:
    """The names that these statements bind, not within functions of their own."""
    names: set[str] = set()

    def visit(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            names.update(inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr))
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return names


def changed(nodes) -> set[str]:
    """The names of what is changed in place: a[...] = , a.append()."""
    names = set()
    for top in nodes:
        for node in ast.walk(top):
            inner = None
            if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                inner = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWS:
                inner = node.func.value
            while isinstance(inner, (ast.Subscript, ast.Attribute)):
                inner = inner.value
            if isinstance(inner, ast.Name):
                names.add(inner.id)
    return names


def fresh(target, body) -> set[str]:
    """The names that the body binds before it reads them."""
    found = stored([target])
    known: set[str] = set()
    for node in body:
        if isinstance(node, ast.Assign):
            known |= read([node.value])
            names = {one.id for top in node.targets for one in _flat(top) if isinstance(one, ast.Name)}
            found |= names - known
        elif isinstance(node, ast.For):
            known |= read([node.iter])
            found |= stored([node.target]) - known
        known |= read([node])
    return found


def _flat(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        return [one for item in target.elts for one in _flat(item)]
    return [target]


def read(nodes) -> set[str]:
    return {node.id for top in nodes for node in ast.walk(top) if isinstance(node, ast.Name)}


CALLS = (ast.Call, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
def _leaves_branch(node) -> bool:
    """Or does what both sides cannot; a loop's own `break` stays within."""
    others = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await, ast.Delete, ast.Global, ast.Nonlocal)
    return ends_loop(node, (ast.Break, ast.Continue)) or any(isinstance(one, others) for one in ast.walk(node))


def _breaks(node) -> bool:
    return ends_loop(node, ast.Break)


RESULT = "_strop_result"

def with_one_return(body: list) -> list:
    """`if TEST: return A` and what follows with what follows in its `else`, and one `return` at the end."""
    if not any(isinstance(one, ast.If) and returns(one) for one in body):
        return body
    changed = _with_result(body)
    if changed is None:
        return body
    return [*changed, ast.copy_location(ast.Return(ast.copy_location(ast.Name(RESULT, ast.Load()), body[-1])), body[-1])]


def _with_result(body: list) -> list | None:
    """With an assignment in the place of each `return`; None: that does not do."""
    for place, one in enumerate(body):
        if isinstance(one, ast.Return):
            value = one.value or ast.copy_location(ast.Constant(None), one)
            target = ast.copy_location(ast.Name(RESULT, ast.Store()), one)
            return [*body[:place], ast.copy_location(ast.Assign([target], value), one)]
        if not returns(one):
            continue
        if not isinstance(one, ast.If):
            return None
        rest = body[place + 1 :]
        if isinstance(one.body[-1], ast.Return):
            sides = one.body, [*one.orelse, *rest]
        elif one.orelse and isinstance(one.orelse[-1], ast.Return):
            sides = [*one.body, *rest], one.orelse
        elif nodes_of(rest) > MOST_REPEATED:
            return None
        else:
            sides = [*one.body, *rest], [*one.orelse, *copy.deepcopy(rest)]
        yes, no = (_with_result(side) for side in sides)
        if yes is None or no is None:
            return None
        return [*body[:place], ast.copy_location(ast.If(one.test, yes, no), one)]
    last = body[-1] if body else ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    return [*body, *_statements_at(f"{RESULT} = None", last)]


def _statements_at(source: str, place) -> list:
    return [placed(one, place) for one in statements(source)]


class Rewriter(ast.NodeTransformer):
    def __init__(self):
        self.count = 0
        self.depth = 0  # of functions
        self.loops: list[str] = []  # the loops around, within this function
        self.locals: list[set[str]] = [set()]
        self.shared: list[set[str]] = [set()]  # the names that are declared global
        self.foreign: list[set[str]] = [set()]  # that other functions may bind, too

    # ---- functions ----

    def with_few_returns(self, body: list) -> list:
        return with_one_return(without_returns_in_loops(body))

    def _function(self, node):
        arguments = node.args
        names = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a}
        if isinstance(node, ast.FunctionDef) and not binds(node.body):
            node.body = self.with_few_returns(node.body)
        body = node.body if isinstance(node.body, list) else []
        names |= stored(body)
        inner = [one for top in body for one in ast.walk(top)]
        names |= {name for one in inner if isinstance(one, ast.Nonlocal) for name in one.names}
        loops, self.loops = self.loops, []
        self.locals.append(names)
        self.depth += 1
        self.shared.append({name for one in inner if isinstance(one, ast.Global) for name in one.names})
        self.foreign.append({name for one in inner if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names})
        self.generic_visit(node)
        self.locals.pop()
        self.depth -= 1
        self.shared.pop()
        self.foreign.pop()
        self.loops = loops
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node):
        loops, self.loops = self.loops, []
        self.locals.append(stored(node.body))
        self.generic_visit(node)
        self.locals.pop()
        self.loops = loops
        return node

    def visit_Module(self, node):
        self.locals[0] = stored(node.body)
        return self.generic_visit(node)

    # ---- loops ----

    def about(self, node) -> dict:
        """What else a loop is told of itself."""
        return {}

    def visit_For(self, node):
        if any(map(_breaks, node.body)) and self.depth and not hasattr(node, "is_rewritten"):
            self.count += 1
            going = f"_strop_going_{self.count}"
            body = without_leaves(node.body, going)
            if body is not None:
                loop = self._loop_while(node, body, going)
                last = ast.If(placed(ast.Name(going, ast.Load()), node), node.orelse, [])
                return [*loop, *as_list(self.visit(ast.copy_location(last, node)))] if node.orelse else loop
        node.body = without_continue(node.body)
        self.count += 1
        loop, item = f"_strop_loop_{self.count}", f"_strop_item_{self.count}"
        writes = stored([node.target, *node.body])
        mutated = changed(node.body)
        known = read(node.body) | writes
        names, watched = sorted(writes | (known & self.locals[-1])), sorted(known)
        new = sorted(fresh(node.target, node.body))
        yields = any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for one in node.body for inner in ast.walk(one))
        called = node.called if hasattr(node, "called") else node.target.id if isinstance(node.target, ast.Name) else next(
            (name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)), "step"
        )
        iterable = self.visit(node.iter)
        self.loops.append(loop)
        body = [self.visit(one) for one in node.body]
        self.loops.pop()
        flat = [inner for one in body for inner in (one if isinstance(one, list) else [one])]
        orelse = [inner for one in node.orelse for inner in as_list(self.visit(one))]
        about = {"names": names, "watched": watched, "stored": sorted(writes), "fresh": new, "mutated": sorted(mutated)}
        about |= {"shared": sorted(writes & self.shared[-1]), "yields": yields, **self.about(node)}
        start = statement(f"{loop} = _strop_loop(0, {getattr(node, 'place', node.lineno)}, {called!r}, {about!r})")
        start.value.args[0] = iterable
        turn = statements(
            f"if {loop}.symbolic:\n"
            f" [{', '.join(names)}] = {loop}.turn(locals(), globals())\n"
            + "".join(f" if {name} is _strop_unbound: del {name}\n" for name in names)
            + f" if {loop}.done: continue\n"
            f" {item} = {loop}.item\n"
        )
        first = ast.Assign([node.target], ast.Name(item, ast.Load()))
        outer = ast.For(ast.Name(item, ast.Store()), ast.Name(loop, ast.Load()), [*turn, first, *flat], orelse)
        for new in (start, *turn, first, outer):
            placed(new, node, iterable, *flat, *orelse, node.target)
        return [start, outer]

    # ---- branches ----

    def visit_If(self, node):
        """Both sides may have to be traced: what leaves them early cannot."""
        node.test = self._condition(node.test)
        if self.depth and len(node.body) == 1 and isinstance(node.body[0], ast.Raise):
            node.test = _call("_strop_checked(0)", 0, node.test)
        names = stored([*node.body, *node.orelse])
        simple = not any(_leaves_branch(one) for one in [*node.body, *node.orelse])
        if not simple or not self.depth or names & self.shared[-1]:
            test, node.test = node.test, ast.Constant(True)
            node = self.generic_visit(node)
            node.test = test
            return node
        self.count += 1
        made, side = f"_strop_fork_{self.count}", f"_strop_side_{self.count}"
        body = [one for top in node.body for one in as_list(self.visit(top))]
        orelse = [one for top in node.orelse for one in as_list(self.visit(top))]
        names = sorted(names)
        start = statement(f"{made} = _strop_fork(0, {names!r}, locals(), globals())")
        start.value.args[0] = node.test
        turn = statements(
            f"if {made}.both:\n [{', '.join(names)}] = {made}.turn(locals(), globals())\n"
            + "".join(f" if {name} is _strop_unbound: del {name}\n" for name in names)
        )
        chosen = ast.If(ast.Name(side, ast.Load()), body, orelse)
        outer = ast.For(ast.Name(side, ast.Store()), ast.Name(made, ast.Load()), [chosen, *turn], [])
        for new in (start, *turn, chosen, outer):
            placed(new, node, node.test, *body, *orelse)
        return [start, outer]

    def visit_IfExp(self, node):
        node.test = self._condition(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        if not self.depth or binds([node.body, node.orelse]):
            return node
        call = _call("_strop_either(0, 1, 2)", 0, node.test)
        call.args[1], call.args[2] = _later(node.body), _later(node.orelse)
        return ast.copy_location(call, node)

    def _chain(self, node):
        """a < b < c as a < b and b < c, where b may be computed twice."""
        operands = [node.left, *node.comparators]
        if any(isinstance(inner, CALLS) for one in operands[1:-1] for inner in ast.walk(one)):
            return None
        pairs = zip(operands, node.ops, operands[1:])
        tests = [ast.copy_location(ast.Compare(copy.deepcopy(a), [op], [b]), node) for a, op, b in pairs]
        return ast.copy_location(ast.BoolOp(ast.And(), tests), node)

    def visit_BoolOp(self, node):
        """As a value: one of the operands."""
        if not self.depth or binds(node.values):
            return self.generic_visit(node)
        name = "_strop_both_values" if isinstance(node.op, ast.And) else "_strop_any_of_values"
        values = [_later(self.visit(value)) for value in node.values]
        return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), values, []), node)

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        return _call("_strop_not(0)", 0, node.operand) if self.depth and isinstance(node.op, ast.Not) else node

    def _condition(self, node):
        """`and`, `or`, `not` and chains of comparisons within it may be of traced values."""
        if isinstance(node, ast.Compare) and len(node.ops) > 1 and (chain := self._chain(node)) is not None:
            return self._condition(chain)
        if isinstance(node, ast.BoolOp) and not binds(node.values):
            name = "_strop_both" if isinstance(node.op, ast.And) else "_strop_any"
            values = [_later(self._condition(value)) for value in node.values]
            return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), values, []), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _call("_strop_not(0)", 0, self._condition(node.operand))
        return self.visit(node)

    def _loop_while(self, node, body: list, going: str):
        """Steps after a `break` do nothing: the condition may be a traced value."""
        name = f"{going}_item"
        start = _statements_at(f"{going} = True", node)
        target = ast.copy_location(ast.Assign([node.target], placed(ast.Name(name, ast.Load()), node)), node)
        inner = ast.copy_location(ast.If(placed(ast.Name(going, ast.Load()), node), [target, *body], []), node)
        ended = _statements_at(f"if {going} is False: break", node)  # known to be: iterators are not to be used up
        loop = ast.copy_location(ast.For(placed(ast.Name(name, ast.Store()), node), node.iter, [inner, *ended], []), node)
        loop.is_rewritten = True  # type: ignore[attr-defined]
        if isinstance(node.target, ast.Name):
            loop.called = node.target.id  # type: ignore[attr-defined]
        return [*start, *as_list(self.visit_For(loop))]

    def _leaving(self, node, loops):
        how = getattr(node, "called", type(node).__name__.lower())
        checks = [placed(statement(f"{loop}.leave({how!r})"), node) for loop in loops]
        return [*checks, self.generic_visit(node)]

    def visit_Break(self, node):
        return self._leaving(node, [loop for loop in self.loops[-1:] if loop])

    def visit_Return(self, node):
        return self._leaving(node, [loop for loop in self.loops if loop])

    def visit_While(self, node):
        """As it is, and as a loop over a range for the case that the trace cannot decide how often it goes on."""
        self.count += 1
        loop = counted_loop(copy.deepcopy(node), self.count, self.foreign[-1]) if self.depth else None
        plain = self._plain_while(node)
        if loop is None:
            return plain
        counted = [inner for one in loop for inner in as_list(self.visit(one))]
        test = ast.parse(f"_strop_counts({number_of(node)})", mode="eval").body
        return ast.copy_location(ast.If(placed(test, node), counted, [plain]), node)

    def _plain_while(self, node):
        node.test = _call("_strop_goes_on(0)", 0, self.visit(node.test)) if self.depth else self.visit(node.test)
        self.loops.append("")
        node.body = [inner for one in node.body for inner in as_list(self.visit(one))]
        self.loops.pop()
        node.orelse = [inner for one in node.orelse for inner in as_list(self.visit(one))]
        return node

    def visit_Try(self, node):
        """Where an index is out of bounds in some steps only, it depends on the step which way is taken."""
        caught = {name.id for one in node.handlers for name in ast.walk(one.type or ast.Name("Exception"))
                  if isinstance(name, ast.Name)}
        node = self.generic_visit(node)
        for one in node.handlers:
            one.body.insert(0, placed(statement("_strop_caught()"), one.body[0]))
        if node.handlers:
            node.body.insert(0, placed(statement("_strop_trying(1)"), node))
            node.finalbody.append(placed(statement("_strop_trying(-1)"), node))
        if self.loops and caught & {"IndexError", "LookupError", "Exception", "BaseException"}:
            node.body.insert(0, placed(statement("_strop_try()"), node))
        return node

    # ---- comprehensions ----

    def _comprehension(self, node):
        self.generic_visit(node)
        binds = any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))
        if len(node.generators) != 1 or node.generators[0].ifs or node.generators[0].is_async or binds:
            return node
        generator = node.generators[0]
        called = generator.target.id if isinstance(generator.target, ast.Name) else "step"
        self.count += 1
        place = f"({node.lineno}, {node.col_offset})"
        watched = sorted(read([node.elt]))
        walk = f"_strop_each(0, {place}, {called!r}, {self.count}, {watched!r}, locals(), globals())"
        generator.iter = _call(walk, 0, generator.iter)
        node.elt = _call(f"_strop_element({self.count}, 0)", 1, node.elt)
        return _call(f"_strop_collect({self.count}, 0)", 1, node)

    visit_ListComp = visit_GeneratorExp = _comprehension

    def visit_Compare(self, node):
        """A number of a step is a symbol, whose identity says nothing. Chains are several comparisons."""
        if self.depth and len(node.ops) > 1 and not any(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops):
            chain = self._chain(node)
            if chain is not None:
                return self.visit_BoolOp(chain)
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        test = _call("_strop_same(0, 1)", 0, node.left)
        test.args[1] = node.comparators[0]
        return test if isinstance(node.ops[0], ast.Is) else ast.copy_location(ast.UnaryOp(ast.Not(), test), node)

    def visit_Call(self, node):
        _take_all(node, self.locals)
        self.generic_visit(node)
        plain = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and plain:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_strop_sequence", ast.Load()), node)
        return node


NEUTRAL = {"sum": 0, "any": False, "all": True}


def _take_all(node: ast.Call, bound: list[set[str]]):
    """sum(A for x in y if TEST) as sum(A if TEST else 0 for x in y), and the like."""
    inner: Any = node.args[0] if len(node.args) == 1 else None
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    comprehension = isinstance(inner, (ast.GeneratorExp, ast.ListComp)) and len(inner.generators) == 1
    if name not in NEUTRAL or any(name in names for names in bound) or not comprehension or not inner.generators[0].ifs:
        return
    tests, inner.generators[0].ifs = inner.generators[0].ifs, []
    test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), inner)
    nothing = ast.copy_location(ast.Constant(NEUTRAL[name]), inner)
    inner.elt = ast.copy_location(ast.IfExp(test, inner.elt, nothing), inner)


def binds(nodes) -> bool:
    """What a function of its own would change."""
    kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(inner, kinds) for one in nodes for inner in ast.walk(one))


def _later(node):
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(nothing, node), node)


def as_list(node) -> list:
    return node if isinstance(node, list) else [node]


def _call(source: str, place: int, argument):
    call = ast.parse(source, mode="eval").body
    call.args[place] = argument  # type: ignore[attr-defined]
    return placed(call, argument, argument)
