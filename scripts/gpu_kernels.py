"""Calls kernels on a GPU, for scripts/gpu: gpu_kernels.py REQUEST.json

REQUEST holds what `strop write --json` gave, and how many kernels to skip. A line of JSON each: {"begin": ...,
"number": n} before a kernel is called, then its row, {"end": true} at the end. Whoever reads these lines knows which
kernel was to blame when this process dies. Nothing here is a referee: kernels run in this process and could do what they
like.
"""

import ctypes
import importlib.util
import json
import os
import sys
import tempfile

import numpy as np
import torch

DEVICE = "cuda"
NEAR = 1e-4  # of the largest value of a tensor
C_TYPES = {"float32": ctypes.c_float, "float64": ctypes.c_double, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
           "bool": ctypes.c_bool, "int8": ctypes.c_int8, "uint8": ctypes.c_uint8}


def say(line):
    print(json.dumps(line), flush=True)


def module_from(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(path))
    spec.loader.exec_module(module)
    return module


class Call:
    """The problem as its callers see it."""

    def __init__(self, document):
        self.name, self.call = document["problem"], document["call"]
        self.parameters = {one["name"]: one["value"] if one["dtype"].startswith("float") else int(one["value"])
                           for one in self.call["parameters"]}
        self.shapes = self.call["shapes"]

    def value(self, text, dims):
        known = {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max, "__builtins__": {}}
        return int(eval(text, known, {**self.parameters, **dims}))

    def extents(self, tensor, dims):
        return [self.value(extent, dims) for extent in tensor["shape"]]

    def inputs(self, dims):
        generator = torch.Generator(device="cpu").manual_seed(7)
        tensors = []
        for tensor in self.call["inputs"]:
            extents, dtype = self.extents(tensor, dims), getattr(torch, tensor["dtype"])
            if dtype.is_floating_point:
                tensors.append(torch.randn(extents, generator=generator, dtype=dtype).to(DEVICE))
            else:
                tensors.append(torch.randint(0, 2, extents, generator=generator).to(dtype).to(DEVICE))
        return tensors

    def outputs(self, dims):
        return [torch.full(self.extents(tensor, dims), float("nan"), device=DEVICE)
                if tensor["dtype"].startswith("float32")
                else torch.zeros(self.extents(tensor, dims), dtype=getattr(torch, tensor["dtype"]), device=DEVICE)
                for tensor in self.call["outputs"]]

    def expected(self, dims, inputs):
        reference = getattr(module_from(self.call["reference"], "reference"), self.call["function"])
        arrays = [tensor.cpu().numpy() for tensor in inputs]
        wide = [array.astype(np.float64) if array.dtype.kind == "f" else array for array in arrays]
        with np.errstate(all="ignore"):
            found = reference(*wide, **self.parameters)
        return list(found) if isinstance(found, tuple) else [found]


def caller(call, one, language, folder):
    """A function (inputs, dims) -> outputs."""
    if language == "cuda":
        if not one["library"]:
            raise RuntimeError("nvcc: " + one["why"])
        return cuda_caller(call, getattr(ctypes.CDLL(one["library"]), call.name))
    path = os.path.join(folder, f"kernel_{abs(hash((language, one['id'])))}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(one["source"])
    function = getattr(module_from(path, os.path.basename(path)[:-3]), call.name)

    def run(inputs, dims, outputs):
        function(*inputs, **dict(zip((tensor["name"] for tensor in call.call["outputs"]), outputs)))

    return run


def cuda_caller(call, function):
    function.restype = None

    def run(inputs, dims, outputs):
        words = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (*inputs, *outputs)]
        words += [C_TYPES[one["dtype"]](call.parameters[one["name"]]) for one in call.call["parameters"]]
        words += [ctypes.c_int64(dims[name]) for name in call.call["dimensions"]]
        function(*words, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    return run


def applies(one, dims, call):
    known = {"__builtins__": {}, "min": min, "max": max}
    return "condition" not in one or bool(eval(one["condition"], known, {**call.parameters, **dims}))


def distance(found, expected):
    """Of the worst element, as a share of the largest value; infinite where shapes or NaNs differ."""
    found, expected = found.detach().cpu().numpy().astype(np.float64), np.asarray(expected, dtype=np.float64)
    if found.shape != expected.shape or (np.isnan(found) != np.isnan(expected)).any():
        return float("inf")
    scale = max(1.0, float(np.nanmax(np.abs(expected), initial=0)))
    return float(np.nanmax(np.abs(found - expected), initial=0)) / scale


def check_one(call, one, language, folder, known):
    run, worst, shapes = caller(call, one, language, folder), 0.0, []
    for label, dims in call.shapes.items():
        if not applies(one, dims, call):
            continue
        if label not in known:
            inputs = call.inputs(dims)
            known[label] = inputs, call.expected(dims, inputs)
        inputs, expected = known[label]
        outputs = call.outputs(dims)
        run(inputs, dims, outputs)
        torch.cuda.synchronize()
        for found, wanted in zip(outputs, expected):
            far = distance(found, wanted)
            worst = max(worst, far)
            if far > NEAR:
                return {"verdict": "wrong", "evidence": f"{label}: off by {far:.3g} of the largest value"}
        shapes.append(label)
    return {"verdict": "ok" if shapes else "skipped", "evidence": f"off by {worst:.2g} of the largest value at most",
            "shapes": shapes}


def check(request, folder):
    document, call, known = request["document"], Call(request["document"]), {}
    for number, one in enumerate(document["strategies"]):
        if number < request["skip"]:
            continue
        say({"begin": {"strategy": one["id"]}, "number": number})
        try:
            row = check_one(call, one, document["language"], folder, known)
        except Exception as error:
            if "CUDA error" in str(error):
                sys.exit(str(error).splitlines()[0])  # the device's state is lost with this process
            row = {"verdict": "failed", "evidence": f"{type(error).__name__}: {error}".replace("\n", " ")[:300]}
        say({"strategy": one["id"], **row})


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        check(request, folder)
    say({"end": True})


if __name__ == "__main__":
    main()
