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

GROWS = {"append", "insert", "extend", "reverse"}


def rewritten(source: str, path: str):
    tree = ast.parse(source, path)
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


class Rewriter(ast.NodeTransformer):
    def __init__(self):
        self.count = 0
        self.loops: list[str] = []  # the loops around, within this function
        self.locals: list[set[str]] = [set()]
        self.shared: list[set[str]] = [set()]  # the names that are declared global

    # ---- functions ----

    def _function(self, node):
        arguments = node.args
        names = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a}
        body = node.body if isinstance(node.body, list) else []
        names |= stored(body)
        inner = [one for top in body for one in ast.walk(top)]
        names |= {name for one in inner if isinstance(one, ast.Nonlocal) for name in one.names}
        loops, self.loops = self.loops, []
        self.locals.append(names)
        self.shared.append({name for one in inner if isinstance(one, ast.Global) for name in one.names})
        self.generic_visit(node)
        self.locals.pop()
        self.shared.pop()
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

    def visit_For(self, node):
        self.count += 1
        loop, item = f"_strop_loop_{self.count}", f"_strop_item_{self.count}"
        writes = stored([node.target, *node.body])
        mutated = changed(node.body)
        known = read(node.body) | writes
        names, watched = sorted(writes | (known & self.locals[-1])), sorted(known)
        new = sorted(fresh(node.target, node.body))
        yields = any(isinstance(inner, (ast.Yield, ast.YieldFrom)) for one in node.body for inner in ast.walk(one))
        called = node.target.id if isinstance(node.target, ast.Name) else next(
            (name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)), "step"
        )
        iterable = self.visit(node.iter)
        self.loops.append(loop)
        body = [self.visit(one) for one in node.body]
        self.loops.pop()
        flat = [inner for one in body for inner in (one if isinstance(one, list) else [one])]
        orelse = [inner for one in node.orelse for inner in _as_list(self.visit(one))]
        about = {"names": names, "watched": watched, "stored": sorted(writes), "fresh": new, "mutated": sorted(mutated)}
        about |= {"shared": sorted(writes & self.shared[-1]), "yields": yields}
        start = _statement(f"{loop} = _strop_loop(0, {node.lineno}, {called!r}, {about!r})")
        start.value.args[0] = iterable
        turn = _statements(
            f"if {loop}.symbolic:\n"
            f" [{', '.join(names)}] = {loop}.turn(locals(), globals())\n"
            + "".join(f" if {name} is _strop_unbound: del {name}\n" for name in names)
            + f" if {loop}.done: continue\n"
            f" {item} = {loop}.item\n"
        )
        first = ast.Assign([node.target], ast.Name(item, ast.Load()))
        outer = ast.For(ast.Name(item, ast.Store()), ast.Name(loop, ast.Load()), [*turn, first, *flat], orelse)
        for new in (start, *turn, first, outer):
            _at(new, node, iterable, *flat, *orelse, node.target)
        return [start, outer]

    def _leaving(self, node, loops):
        checks = [_at(_statement(f"{loop}.leave({type(node).__name__.lower()!r})"), node) for loop in loops]
        return [*checks, self.generic_visit(node)]

    def visit_Break(self, node):
        return self._leaving(node, [loop for loop in self.loops[-1:] if loop])

    def visit_Return(self, node):
        return self._leaving(node, [loop for loop in self.loops if loop])

    def visit_While(self, node):
        node.test = self.visit(node.test)
        self.loops.append("")
        node.body = [inner for one in node.body for inner in _as_list(self.visit(one))]
        self.loops.pop()
        node.orelse = [inner for one in node.orelse for inner in _as_list(self.visit(one))]
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
        """A number of a step is a symbol, whose identity says nothing."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        test = _call("_strop_same(0, 1)", 0, node.left)
        test.args[1] = node.comparators[0]
        return test if isinstance(node.ops[0], ast.Is) else ast.copy_location(ast.UnaryOp(ast.Not(), test), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        plain = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and plain:
            node.args.insert(0, node.func)
            node.func = ast.copy_location(ast.Name("_strop_sequence", ast.Load()), node)
        return node


def _as_list(node) -> list:
    return node if isinstance(node, list) else [node]


def _statements(source: str) -> list:
    return ast.parse(source).body


def _statement(source: str):
    return _statements(source)[0]


def _call(source: str, place: int, argument):
    call = ast.parse(source, mode="eval").body
    call.args[place] = argument  # type: ignore[attr-defined]
    return _at(call, argument, argument)


def _at(new, place, *kept):
    """Gives new nodes the place of the loop, and leaves the reference's own theirs."""
    skip = {id(inner) for one in kept for inner in ast.walk(one)}
    for inner in ast.walk(new):
        if id(inner) not in skip:
            for key in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                if "lineno" in inner._attributes:
                    setattr(inner, key, getattr(place, key))
    return new
