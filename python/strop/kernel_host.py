"""The process in which a kernel in Python is judged: kernel_host.py CANDIDATE.so KERNEL.py LAYOUT_FD SPEC.json

CANDIDATE.so (src/judge/candidate_python.cpp) answers the judge and calls the kernel. SPEC.json says what it calls:

  file, function   what messages call the kernel's file; the problem's name
  framework        "pytorch" or "numpy": what tensors are
  reference        path of the problem's reference in Python; null: it is in another language
  inputs, outputs, parameters, dimensions   names, dtypes, values, in the problem's order
  tunables         values by name, which take the place of `NAME = ...` at the top of the file
  points           for each the shapes of all tensors
"""

import ast
import ctypes
import importlib.util
import inspect
import json
import os
import sys
import traceback
import types
import warnings

# Of src/judge/protocol.h.
NO_KERNEL, RAISED, MISFIT = 70, 72, 73
TENSOR, CONSTANT, DIMENSION = 0, 1, 2


class Misfit(Exception):
    """What a kernel returns is not what the problem declares."""


class NoKernel(Exception):
    """The file has nothing that could be called."""


def end(code, text):
    print(text, file=sys.stderr, flush=True)
    os._exit(code)


def imports(tree, name):
    found = [alias.name for one in ast.walk(tree) if isinstance(one, ast.Import) for alias in one.names]
    found += [one.module or "" for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    return any(one.partition(".")[0] == name for one in found)


def mend_interpreter():
    """As imported problems do: masks that Triton's interpreter refuses, and `autotune`, which asks for a device."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "interpreted.py")
    spec = importlib.util.spec_from_file_location("interpreted", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


class Host:
    def __init__(self, candidate, path, layout_fd, spec):
        self.candidate = ctypes.PyDLL(candidate)
        self.path, self.layout_fd, self.spec = path, layout_fd, spec
        self.answers = False  # the judge's requests: what is raised then is raised by a call
        self.tensors = spec["inputs"] + spec["outputs"]
        self.torch = spec["framework"] == "pytorch"
        sys.excepthook = self.end_by

    # ---- the kernel's file ----

    def load_framework(self):
        import numpy  # noqa: F401

        if self.torch:
            import torch

            torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
            torch.set_grad_enabled(False)

    def tree(self):
        """The file's text with the values of its tunables."""
        with open(self.path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), self.path)
        tunables = self.spec["tunables"]
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                name = getattr(statement.targets[0], "id", None)
                if name in tunables:
                    statement.value = ast.copy_location(ast.Constant(tunables[name]), statement.value)
        return tree

    def load(self, tree):
        if os.environ.get("TRITON_INTERPRET") == "1" and imports(tree, "triton"):
            mend_interpreter()
        module = types.ModuleType("kernel")
        module.__file__ = self.path
        module.__dict__.update(self.spec["tunables"])
        sys.modules["kernel"] = module
        exec(compile(tree, self.path, "exec"), module.__dict__)  # where inspect finds its lines
        return module

    def load_reference(self):
        path = self.spec["reference"]
        sys.path.append(os.path.dirname(path))
        spec = importlib.util.spec_from_file_location("reference", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def kernel(self):
        """A function of the problem's name; or the reference's with `custom_kernel` in the place of a task's ref_kernel, or
        with `ModelNew` in the place of Model."""
        name, tree = self.spec["function"], self.tree()
        defined = {getattr(statement, "name", None) for statement in tree.body}
        if name in defined or not defined & {"custom_kernel", "ModelNew"} or not self.spec["reference"]:
            function = getattr(self.load(tree), name, None)
            if not callable(function):
                raise NoKernel(f"{self.spec['file']}: no function '{name}'")
            return function
        reference = self.load_reference()
        original = sys.modules.get("original")
        if "custom_kernel" in defined and hasattr(original, "TASK"):
            # The reference is read so too: a device that it names is the processor.
            tree = ast.fix_missing_locations(original._ForProcessor().visit(tree))
            original.TASK.ref_kernel = self.load(tree).custom_kernel
        elif "ModelNew" in defined and hasattr(reference, "MODEL"):
            reference.MODEL = self.model(self.load(tree), original, reference.MODEL)
            reference.PARTS = dict(reference.MODEL.named_modules())
        else:
            raise NoKernel(f"{self.spec['file']}: no function '{name}', and the problem is not an imported module or task")
        return getattr(reference, name)

    @staticmethod
    def model(module, original, replaced):
        import torch

        arguments = getattr(module, "get_init_inputs", getattr(original, "get_init_inputs", list))
        torch.manual_seed(42)
        model = module.ModelNew(*arguments())
        for tensor in (one for one in replaced.parameters() if one.is_floating_point()):
            model = model.to(tensor.dtype)
            break
        wanted, there = set(replaced.state_dict()), set(model.state_dict())
        if wanted - there:
            raise NoKernel(f"ModelNew has no '{sorted(wanted - there)[0]}', which is in Model's state_dict")
        return model.train(replaced.training)

    # ---- its arguments ----

    def arguments_of(self, function):
        """Pairs of kind and index, names of those that are given by keyword, constants, and whether outputs are among
        them. By name; where one is not known, by position: inputs, parameters, then perhaps outputs."""
        inputs, outputs = ([t["name"] for t in self.spec[kind]] for kind in ("inputs", "outputs"))
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        required = [p for p in plain if p.default is p.empty]
        keyword = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        names = [p.name for p in plain]
        needed = inputs + [p["name"] for p in self.spec["parameters"]]
        values = {name: (TENSOR, i) for i, name in enumerate(inputs)}
        values |= {name: (CONSTANT, i) for i, name in enumerate(needed[len(inputs):])}
        values |= {name: (DIMENSION, i) for i, name in enumerate(self.spec["dimensions"])}
        targets = ["out"] if len(outputs) == 1 and outputs[0] not in names + keyword else outputs
        takes_outputs = set(targets) <= {*names, *keyword}
        if takes_outputs:
            values |= {name: (TENSOR, len(inputs) + i) for i, name in enumerate(targets)}
        constants = [float(p["value"]) if p["dtype"].startswith("float") else int(p["value"])
                     for p in self.spec["parameters"]]
        if not all(p.name in values for p in required) or not set(needed) <= {*names, *keyword}:
            positions = [values[name] for name in needed]
            takes_outputs = len(required) == len(needed) + len(outputs)
            if takes_outputs:
                positions += [(TENSOR, len(inputs) + i) for i in range(len(outputs))]
            return positions, [], constants, takes_outputs
        leading = 0  # of the plain ones: without a gap
        while leading < len(plain) and names[leading] in values:
            leading += 1
        keywords = [name for name in names[leading:] + keyword if name in values]
        return [values[name] for name in names[:leading] + keywords], keywords, constants, takes_outputs

    # ---- its tensors ----

    def view(self, index, address, point):
        import numpy as np

        tensor, shape = self.tensors[index], self.spec["points"][point]["shapes"][index]
        half = tensor["dtype"] == "bfloat16"
        dtype = np.dtype(np.int16 if half and self.torch else np.uint16 if half else tensor["dtype"])
        count = 1
        for extent in shape:
            count *= extent
        memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
        array = np.frombuffer(memory, dtype=dtype, count=count).reshape(shape)
        if not self.torch:
            array.flags.writeable = index >= len(self.spec["inputs"])
            return array
        import torch

        view = torch.from_numpy(array)
        return view.view(torch.bfloat16) if half else view

    def store(self, result, *outputs):
        results = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(outputs):
            raise Misfit(f"returns {len(results)} arrays, the problem declares {len(outputs)} outputs")
        for one, output, tensor in zip(results, outputs, self.spec["outputs"]):
            if one is output:
                continue
            for what in ("shape", "dtype"):
                got, wanted = getattr(one, what, type(one).__name__), getattr(output, what)
                if got != wanted:
                    got, wanted = (list(v) if isinstance(v, tuple) else str(v).removeprefix("torch.") for v in (got, wanted))
                    raise Misfit(f"returns {what} {got} for '{tensor['name']}', the problem declares {wanted}")
            if self.torch:
                output.copy_(one)
            else:
                output[...] = one

    # ---- the judge ----

    def end_by(self, kind, error, trace):
        """What is raised ends the process, with one line."""
        if issubclass(kind, Misfit):
            end(MISFIT, f"{self.spec['file']}: {error}")
        lines = [frame.lineno for frame in traceback.extract_tb(trace) if frame.filename == self.path]
        text = str(error).strip()
        if isinstance(error, SyntaxError):
            lines, text = [error.lineno], error.msg
        where = f"{self.spec['file']}:{lines[-1]}: " if lines else ""
        said = f"{kind.__name__}: {text.splitlines()[0]}" if text else kind.__name__
        end(RAISED if self.answers else NO_KERNEL, text if issubclass(kind, NoKernel) else where + said)

    def serve(self):
        warnings.simplefilter("ignore")
        self.load_framework()
        self.candidate.strop_candidate_open(self.layout_fd)
        function = self.kernel()
        arguments, keywords, constants, takes_outputs = self.arguments_of(function)
        self.answers = True
        objects = ctypes.py_object
        self.candidate.strop_candidate_serve(
            objects(function), objects(self.view), objects(self.store), (objects * max(1, len(constants)))(*constants),
            objects(tuple(keywords)) if keywords else None,
            (ctypes.c_int64 * (2 * len(arguments)))(*[word for pair in arguments for word in pair]),
            ctypes.c_int64(len(arguments)), ctypes.c_int64(len(keywords)), ctypes.c_int64(len(self.spec["inputs"])),
            ctypes.c_int64(len(self.spec["outputs"])), int(takes_outputs))


def main():
    del sys.path[0]  # Strop's own files are not the kernel's
    with open(sys.argv[4], encoding="utf-8") as file:
        spec = json.load(file)
    Host(sys.argv[1], sys.argv[2], int(sys.argv[3]), spec).serve()


if __name__ == "__main__":
    main()
