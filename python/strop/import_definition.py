"""A definition of flashinfer-bench as a problem: import_definition.py DEFINITION.json

The definition names axes (const, var, expr), inputs and outputs over them, and a reference with a function `run`.
Workloads are taken from workload.jsonl beside it, NAME.jsonl beside it, or from the folder `workloads` of its data set.
To standard output goes {"name", "files": {name: text}, "notes": [...]}, or {"error", "hint"}.
"""

from __future__ import annotations

import ast
import json
import math
import os
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # as in trace.py

from strop.import_names import Names, Refusal, answer, problem_name  # noqa: E402

FORM = "a definition has name, axes, inputs, outputs and reference (docs/problems.md)"
KNOWN = {"float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool"}
MOST_POINTS = 8
USUAL = (16, 128, 1024)  # of a varying axis without workloads
LIMIT = 2  # of integers, which nobody describes


def read_json(path: str, text: str, hint: str = FORM):
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refusal(f"{path}: is no JSON: {error}", hint) from error


def names_in(axis: dict) -> set[str]:
    """What the expression of an axis reads."""
    try:
        tree = ast.parse(str(axis.get("expression", "")), mode="eval")
    except SyntaxError:
        return set()
    functions = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in functions}


class Replaced(ast.NodeTransformer):
    """An expression with others in the place of names."""

    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node):
        return ast.parse(self.names[node.id], mode="eval").body if node.id in self.names else node


class Definition:
    def __init__(self, path: str):
        self.path, self.notes = path, []
        with open(path, encoding="utf-8") as file:
            self.json = read_json(path, file.read())
        for key, kind in (("name", str), ("axes", dict), ("inputs", dict), ("outputs", dict), ("reference", str)):
            if not isinstance(self.json, dict) or not isinstance(self.json.get(key), kind):
                raise Refusal(f"{path}: has no '{key}'", FORM)
        self.name = problem_name(self.json["name"])
        self.names = Names()
        self.names.take(self.name)
        self.inputs = {key: self.names.take(key) for key in self.json["inputs"]}
        self.outputs = {key: self.names.take(key) for key in self.json["outputs"]}
        self.axes: dict = {}
        self.extents: dict = {}  # by axis: a literal, a dimension's name, or an expression over both
        computed = {key: axis for key, axis in self.json["axes"].items() if isinstance(axis, dict) and axis.get("type") == "expr"}
        for key, axis in self.json["axes"].items():
            if key not in computed:
                self.read_axis(key, axis)
        while computed:  # in the order in which they read each other
            ready = [key for key, axis in computed.items() if not names_in(axis) & computed.keys()]
            if not ready:
                raise Refusal(f"{path}: axes that read each other: {', '.join(computed)}", FORM)
            for key in ready:
                self.read_axis(key, computed.pop(key))
        self.check_reference()
        if self.json.get("constraints"):
            self.notes.append("its constraints are not kept: " + "; ".join(map(str, self.json["constraints"])))
        self.workloads = [one for one in self.read_workloads() if self.usable(one)]

    def read_axis(self, key, axis):
        kind = axis.get("type") if isinstance(axis, dict) else None
        if kind == "const" and isinstance(axis.get("value"), int) and axis["value"] > 0:
            self.extents[key] = axis["value"]
        elif kind == "var":
            self.extents[key] = self.axes[key] = self.names.take(key)
        elif kind == "expr" and isinstance(axis.get("expression"), str):
            names = {name: str(extent) for name, extent in self.extents.items()}
            unknown = sorted(names_in(axis) - names.keys())
            if unknown:
                raise Refusal(f"{self.path}: axis '{key}' reads '{unknown[0]}', which is no axis", FORM)
            self.extents[key] = ast.unparse(Replaced(names).visit(ast.parse(axis["expression"], mode="eval")))
        else:
            raise Refusal(f"{self.path}: axis '{key}' is neither const with a value, var nor expr", FORM)

    def check_reference(self):
        try:
            tree = ast.parse(self.json["reference"])
        except SyntaxError as error:
            raise Refusal(f"{self.path}: the reference is no Python: {error}", FORM) from error
        if not any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body):
            raise Refusal(f"{self.path}: the reference has no function 'run'", FORM)

    def read_workloads(self):
        folder, stem = os.path.dirname(self.path), os.path.splitext(os.path.basename(self.path))[0]
        places = [os.path.join(folder, "workload.jsonl"), os.path.join(folder, stem + ".jsonl")]
        parts = self.path.split(os.sep)
        if "definitions" in parts:
            place = len(parts) - 1 - parts[::-1].index("definitions")
            places.append(os.path.join(os.sep.join(parts[:place]), "workloads", *parts[place + 1:-1], stem + ".jsonl"))
        for place in places:
            if not os.path.exists(place):
                continue
            with open(place, encoding="utf-8") as file:
                lines = [read_json(f"{place}:{number}", line, "it holds one JSON object a line")
                         for number, line in enumerate(file, 1) if line.strip()]
            return [line["workload"] for line in lines if isinstance(line, dict)
                    and line.get("definition") == self.json["name"] and isinstance(line.get("workload"), dict)]
        return []

    def usable(self, workload) -> bool:
        axes = workload.get("axes", {})
        return all(isinstance(axes.get(axis), int) and axes[axis] > 0 for axis in self.axes)

    def tensor(self, names, key, one, more=""):
        dtype = one.get("dtype")
        if dtype not in KNOWN:
            raise Refusal(f"{self.path}: '{key}' is of dtype {dtype}", f"tensors are {', '.join(sorted(KNOWN))}")
        unknown = [axis for axis in one["shape"] if axis not in self.extents]
        if unknown:
            raise Refusal(f"{self.path}: '{key}' has the axis '{unknown[0]}', which is none of its axes", FORM)
        fill = ""
        if more and dtype == "bool":
            fill = ", fill: zeros_ones"
        elif more and "float" not in dtype:
            fill = f", fill: integers, limit: {128 if dtype == 'int8' else LIMIT}"
            if dtype != "int8":
                self.notes.append(f"integers '{key}' are drawn below {LIMIT}: set their limit in problem.yaml")
        extents = ", ".join(str(self.extents[axis]) for axis in one["shape"])
        return f"  {names[key]}: {{dtype: {dtype}, shape: [{extents}]{fill}}}\n"

    def scalar(self, key):
        """The value that all workloads give it, as it is written into the reference: a tracer follows no parameters."""
        values = {json.dumps(workload["inputs"][key].get("value")) for workload in self.workloads
                  if isinstance(workload.get("inputs", {}).get(key), dict)}
        if len(values) > 1:
            raise Refusal(f"{self.path}: the scalar '{key}' has {len(values)} values in its workloads",
                          "keep the workloads of one value: it is a part of what is computed")
        value = json.loads(next(iter(values))) if values else None
        if not isinstance(value, (bool, int, float)):
            raise Refusal(f"{self.path}: the scalar '{key}' has no value", "give it one in workload.jsonl beside the file")
        self.notes.append(f"the scalar '{key}' is {value!r}, as in its workloads")
        return repr(value)

    def points(self):
        if not self.axes:
            return {"only": {}}
        if not self.workloads:
            self.notes.append("there are no workloads: the sweep is ours")
            return {str(size): {name: size for name in self.axes.values()} for size in USUAL}
        found = {tuple(workload["axes"][axis] for axis in self.axes) for workload in self.workloads}
        ordered = sorted(found, key=lambda sizes: (math.prod(sizes), sizes))
        if len(ordered) > MOST_POINTS:
            self.notes.append(f"{MOST_POINTS} of {len(ordered)} workloads' shapes are the sweep")
            step = (len(ordered) - 1) / (MOST_POINTS - 1)
            ordered = [ordered[round(i * step)] for i in range(MOST_POINTS)]
        return {"_".join(map(str, sizes)): dict(zip(self.axes.values(), sizes)) for sizes in ordered}

    def problem_text(self) -> str:
        given = self.json["inputs"]
        for key, one in given.items():
            files = [w for w in self.workloads if w.get("inputs", {}).get(key, {}).get("type") == "safetensors"]
            if files:
                raise Refusal(f"{self.path}: '{key}' is read from a file in its workloads",
                              "inputs of a problem are drawn: write a problem.yaml by hand (docs/problems.md)")
        text = f"# The definition {self.json['name']}.\nname: {self.name}\ninputs:\n"
        text += "".join(self.tensor(self.inputs, k, one, "drawn") for k, one in given.items() if one.get("shape") is not None)
        text += "outputs:\n" + "".join(self.tensor(self.outputs, k, one) for k, one in self.json["outputs"].items())
        points = self.points()
        text += "shapes:\n"
        for label, dims in points.items():
            text += f"  {json.dumps(label)}: {{{', '.join(f'{name}: {size}' for name, size in dims.items())}}}\n"
        return text

    def reference_text(self) -> str:
        given = self.json["inputs"]
        tensors = [self.inputs[key] for key, one in given.items() if one.get("shape") is not None]
        values = [self.inputs[key] if one.get("shape") is not None else self.scalar(key) for key, one in given.items()]
        outputs = ", ".join(json.dumps(key) for key in self.outputs)
        return (f'"""run of original.py, whose results may be named."""\n\nimport torch  # noqa: F401\nfrom original import run\n\n\n'
                f"def {self.name}({', '.join(tensors)}):\n    result = run({', '.join(values)})\n"
                f"    if isinstance(result, dict):\n        result = tuple(result[name] for name in ({outputs},))\n"
                f"    return result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result\n")


    def solution_text(self) -> str:
        """`run` as the definition has it, over the module of a result that lies beside it."""
        given = self.json["inputs"]
        text = (f'"""run of the definition {self.json["name"]}, computed by the kernel {self.name}."""\n\n'
                f"import importlib.util\nimport os\n\nimport torch\n\n\ndef _load(name):\n"
                f'    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")\n'
                f"    spec = importlib.util.spec_from_file_location(name, path)\n"
                f"    module = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(module)\n"
                f'    return module\n\n\n_kernel = _load("{self.name}").{self.name}\n\n\n'
                f"def run({', '.join(self.inputs.values())}):\n")
        tensors = []
        for key, one in given.items():
            if one.get("shape") is None:
                text += f"    if {self.inputs[key]} != {self.scalar(key)}:\n"
                text += f"        raise ValueError(f\"the kernel is for {key} = {self.scalar(key)}, not {{{self.inputs[key]}}}\")\n"
            else:
                tensors.append(self.inputs[key] + ".contiguous()")
        text += f"    result = _kernel({', '.join(tensors)})\n"
        return text + "    return result\n"


def import_definition(path: str) -> dict:
    definition = Definition(path)
    files = {"problem.yaml": definition.problem_text(), "reference.py": definition.reference_text(),
             "solution.py": definition.solution_text(), "definition.json": json.dumps(definition.json, indent=2) + "\n",
             "original.py": definition.json["reference"].rstrip("\n") + "\n"}
    return {"name": definition.name, "files": files, "notes": list(dict.fromkeys(definition.notes))}


def main(arguments) -> int:
    return answer(lambda: import_definition(os.path.abspath(arguments[0])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
