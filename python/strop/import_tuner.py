"""What a script of Kernel Tuner tunes, as T1: import_tuner.py SCRIPT.py

The script runs until it calls `tune_kernel`; nothing is tuned. What it imports of Kernel Tuner, and of packages for GPUs
that are not installed, are stand-ins that take any call. `run_kernel` gives its arguments back. Restrictions are texts,
or functions of assignments, `if` and `return`. To standard output goes {"t1": {...}}, or {"error", "hint"}.
"""

from __future__ import annotations

import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import numbers
import os
import sys
import traceback
import types

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # as in trace.py

from strop.import_names import Refusal, answer  # noqa: E402

FORM = "the script has to call kernel_tuner.tune_kernel(name, source, problem_size, arguments, tune_params)"
TUNER = ("kernel_tuner",)  # always stand-ins, the others where they are not installed
OF_GPUS = ("cupy", "pycuda", "pyopencl", "pyhip", "hip", "cuda", "pynvml", "matplotlib", "pandas", "dace")
FIRST = ["kernel_name", "kernel_source", "problem_size", "arguments", "tune_params", "grid_div_x", "grid_div_y", "grid_div_z",
         "restrictions"]


class Called(BaseException):
    """By tune_kernel, with its arguments: BaseException, so that the script's own handlers let it through."""

    def __init__(self, named):
        super().__init__()
        self.named = named


def tune_kernel(*arguments, **named):
    raise Called(dict(zip(FIRST, arguments)) | named)


def run_kernel(_name=None, _source=None, _size=None, arguments=(), *_more, **named):
    return list(named.get("arguments", arguments))


class StandIn(types.ModuleType):
    """Any attribute of it is another one; it can be called and computed with, which gives it again."""

    __path__: list = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")

    def __call__(self, *_arguments, **_named):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        return False

    def __iter__(self):
        return iter(())

    def __mro_entries__(self, _bases):
        return (object,)

    def __getitem__(self, _):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __mod__ = __getitem__


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stand-ins for these packages and their modules."""

    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, fullname, _path=None, _target=None):
        if fullname.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        module = StandIn(spec.name)
        if spec.name.startswith("kernel_tuner"):
            module.__dict__.update(tune_kernel=tune_kernel, run_kernel=run_kernel,
                                   process_directives=lambda *_given, **_named: (StandIn("code"), StandIn("arguments")))
        return module

    def exec_module(self, module):
        pass


def called(path):
    """The arguments of the script's first call of tune_kernel."""
    sys.meta_path.insert(0, Finder(TUNER))
    sys.meta_path.append(Finder(OF_GPUS))
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(path))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    try:
        exec(compile(text, path, "exec"), module.__dict__)  # pylint: disable=exec-used
    except Called as call:
        return call.named
    except SyntaxError as error:
        raise Refusal(f"{path}:{error.lineno}: {error.msg}", FORM) from error
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        said = str(error).strip().splitlines()
        raise Refusal(f"{path}:{lines[-1] if lines else 1}: {type(error).__name__}{': ' + said[0] if said else ''}", FORM) from error
    raise Refusal(f"{path}: does not call tune_kernel", FORM)


# ---- tunables ----------------------------------------------------------------------------------------------


def plain(value):
    """Of NumPy's scalars too: a bool, an int, a float or a text."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return value if isinstance(value, str) else None


def type_of(values):
    kinds = {type(value) for value in values}
    if kinds <= {bool}:
        return "bool"
    if kinds <= {int, bool}:
        return "int"
    return "float" if kinds <= {int, float, bool} else "string"


def tunables(params, path):
    if not isinstance(params, dict) or not params:
        raise Refusal(f"{path}: tune_params is not a dict with lists of values", FORM)
    result = []
    for name, values in params.items():
        try:
            given = list(values)
        except TypeError:
            given = []
        listed = [plain(value) for value in given]
        if not listed:
            raise Refusal(f"{path}: tune_params['{name}'] is not a list of values", FORM)
        if None in listed:
            raise Refusal(f"{path}: tune_params['{name}'] has {given[listed.index(None)]!r} among its values",
                          "values are numbers and texts")
        kind = type_of(listed)
        distinct = list(dict.fromkeys(str(value) if kind == "string" else value for value in listed))
        result.append({"Name": name, "Type": kind, "Values": distinct})
    return result


# ---- restrictions ------------------------------------------------------------------------------------------


class AsExpression(ast.NodeTransformer):
    """What a function of a configuration returns, p["x"] or p.x or x, as an expression of the tunables."""

    def __init__(self, function, names):
        self.names, self.values = names, inspect.getclosurevars(function)
        self.whole = [name for name in inspect.signature(function).parameters if name not in names]

    def visit_Subscript(self, node):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(node.value, ast.Name) and node.value.id in self.whole and key in self.names:
            return ast.Name(key, ast.Load())
        return self.generic_visit(node)

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.whole and node.attr in self.names:
            return ast.Name(node.attr, ast.Load())
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in self.names:
            return node
        value = {**self.values.globals, **self.values.nonlocals}.get(node.id)
        if isinstance(value, (list, tuple, set, range)) and None not in (listed := [plain(one) for one in value]):
            return ast.Tuple([ast.Constant(one) for one in listed], ast.Load())
        return node if plain(value) is None else ast.Constant(plain(value))

    def visit_IfExp(self, node):
        node = self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node


class Numbers(ast.NodeTransformer):
    """Where a number is chosen by a condition: the condition is 1 or 0."""

    def visit_IfExp(self, node):
        node = self.generic_visit(node)
        no = ast.UnaryOp(ast.Not(), node.test)
        return ast.BinOp(ast.BinOp(ast.UnaryOp(ast.Not(), no), ast.Mult(), node.body), ast.Add(),
                         ast.BinOp(no, ast.Mult(), node.orelse))


class Put(ast.NodeTransformer):
    """Expressions in the place of names."""

    def __init__(self, known):
        self.known = known

    def visit_Name(self, node):
        return copy.deepcopy(self.known.get(node.id, node))


def either(test, yes, no):
    """As a truth value: `yes` where the test holds, else `no`."""
    fails = ast.UnaryOp(ast.Not(), test)
    for known, other, meets, result in ((yes, no, fails, test), (no, yes, test, fails)):
        if isinstance(known, ast.Constant) and isinstance(known.value, bool):
            return ast.BoolOp(ast.Or(), [result, other]) if known.value else ast.BoolOp(ast.And(), [meets, other])
    return ast.BoolOp(ast.Or(), [ast.BoolOp(ast.And(), [test, yes]), ast.BoolOp(ast.And(), [fails, no])])


def truth(node):
    """The same where only truth counts: no `a if c else b`."""
    if isinstance(node, ast.IfExp):
        return either(truth(node.test), truth(node.body), truth(node.orelse))
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(node.op, [truth(value) for value in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.UnaryOp(node.op, truth(node.operand))
    return node


def returned(statements, known):
    """What they return as one expression: variables are put in their place, `if` makes a choice. None: there are others."""
    for place, one in enumerate(statements):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
            continue
        if isinstance(one, ast.Return):
            return Put(known).visit(copy.deepcopy(one.value or ast.Constant(False)))
        if isinstance(one, ast.If):
            rest = statements[place + 1:]
            yes, no = returned(one.body + rest, known), returned(one.orelse + rest, known)
            return yes and no and ast.IfExp(Put(known).visit(copy.deepcopy(one.test)), yes, no)
        if not isinstance(one, ast.Assign) or len(one.targets) != 1:
            return None
        pairs = [(one.targets[0], one.value)]
        if isinstance(one.targets[0], ast.Tuple) and isinstance(one.value, ast.Tuple):
            pairs = list(zip(one.targets[0].elts, one.value.elts))
        if not all(isinstance(target, ast.Name) for target, _ in pairs):
            return None
        known = known | {target.id: Put(known).visit(copy.deepcopy(value)) for target, value in pairs}
    return ast.Constant(False)


def where(node):
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def body_of(function):
    """The expression that a function returns, as a tree; None where it is not one."""
    code = function.__code__
    with open(code.co_filename, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name and node.lineno == code.co_firstlineno:
            return returned(node.body, {})
    # Of lambdas in one line, the one that all of its code lies in.
    places = [((line, column), (end_line, end)) for line, end_line, column, end in code.co_positions()
              if end_line is not None and end and (line, column) != (code.co_firstlineno, 0)]
    around = [node.body for node in ast.walk(tree) if isinstance(node, ast.Lambda) and places
              and where(node)[0] <= min(begin for begin, _ in places) and max(end for _, end in places) <= where(node)[1]]
    return around[-1] if around else None


def conditions(restrictions, names, path):
    if restrictions is None:
        return []
    listed = restrictions if isinstance(restrictions, (list, tuple)) else [restrictions]
    result = []
    for one in listed:
        text = one if isinstance(one, str) else None
        if isinstance(one, types.FunctionType):
            body = body_of(one)
            body = body and Numbers().visit(truth(AsExpression(one, names).visit(body)))
            text = body and ast.unparse(ast.fix_missing_locations(body))
        if not text:
            place = f"{path}:{one.__code__.co_firstlineno}" if isinstance(one, types.FunctionType) else path
            raise Refusal(f"{place}: a restriction that is not an expression", 'write it as a text: "block_size_x * tile <= 1024"')
        used = sorted({node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)} & set(names))
        result.append({"Expression": " ".join(text.split()), "Parameters": used})
    return result


def import_tuner(path):
    call = called(path)
    parameters = tunables(call.get("tune_params"), path)
    name, size = call.get("kernel_name"), call.get("problem_size")
    sizes = [plain(one) for one in (size if isinstance(size, (list, tuple)) else [size])]
    specification = {"KernelName": str(name)}
    if sizes and all(isinstance(one, int) for one in sizes):
        specification["ProblemSize"] = sizes
    space = {"TuningParameters": parameters,
             "Conditions": conditions(call.get("restrictions"), [one["Name"] for one in parameters], path)}
    return {"t1": {"General": {"BenchmarkName": str(name), "FormatVersion": 1}, "ConfigurationSpace": space,
                   "KernelSpecification": specification}}


if __name__ == "__main__":
    script = os.path.abspath(sys.argv[1])
    sys.exit(answer(lambda: import_tuner(script)))
