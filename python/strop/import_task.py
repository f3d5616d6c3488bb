"""A task of GPU MODE as a problem: import_task.py FOLDER, with its cases (a list of {name: value}) on standard input.

FOLDER has reference.py with `generate_input(**case)` and `ref_kernel(data)`. They are run on the processor, whatever
device they name. Of the modules that the task's evaluator brings (`task`, `utils`) only names are needed, and any name
is there. What generate_input returns, a tensor or a tuple, becomes the inputs; the sweep is the task's cases.
To standard output goes {"name", "files": {name: text}, "notes": [...]}, or {"error", "hint"}.
"""

from __future__ import annotations

import json
import os
import sys
import types
import warnings

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # as in trace.py

import torch  # noqa: E402

from strop import import_file  # noqa: E402
from strop.import_file import blaming  # noqa: E402
from strop.import_names import Refusal, answer, problem_name  # noqa: E402

FORM = "the folder needs reference.py with generate_input(**case) and ref_kernel(data), and task.yml with tests"
MOST_POINTS = 8

# What original.py of the problem begins with: the reference, on the processor. Its source is changed once, so that PyTorch's
# baseline runs as fast as if it had been written so.
ADAPTER = '''"""ref_kernel of task_reference.py as a module, on the processor."""

import ast
import os
import sys
import types

import torch


class _Name:
    """Is called, decorates and is a context, and does nothing."""

    def __call__(self, *arguments, **named):
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) and not named else self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class _Names(types.ModuleType):
    """Whatever the evaluator's modules have: only names are needed."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name()


def _moved(value):
    if isinstance(value, torch.device) or (isinstance(value, str) and value.split(":")[0] in ("cuda", "hip")):
        return "cpu"
    return value


class _ForProcessor(ast.NodeTransformer):
    def visit_Constant(self, node):
        device = isinstance(node.value, str) and node.value.split(":")[0] in ("cuda", "hip")
        return ast.copy_location(ast.Constant("cpu"), node) if device else node

    def visit_Call(self, node):
        self.generic_visit(node)
        return node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" else node


class OnProcessor(torch.overrides.TorchFunctionMode):
    """For generate_input, whose devices may come from its arguments."""

    def __torch_function__(self, function, types_, arguments=(), named=None):
        if getattr(function, "__name__", "") == "cuda":
            return arguments[0]
        named = {name: _moved(value) for name, value in (named or {}).items()}
        return function(*[_moved(value) for value in arguments], **named)


def _load():
    for name in ("task", "utils"):
        sys.modules[name] = _Names(name)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "task_reference.py")
    with open(path, encoding="utf-8") as file:
        tree = ast.fix_missing_locations(_ForProcessor().visit(ast.parse(file.read(), path)))
    module = types.ModuleType("task_reference")
    module.__file__ = path
    sys.modules["task_reference"] = module  # dataclasses look for theirs
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


TASK = _load()


def inputs_of(case):
    """What generate_input gives, as a list."""
    made = torch.Generator
    torch.Generator = lambda device=None: made()
    try:
        with OnProcessor():
            data = TASK.generate_input(**case)
    finally:
        torch.Generator = made
    return list(data) if isinstance(data, (tuple, list)) else [data]


class Model(torch.nn.Module):
    def forward(self, *data):
@cloned@        result = TASK.ref_kernel(data if @several@ else data[0])
@tied@        return tuple(result) if isinstance(result, list) else result


def get_inputs():
    return inputs_of(@case@)
'''


class CasesOf:
    """The sweep: the extents that the task's cases give to the dimensions."""

    def __init__(self, module, cases, path):
        self.module, self.cases, self.path = module, cases, path

    def points(self, dimensions):
        points: dict[str, dict] = {}
        left_out = []
        for case in self.cases:
            with blaming(self.path, "generate_input raises ", FORM):
                values = [v for v in self.module.inputs_of(case) if isinstance(v, torch.Tensor)]
            dims = dimensions.dims_at([value.shape for value in values])
            label = "_".join(str(v) for n, v in case.items() if n != "seed" and isinstance(v, int)) or str(len(points))
            if dims is None:
                left_out.append(label)
            elif dims not in points.values() and len(points) < MOST_POINTS:
                points[label if label not in points else f"{label}_{len(points)}"] = dims
        if left_out:
            dimensions.imported.notes.append(f"the cases {', '.join(left_out)} are left out: they differ in an extent that "
                                             "does not vary here")
        dimensions.include(points)
        return points or {"file": dict(dimensions.values)}



def largest_input(module, cases, path):
    """The case with most elements: dimensions may shrink from there."""
    def elements(case):
        with blaming(path, "generate_input raises ", FORM):
            return sum(v.numel() for v in module.inputs_of(case) if isinstance(v, torch.Tensor))
    return max(cases, key=elements)


def tensors_of(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def says_nothing(module, data, place, wanted) -> bool:
    """Whether the result is the same with other values in that input: room for a result, which submissions may write to."""
    other = [value.clone() if isinstance(value, torch.Tensor) else value for value in data]
    other[place] = torch.full_like(other[place], float("nan") if other[place].is_floating_point() else 1)
    try:
        result = tensors_of(module.TASK.ref_kernel(tuple(other)))
    except Exception:  # pylint: disable=broad-exception-caught  # it looks at the values
        return False
    return all(torch.equal(one, value) for one, value in zip(result, wanted))


def run_once(module, case, path) -> tuple[list[int], list[int]]:
    """On the processor, with results of types that are known; which inputs the reference writes to, as to an output that it
    is given, and which are only room for a result."""
    with blaming(path, "generate_input raises ", FORM):
        data = module.inputs_of(case)
    before = [value.clone() if isinstance(value, torch.Tensor) else value for value in data]
    with blaming(path, "on the processor, ref_kernel raises ",
                  "what only a GPU has cannot be the reference of a problem for the processor"):
        result = module.TASK.ref_kernel(tuple(data) if len(data) > 1 else data[0])
    results = tensors_of(result)
    for one in results:
        dtype = str(getattr(one, "dtype", type(one).__name__)).removeprefix("torch.")
        if dtype not in (*import_file.DTYPES, *import_file.HALVES):
            raise Refusal(f"{path}: ref_kernel returns {dtype}", FORM)
    shapes = [(one.shape, one.dtype) for one in results]
    wanted = [one.clone() for one in results]
    tensors = {place: value for place, value in enumerate(data) if isinstance(value, torch.Tensor)}
    written = [place for place, value in tensors.items()
               if not torch.equal(value.nan_to_num(), before[place].nan_to_num())]
    room = [place for place, value in tensors.items() if place not in written and len(data) > 1
            and (value.shape, value.dtype) in shapes and says_nothing(module, before, place, wanted)]
    return written, room


def load_adapter(folder, text):
    module = types.ModuleType("original")
    module.__file__ = os.path.join(folder, "original.py")
    path = os.path.join(folder, "reference.py")
    with blaming(path, "", FORM):
        exec(compile(text, module.__file__, "exec"), module.__dict__)  # pylint: disable=exec-used
    for name in ("generate_input", "ref_kernel"):
        if not callable(getattr(module.TASK, name, None)):
            raise Refusal(f"{path}: no function '{name}'", FORM)
    return module


def import_task(folder: str, cases: list) -> dict:
    path = os.path.join(folder, "reference.py")
    with open(path, encoding="utf-8") as file:
        theirs = file.read()
    draft = ADAPTER.replace('"task_reference.py"', '"reference.py"')
    module = load_adapter(folder, draft.replace("@cloned@", "").replace("@tied@", "").replace("@several@", "True").replace("@case@", "{}"))
    case = largest_input(module, cases, path)
    with blaming(path, "generate_input raises ", FORM):
        several = len(module.inputs_of(case)) > 1
    written, room = run_once(module, case, path)
    cloned = tied = ""
    if written + room:
        cloned = f"        data = tuple(one.clone() if i in {written + room} else one for i, one in enumerate(data))\n"
    if room:  # of the result's shape, though no operation says so
        tied = ("        shapes = [one.shape for one in (result if isinstance(result, (tuple, list)) else [result])]\n"
                f"        assert all(data[i].shape in shapes for i in {room})\n")
    fields = {"@cloned@": cloned, "@tied@": tied, "@several@": repr(several), "@case@": repr(case)}
    final = ADAPTER
    for key, value in fields.items():
        draft, final = draft.replace(key, value), final.replace(key, value)
    import_file.load = lambda _: sys.modules.setdefault("original", load_adapter(folder, draft))  # type: ignore[assignment]
    import_file.problem_name = lambda _: problem_name(os.path.basename(folder))  # type: ignore[assignment]
    sweep = CasesOf(module, cases, path)
    import_file.Dimensions.points = lambda dimensions: sweep.points(dimensions)  # type: ignore # pylint: disable=unnecessary-lambda
    result = import_file.import_file(path)
    del result["files"]["module.py"]  # a task has no module to take the place of
    result["files"] |= {"original.py": final, "task_reference.py": theirs}
    return result


def main(arguments) -> int:
    warnings.simplefilter("ignore")
    return answer(lambda: import_task(os.path.abspath(arguments[0]), json.load(sys.stdin)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
