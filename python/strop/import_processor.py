"""Sources that were written for a GPU, made to run on the processor: devices in their text, modules that are not there.

Needs no PyTorch.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import sys
import types

DEVICE = re.compile(r"(cuda|hip)(:\d*)?")
TO_DEVICE = ("cuda", "pin_memory")  # methods of tensors and modules that are left out


class _Edits(ast.NodeVisitor):
    """(begin, end, text) for each place that names a device; begin and end are (line, byte)."""

    def __init__(self):
        self.found: list[tuple[tuple[int, int], tuple[int, int], str]] = []

    def replace(self, begin, end, text):
        self.found.append((begin, end, text))

    @staticmethod
    def begin(node):
        return node.lineno, node.col_offset

    @staticmethod
    def end(node):
        return node.end_lineno, node.end_col_offset

    def visit_Constant(self, node):
        if isinstance(node.value, str) and DEVICE.fullmatch(node.value):
            self.replace(self.begin(node), self.end(node), '"cpu"')

    def visit_JoinedStr(self, node):
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and DEVICE.fullmatch(str(first.value)):
            self.replace(self.begin(node), self.end(node), '"cpu"')

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr == "is_cuda":
            self.replace(self.end(node.value), self.end(node), ".is_cpu")
        elif node.attr == "cuda" and isinstance(node.value, ast.Name) and node.value.id == "torch":
            self.replace(self.begin(node), self.end(node), '__import__("on_processor").cuda')

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name == "get_active_torch_device":
            self.replace(self.begin(node), self.end(node), '__import__("torch").device("cpu")')
        elif name in TO_DEVICE:
            self.visit(node.func.value)
            self.replace(self.end(node.func.value), self.end(node), "")
        else:
            self.generic_visit(node)


def lines_of(source: str) -> list[str]:
    """As Python counts them; str.splitlines() also ends lines at form feeds."""
    return io.StringIO(source).readlines()


def for_processor(source: str) -> str:
    """The source with the processor for every device; all else, comments and lines, stays."""
    edits = _Edits()
    edits.visit(ast.parse(source))
    lines = [line.encode() for line in lines_of(source)]
    for (first, begin), (last, end), text in sorted(edits.found, reverse=True):
        # what spans lines keeps their number, so that messages name the user's own
        kept = b"\\\n" * (last - first)
        lines[first - 1:last] = [lines[first - 1][:begin] + text.encode() + kept + lines[last - 1][end:]]
        if last > first:
            lines[first - 1:first] = io.BytesIO(lines[first - 1]).readlines()
    return b"".join(lines).decode()


# ---- modules that are not installed ------------------------------------------------------------------------


class Needed(BaseException):
    """What runs needs something that is not installed. No `except Exception` of the user's takes it for an error."""


class Absent(types.ModuleType):
    """A module that is not installed, and all that is in it. While a source is loaded it decorates and is called; once
    `strict`, whoever calls it is told."""

    strict = False

    def __init__(self, name, *_):
        super().__init__(str(name))

    def __getattr__(self, name):
        if name == "__version__":
            return "3.0.0"
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __call__(self, *arguments, **named):
        if Absent.strict:
            raise Needed(self.__name__)
        function = arguments[0] if len(arguments) == 1 and not named else None
        return Absent(getattr(function, "__name__", self.__name__))

    def __getitem__(self, _):
        return self

    def __mro_entries__(self, _):
        return ()


def missing_modules(tree: ast.AST) -> list[str]:
    """Those that a source imports and that are not installed, unless it tries to."""
    tried = {id(node) for one in ast.walk(tree) if isinstance(one, ast.Try) for node in ast.walk(one)}
    names: dict[str, None] = {}
    for node in ast.walk(tree):
        if id(node) in tried:
            continue
        if isinstance(node, ast.Import):
            names |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names[node.module or "the folder"] = None
    return [name for name in names if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    if name == "on_processor":
        return True
    try:
        return importlib.util.find_spec(name.split(".")[0]) is not None
    except (ImportError, ValueError):
        return False


class Absences:
    """Stands in for missing modules while a source runs; they are gone afterwards, since PyTorch asks for some itself."""

    def __init__(self, names: list[str]):
        self.names = {".".join(name.split(".")[:i + 1]) for name in names for i in range(name.count(".") + 1)}

    def __enter__(self):
        for name in sorted(self.names):
            module = Absent(name)
            module.__path__ = []  # type: ignore[attr-defined]  # a package, so that parts of it are imported
            sys.modules[name] = module
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, module)
        if "triton" in self.names:
            triton = sys.modules["triton"]
            triton.cdiv = lambda a, b: -(-a // b)  # type: ignore[attr-defined]
            triton.next_power_of_2 = lambda n: 1 << max(0, n - 1).bit_length()  # type: ignore[attr-defined]
        return self

    def __exit__(self, *_):
        Absent.strict = False
        for name in self.names:
            sys.modules.pop(name, None)
