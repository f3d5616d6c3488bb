"""An operator's file of TritonBench, run: what its test calls the operator with.

Above a line of many '#' stand Triton's kernels and a function that launches them, or a function in PyTorch; below it a
function `test_...` that makes inputs and calls it in several cases, and a call of that. The test runs on the processor.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from strop import on_processor
from strop.import_file import blaming, first_line, place
from strop.import_names import Refusal
from strop.import_processor import Absences, Absent, Needed, for_processor, lines_of, missing_modules

SEPARATOR = re.compile(r"^#{20,}[ \t]*$", re.M)
FORM = "the file needs an operator, a line of '#', and below it test_...() that calls the operator on tensors"
REFERENCE_FORM = "the function that --reference names takes the operator's arguments, and the test has to work with it"
JIT = ("jit", "autotune", "heuristics")
REFERENCE = "name a PyTorch or NumPy function of the same arguments: strop import FILE DIR --reference FILE.py:FUNCTION"


@dataclass
class Argument:
    name: str
    value: object
    keyword: bool


@dataclass
class Call:
    """One case: arguments as they were before it, which it changed, what it returned, or else made of those."""

    arguments: list[Argument]
    results: list[torch.Tensor] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    returns: bool = True
    seconds: float = 0

    def tensors(self) -> dict[str, torch.Tensor]:
        return {one.name: one.value for one in self.arguments if isinstance(one.value, torch.Tensor)}


class OperatorFile:
    """Its two parts, for the processor, and what is in them."""

    def __init__(self, path: str):
        self.path = path
        with open(path, encoding="utf-8-sig") as file:
            self.source = file.read()
        tree = ast.parse(self.source)
        tests = tests_of(self.source, tree)
        self.tests = [node.name for node in tests]
        lines = [self.source.count("\n", 0, match.start()) + 1 for match in SEPARATOR.finditer(self.source)]
        self.line = max(line for line in lines if line < tests[0].lineno)
        self.head = for_processor("".join(lines_of(self.source)[:self.line - 1]).rstrip() + "\n")
        self.moved = ast.parse(for_processor(self.source))
        self.missing = missing_modules(ast.parse(self.head))
        self.missing_in_test = [name for name in missing_modules(self.moved) if name not in self.missing]
        self.kernels = [node.name for node in self.head_nodes() if isinstance(node, ast.FunctionDef) and is_kernel(node)]

    def head_nodes(self) -> list[ast.stmt]:
        return [node for node in self.moved.body if node.lineno < self.line]

    def test_nodes(self) -> list[ast.stmt]:
        return [node for node in self.moved.body if node.lineno > self.line]

    def launchers(self) -> set[str]:
        """Names of the head from which a kernel is reached."""
        reached = set(self.kernels)
        uses = {name: names_read(node) for node in self.head_nodes() for name in names_defined(node)}
        grows = True
        while grows:
            more = {name for name, read in uses.items() if read & reached} - reached
            reached |= more
            grows = bool(more)
        return reached - set(self.kernels)

    def used_by_test(self) -> list[str]:
        defined = {name for node in self.head_nodes() for name in names_defined(node)}
        read = [one.id for node in self.test_nodes() for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
        return list(dict.fromkeys(name for name in read if name in defined))

    def operators(self) -> list[str]:
        """What the test calls: of a file with kernels those that launch some."""
        used = self.used_by_test()
        direct = [name for name in used if name in self.kernels]
        if direct:
            raise Refusal(f"{self.path}: the test launches the kernel '{direct[0]}' itself", FORM)
        launching = [name for name in used if name in self.launchers()]
        return launching or used


def tests_of(source: str, tree: ast.Module) -> list[ast.FunctionDef]:
    """Test functions behind the first separator, unless the file has a module of KernelBench's."""
    first = SEPARATOR.search(source)
    if not first or any(isinstance(node, ast.ClassDef) and node.name == "Model" for node in tree.body):
        return []
    line = source.count("\n", 0, first.start()) + 1
    return [node for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test") and node.lineno > line]


def is_operator_file(path: str) -> bool:
    try:
        with open(path, encoding="utf-8-sig") as file:
            source = file.read()
        return bool(tests_of(source, ast.parse(source)))
    except (SyntaxError, ValueError):
        return False


def names_defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def names_read(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def is_kernel(node: ast.FunctionDef) -> bool:
    words = {getattr(one, "attr", getattr(one, "id", "")) for mark in node.decorator_list for one in ast.walk(mark)}
    return bool(words & set(JIT))


# ---- running it ------------------------------------------------------------------------------------------------


class Recorder:
    """Stands in the operator's place: calls `function` and keeps what it was called with."""

    def __init__(self, name: str, operator, function):
        self.__name__, self.operator, self.function = name, operator, function
        self.calls: list[Call] = []
        self.busy = self.lacking = False

    def names(self, arguments, named) -> list[str]:
        owner = getattr(self.operator, "__self__", self.operator)
        is_autograd = isinstance(owner, type) and issubclass(owner, torch.autograd.Function)
        try:
            described = owner.forward if is_autograd else self.operator
            parameters = list(inspect.signature(described).parameters.values())[is_autograd:]  # without ctx
        except (TypeError, ValueError):
            parameters = []
        plain = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        return [plain[i] if i < len(plain) else f"x{i}" for i in range(len(arguments))] + list(named)

    def __call__(self, *arguments, **named):
        if self.busy:  # it calls itself
            return self.function(*arguments, **named)
        values = [*arguments, *named.values()]
        kept = [Argument(name, value.detach().clone() if isinstance(value, torch.Tensor) else value, i >= len(arguments))
                for i, (name, value) in enumerate(zip(self.names(arguments, named), values))]
        call = Call(kept)
        self.busy, begin = True, time.monotonic()
        try:
            result = self.function(*arguments, **named)
        except Needed:
            self.lacking = True
            return Absent(self.__name__)  # an operator beside the one that has a reference
        finally:
            self.busy = False
        call.seconds = time.monotonic() - begin
        call.changed = [one.name for one, value in zip(kept, values)
                        if isinstance(value, torch.Tensor) and differ(one.value, value.detach())]
        call.returns = result is not None
        given = result if isinstance(result, (tuple, list)) else [result]
        if not call.returns:
            given = [value for one, value in zip(kept, values) if one.name in call.changed]
        call.results = [one.detach().clone() if isinstance(one, torch.Tensor) else one for one in given]
        self.calls.append(call)
        return result

    apply = __call__  # of a torch.autograd.Function


def differ(before, after) -> bool:
    return not torch.equal(torch.nan_to_num(before), torch.nan_to_num(after))


@dataclass
class Recording:
    file: OperatorFile
    operator: str  # as it is called: NAME, or NAME.apply
    calls: list[Call]
    function: Callable  # what the recorder called
    notes: list[str]


def record(file: OperatorFile, reference=None) -> Recording:
    """Runs the test with a recorder for each operator, which calls the reference where there is one."""
    module = types.ModuleType("operator_source")
    module.__file__ = file.path
    sys.modules |= {"operator_source": module, "on_processor": on_processor}
    names = file.operators()
    notes: list[str] = []
    with Absences(file.missing + file.missing_in_test):
        torch.manual_seed(42)
        with blaming(file.path, "", "the file has to stand by itself"):
            execute(file.head_nodes(), file.path, module)
        recorders: dict[str, Recorder] = {}
        for name in names:
            value = module.__dict__.get(name)
            if isinstance(value, type) and not issubclass(value, torch.autograd.Function):
                raise Refusal(f"{file.path}: the test uses the class '{name}'", "an operator is a function: " + FORM)
            if callable(value):
                function = reference if reference and not recorders else getattr(value, "apply", value)
                recorders[name] = Recorder(name, value, function)
        theirs = {name: module.__dict__[name] for name in recorders}
        Absent.strict = True
        module.__dict__.update(recorders)
        run_test(file, module, recorders, notes, REFERENCE_FORM if reference else REFERENCE if file.kernels else FORM)
        module.__dict__.update(theirs)
    called = [name for name, recorder in recorders.items() if recorder.calls]
    if not called:
        raise Refusal(f"{file.path}: {file.tests[0]}() calls no function from above the line of '#'", FORM)
    first = next(iter(recorders)) if reference else called[0]
    if first not in called:
        raise Refusal(f"{file.path}: {file.tests[0]}() does not call '{first}'", FORM)
    others = [name for name, recorder in recorders.items() if name != first and (recorder.calls or recorder.lacking)]
    if others:
        notes.append(f"only '{first}' is imported: the test also calls {', '.join(others)}")
    if any(getattr(one, "attr", "") == "backward" for node in file.test_nodes() for one in ast.walk(node)):
        notes.append("the test's backward passes are not imported")
    called_as = f"{first}.apply" if isinstance(theirs[first], type) else first
    return Recording(file, called_as, recorders[first].calls, recorders[first].function, notes)


def execute(nodes: list[ast.stmt], path: str, module: types.ModuleType):
    # pylint: disable-next=exec-used
    exec(compile(ast.Module(nodes, type_ignores=[]), path, "exec"), module.__dict__)


def run_test(file: OperatorFile, module: types.ModuleType, recorders: dict[str, Recorder], notes: list[str],
             hint: str):
    """A test that fails on the way has given the cases up to there."""
    def recorded():
        return any(recorder.calls for recorder in recorders.values())
    try:
        execute(file.test_nodes(), file.path, module)
        for name in file.tests if not recorded() else []:
            module.__dict__[name]()
    except (Exception, SystemExit, Needed) as error:
        what = f"needs '{error}', which is not here" if isinstance(error, Needed) else f"raises {first_line(error)}"
        if not recorded():
            raise Refusal(f"{place(error, file.path)}: {file.tests[0]}() {what}", hint) from error
        line = place(error, file.path).rpartition(":")[2]
        notes.append(f"the test ended at line {line}, where it {what}: later cases are missing")


def reference_module(spec: str):
    """(its text, the function's name, the function) of FILE.py:FUNCTION."""
    path, _, name = spec.rpartition(":")
    if not path or not name.isidentifier():
        raise Refusal(f"--reference {spec}: is no FILE.py:FUNCTION", "for example --reference softmax.py:softmax")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no text"
        raise Refusal(f"--reference {path}: {reason}", "name a Python file") from error
    path = os.path.abspath(path)
    module = types.ModuleType("given_reference")
    module.__file__ = path
    sys.modules["given_reference"] = module
    with blaming(path, "", "the file has to stand by itself: only PyTorch, NumPy and the standard library are there"):
        exec(compile(text, path, "exec"), module.__dict__)  # pylint: disable=exec-used
    if not callable(getattr(module, name, None)):
        raise Refusal(f"{path}: no function '{name}'", "--reference FILE.py:FUNCTION names a function of that file")
    return text, name, getattr(module, name)
