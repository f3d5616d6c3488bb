"""An operator's file of TritonBench as a problem; import_file.py finds such files out and calls this.

The cases of its test (import_record.py) that differ in extents only are the sweep. The reference is the operator itself
where it is written in PyTorch or where Triton is installed, whose interpreter runs kernels on the processor; else the
function that `--reference FILE.py:FUNCTION` names.
"""

from __future__ import annotations

import importlib
import math
import os
import re
import sys
import types

import numpy as np
import torch

from strop import import_file
from strop.import_dimensions import LETTERS
from strop.import_file import HALVES, blaming, check_input
from strop.import_names import Names, Refusal, problem_name
from strop.import_record import REFERENCE, Argument, Call, OperatorFile, Recording, record, reference_module
from strop.import_text import tensor_text, value_of_fill

MOST_POINTS = 8
PLAIN = (bool, int, float, str, type(None), torch.dtype)


class Source:
    """Where the reference comes from: a module of the problem's folder and its function."""

    def __init__(self, file: OperatorFile, spec: str):
        self.files: dict[str, str] = {}
        self.module = "given_reference" if spec else "operator_source"
        self.interpreted = False
        self.takes_arrays = False
        if spec:
            text, self.name, self.function = reference_module(spec)
            imported = {line.split()[1].split(".")[0] for line in text.splitlines() if re.match(r"(import|from)\s+\w", line)}
            self.takes_arrays = "numpy" in imported and "torch" not in imported
        else:
            text, self.name, self.function = file.head, "", None
            self.interpreted = bool(file.kernels)
            for helper, is_needed in (("on_processor.py", "on_processor" in text), ("interpreted.py", self.interpreted)):
                if is_needed:
                    self.files[helper] = own_text(helper)
        self.files[self.module + ".py"] = text

    def called_with(self):
        """What the recorder calls: tensors become arrays, and back, for a function over arrays."""
        return on_arrays(self.function) if self.takes_arrays else self.function


def own_text(name: str) -> str:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read()


def on_arrays(function):
    def array(value):
        if not isinstance(value, torch.Tensor):
            return value
        half = str(value.dtype).removeprefix("torch.") in HALVES
        return (value.detach().float() if half else value.detach()).numpy()

    def called(*arguments, **named):
        result = function(*map(array, arguments), **{name: array(value) for name, value in named.items()})
        results = [torch.from_numpy(np.ascontiguousarray(one)) for one in (result if isinstance(result, tuple) else [result])]
        return tuple(results) if isinstance(result, tuple) else results[0]

    return called


# ---- which cases are one problem ---------------------------------------------------------------------------------


def form_of(call: Call):
    """What cases of one problem have in common."""
    def what(value):
        return (str(value.dtype), value.ndim) if isinstance(value, torch.Tensor) else repr(value)
    return tuple((one.name, what(one.value), one.keyword) for one in call.arguments), tuple(call.changed)


def shapes_of(call: Call):
    return tuple(tuple(value.shape) for value in call.tensors().values())


def chosen(recording: Recording) -> list[Call]:
    """The largest group of cases that differ in extents only, one of each shape."""
    groups: dict = {}
    derive(recording.calls)
    for call in usable(recording):
        groups.setdefault(form_of(call), {}).setdefault(shapes_of(call), call)
    most = max(len(group) for group in groups.values())
    form = next(form for form, group in groups.items() if len(group) == most)
    if len(groups) > 1:
        left = sorted({name for other in groups if other != form for name in differing(form[0], other[0])})
        count = sum(len(group) for other, group in groups.items() if other != form)
        recording.notes.append(f"left out: {count} of {count + most} cases, which differ in "
                               f"{', '.join(left) or 'what is changed in place'}")
    return list(groups[form].values())[:MOST_POINTS]


def differing(form, other) -> set[str]:
    return {name for name, *_ in set(form) ^ set(other)}


def usable(recording: Recording) -> list[Call]:
    found, refused = [], []
    for call in recording.calls:
        try:
            check_call(call, recording.file.path, recording.operator)
            found.append(call)
        except Refusal as refusal:
            refused.append(refusal)
    if not found:
        raise refused[0]
    recording.notes += [f"left out: a case: {str(one).removeprefix(recording.file.path + ': ')}" for one in refused]
    return found


class Derived:
    """An integer that is an extent, or the number of elements, of a tensor in every case: it varies with the shape."""

    def __init__(self, name: str, axis: int | None):
        self.name, self.axis = name, axis

    def __repr__(self):
        return f"of {self.name} {self.axis}"

    def of(self, call: Call) -> int:
        tensor = call.tensors().get(self.name)
        if tensor is None or (self.axis is not None and self.axis >= tensor.ndim):
            return -1
        return tensor.numel() if self.axis is None else tensor.shape[self.axis]

    def text(self, name: str, of_arrays: bool) -> str:
        return f"{name}.shape[{self.axis}]" if self.axis is not None else f"{name}.size" if of_arrays else f"{name}.numel()"


def derive(calls: list[Call]):
    """Of integers that differ between the cases, those that follow from a shape in all of them."""
    candidates = [Derived(name, axis) for name, value in calls[0].tensors().items() for axis in (None, *range(value.ndim))]
    for place, argument in enumerate(calls[0].arguments):
        same = [call.arguments[place] for call in calls
                if place < len(call.arguments) and call.arguments[place].name == argument.name]
        values = [one.value for one in same]
        if len(same) < len(calls) or not all(type(value) is int for value in values) or len(set(values)) == 1:
            continue
        found = next((one for one in candidates if [one.of(call) for call in calls] == values), None)
        for one in same if found else []:
            one.value = found


def check_call(call: Call, path: str, operator: str):
    for one in call.arguments:
        what = f"{path}: {operator}'s argument '{one.name}'"
        if isinstance(one.value, torch.Tensor):
            check_input(one.value, what)
        elif not is_plain(one.value):
            kind = type(one.value).__name__ + (" of tensors" if isinstance(one.value, (list, tuple)) else "")
            raise Refusal(f"{what} is a {kind}", "arguments are tensors, numbers, strings, dtypes or None")
    if not call.tensors():
        raise Refusal(f"{path}: {operator} is called with no tensor", "there has to be something to compute on")
    if not call.results:
        raise Refusal(f"{path}: {operator} returns nothing and changes none of its arguments", REFERENCE)
    for one in call.results:
        if not isinstance(one, torch.Tensor):
            raise Refusal(f"{path}: {operator} returns a {type(one).__name__}", "it has to return tensors, one or a tuple")
        check_input(one, f"{path}: what {operator} returns")


def is_plain(value) -> bool:
    if isinstance(value, (tuple, list)):
        return all(is_plain(one) for one in value)
    return isinstance(value, (*PLAIN, torch.device, Derived))


def literal(value) -> str:
    if isinstance(value, (tuple, list)):
        inner = ", ".join(literal(one) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, torch.device):
        return '"cpu"'
    return repr(value) if not isinstance(value, float) or math.isfinite(value) else f'float("{value}")'


# ---- the reference's text ----------------------------------------------------------------------------------------


def names_of(call: Call, taken: Names) -> dict[str, str]:
    return {name: taken.take(name) for name in call.tensors()}


def call_text(call: Call, function: str, names: dict[str, str], indent: str, of_arrays=False) -> str:
    """Lines that call the function as the test does; what it changes in place is cloned before."""
    lines = [f"{names[name]} = {names[name]}.{'copy' if of_arrays else 'clone'}()" for name in call.changed]

    def word(one: Argument) -> str:
        if isinstance(one.value, Derived):
            value = one.value.text(names[one.value.name], of_arrays)
        else:
            value = names.get(one.name) or literal(one.value)
        return f"{one.name}={value}" if one.keyword else value

    words = ", ".join(word(one) for one in call.arguments)
    if call.returns:
        lines += [f"result = {function}({words})", "return tuple(result) if isinstance(result, list) else result"]
    else:
        lines += [f"{function}({words})", f"return {', '.join(names[name] for name in call.changed)}"]
    return "".join(f"{indent}{line}\n" for line in lines)


MODULE = '''"""{name}, as the test of the operator's file calls it."""

import torch
import {module}


class Model(torch.nn.Module):
    def forward(self, {arguments}):
{body}'''


class Problem:
    """The recorded cases of one form, and the texts of the problem that they make."""

    def __init__(self, recording: Recording, source: Source):
        self.recording, self.source = recording, source
        self.path = recording.file.path
        self.cases = chosen(recording)
        self.largest = max(self.cases, key=lambda case: sum(value.numel() for value in case.tensors().values()))
        self.function = f"{source.module}.{source.name or recording.operator}"
        self.name = problem_name(self.path)
        self.names = Names()
        for name in (self.name, source.module, "torch", "result"):
            self.names.take(name)
        self.inputs = names_of(self.largest, self.names)
        self.note_layouts()

    def note_layouts(self):
        if any(not value.is_contiguous() for value in self.largest.tensors().values()):
            self.recording.notes.append("tensors that are not contiguous in the test are contiguous inputs")

    def imported(self) -> dict:
        """By torch.export, which knows how extents hang together."""
        text = MODULE.format(name=self.function, module=self.source.module, function=self.function,
                             arguments=", ".join(self.inputs.values()),
                             body=call_text(self.largest, self.function, self.inputs, " " * 8))
        module = types.ModuleType("original")
        exec(compile(text, "<original>", "exec"), module.__dict__)  # pylint: disable=exec-used
        module.get_inputs = lambda: list(self.largest.tensors().values())  # type: ignore[attr-defined]
        sys.modules["original"] = module
        result = import_file.import_file(self.path, module=module, cases=self.points_over)
        del result["files"]["module.py"]  # a function has no module to take the place of
        result["files"]["original.py"] = text
        return result

    def points_over(self, dimensions) -> dict:
        points, _ = dimensions.points_at(dict(enumerate(map(shapes_of, self.cases))))
        if len(points) < len(self.cases):
            self.recording.notes.append(f"{len(self.cases) - len(points)} of {len(self.cases)} cases of one form have "
                                        "extents that do not vary here")
        return {label_of(dims): dims for dims in points.values()}

    # ---- what cannot be exported ----

    def plain(self) -> dict:
        """A reference over arrays, or one that Triton's interpreter runs: extents are named where the cases differ."""
        extents = Extents(self.cases, self.names)
        inputs = "".join(tensor_text(name, self.largest.tensors()[key].dtype, shape, self.fill(key))
                         for (key, name), shape in zip(self.inputs.items(), extents.inputs))
        outputs = self.largest.results
        for case in self.cases:
            if [one.dtype for one in case.results] != [one.dtype for one in outputs]:
                raise Refusal(f"{self.path}: cases differ in what {self.recording.operator} returns", REFERENCE)
        names = [self.names.take("y" if len(outputs) == 1 else f"y{i}") for i in range(len(outputs))]
        results = "".join(tensor_text(name, value.dtype, shape) for name, value, shape
                          in zip(names, outputs, extents.outputs(self.path)))
        text = f"# {self.function}\nname: {self.name}\ninputs:\n{inputs}outputs:\n{results}"
        text += "shapes:\n" + "".join(f"  {label}: {dims_text(dims)}\n" for label, dims in extents.points().items())
        if extents.values:
            limits = ", ".join(f"{name}: [{min(sizes)}, {max(sizes)}]" for name, sizes in extents.values.items())
            text += f"range: {{{limits}}}\n"
        if required := self.required(extents):
            text += "require:\n" + "".join(f"  - {condition}\n" for condition in required)
        return {"name": self.name, "files": {"problem.yaml": text, "reference.py": self.plain_reference()}, "notes": []}

    def fill(self, key: str) -> str:
        """Integers are below those of every case, so that they are indices at every shape."""
        return value_of_fill(min((case.tensors()[key] for case in self.cases), key=lambda value: float(value.max())), True)

    def required(self, extents: Extents) -> list[str]:
        """Extents between those of the cases, which the reference may refuse (a kernel for powers of 2)."""
        found = []
        smallest = {name: min(sizes) for name, sizes in extents.values.items()}
        for name, sizes in extents.values.items():
            between = next((size for size in range(min(sizes) + 1, max(sizes)) if size not in sizes), None)
            if between and not self.works_at(extents, smallest | {name: between}):
                found.append(f"{name} in ({', '.join(map(str, sorted(set(sizes))))})")
        return found

    def works_at(self, extents: Extents, dims: dict[str, int]) -> bool:
        tensors = {}
        for (key, value), shape in zip(self.largest.tensors().items(), extents.inputs):
            tensors[key] = torch.zeros([dims.get(extent, extent) for extent in shape], dtype=value.dtype)
        try:
            self.call(tensors)
            return True
        except Exception:  # the user's code
            return False

    def call(self, tensors: dict[str, torch.Tensor]):
        made = Call([Argument(one.name, tensors.get(one.name, one.value), one.keyword) for one in self.largest.arguments])
        values = [(one, one.value.of(made) if isinstance(one.value, Derived) else one.value) for one in made.arguments]
        named = {one.name: value for one, value in values if one.keyword}
        return self.recording.function(*[value for one, value in values if not one.keyword], **named)

    def plain_reference(self) -> str:
        text = f'"""{self.function}, as the test of the operator\'s file calls it."""\n\n'
        if self.source.interpreted:
            text += "import interpreted  # noqa: F401  # before Triton's kernels\n"
        text += "" if self.source.takes_arrays else "import torch  # noqa: F401\n"
        text += f"import {self.source.module}\n\n\ndef {self.name}({', '.join(self.inputs.values())}):\n"
        return text + call_text(self.largest, self.function, self.inputs, "    ", self.source.takes_arrays)


def label_of(dims: dict) -> str:
    return "_".join(str(size) for size in dims.values()) or "only"


def dims_text(dims: dict) -> str:
    return "{" + ", ".join(f"{name}: {size}" for name, size in dims.items()) + "}"


class Extents:
    """Names for the extents in which cases differ; two that always agree have one."""

    def __init__(self, cases: list[Call], names: Names):
        self.cases = cases
        self.values: dict[str, tuple[int, ...]] = {}
        self.inputs: list[list] = []
        for of_cases in zip(*(shapes_of(case) for case in cases)):
            letters = LETTERS.get(len(of_cases[0]), "")
            self.inputs.append([self.extent(sizes, letters[axis] if letters else f"N{axis}", names)
                                for axis, sizes in enumerate(zip(*of_cases))])

    def extent(self, sizes: tuple[int, ...], wanted: str, names: Names):
        if len(set(sizes)) == 1:
            return sizes[0]
        known = next((name for name, other in self.values.items() if other == sizes), "")
        if not known:
            known = names.take(wanted)
            self.values[known] = sizes
        return known

    def outputs(self, path: str) -> list[list]:
        return [[self.of_output(sizes, path) for sizes in zip(*(tuple(one.shape) for one in of_cases))]
                for of_cases in zip(*(case.results for case in self.cases))]

    def of_output(self, sizes: tuple[int, ...], path: str):
        if len(set(sizes)) == 1:
            return sizes[0]
        same = [name for name, known in self.values.items() if known == sizes]
        if same:
            return same[0]
        for name, known in self.values.items():
            ratios = {size / other for size, other in zip(sizes, known)}
            differences = {size - other for size, other in zip(sizes, known)}
            if len(ratios) == 1 and min(ratios) >= 1 and min(ratios).is_integer():
                return f"{int(ratios.pop())}*{name}"
            if len(differences) == 1:
                return f"{name} + {differences.pop()}".replace("+ -", "- ")
            for other, more in self.values.items():
                if all(size == a * b for size, a, b in zip(sizes, known, more)):
                    return f"{name}*{other}"
        raise Refusal(f"{path}: extents {', '.join(map(str, sizes))} of an output follow from no extent of an input", REFERENCE)

    def points(self) -> dict[str, dict]:
        points = [{name: sizes[i] for name, sizes in self.values.items()} for i in range(len(self.cases))]
        return {label_of(dims): dims for dims in points}


# ---- the whole ---------------------------------------------------------------------------------------------------


def check_installed(file: OperatorFile):
    if "triton" in {name.split(".")[0] for name in file.missing}:
        raise Refusal(f"{file.path}: its operator needs Triton, which is not installed",
                      REFERENCE + "; or pip install triton, whose interpreter runs it")
    if file.missing:
        raise Refusal(f"{file.path}: its operator needs {', '.join(file.missing)}, which is not installed", REFERENCE)


def check_wide(problem: Problem):
    """Expected values are computed in float64, which a kernel for some types may refuse."""
    smallest = min(problem.cases, key=lambda case: sum(value.numel() for value in case.tensors().values()))
    wide = {name: value.double() if value.is_floating_point() else value for name, value in smallest.tensors().items()}
    with blaming(problem.path, "in float64, as expected values are computed, the operator raises ", REFERENCE):
        problem.call(wide)


def import_operator(path: str, dtype: str, spec: str) -> dict:
    if dtype:
        raise Refusal(f"--dtype {dtype}: {path} says its types itself", "--dtype is for files with a PyTorch module; leave it out")
    file = OperatorFile(path)
    source = Source(file, spec)
    if not spec:
        check_installed(file)
    if source.interpreted:
        importlib.import_module("strop.interpreted")
    recording = record(file, source.called_with())
    problem = Problem(recording, source)
    if source.interpreted:
        check_wide(problem)
        seconds = max(case.seconds for case in problem.cases)
        recording.notes.append("the reference is the operator in Triton's interpreter: the playbook has no ideas for it"
                               f"{f', a call takes {seconds:.0f} s' if seconds > 1 else ''} and "
                               "speedups over it mean nothing; --reference names one in PyTorch or NumPy")
    result = problem.plain() if source.takes_arrays or source.interpreted else problem.imported()
    result["files"] |= source.files
    result["notes"] = list(dict.fromkeys(recording.notes + result["notes"]))
    return result
