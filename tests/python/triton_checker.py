"""Runs Triton modules on computations: reads them as JSON, prints what is wrong.

The environment says where they run: TRITON_INTERPRET=1 is the interpreter, on the processor.
"""

import importlib.util
import json
import os
import sys
import tempfile

import numpy as np
import torch

# So small that there are several of each, and that the interpreter is done soon.
SIZES = {"BLOCK": 32, "CHUNK": 16, "TILE_M": 16, "TILE_N": 32, "TILE_K": 16}
DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") else "cuda"


def keep_truth_values():
    """The interpreter of Triton 3.9 makes integers of a truth value that becomes a vector, and refuses them as masks."""
    import triton.language as tl
    from triton.runtime import interpreter

    splat = interpreter.InterpreterBuilder.create_splat

    def create_splat(self, ret_ty, arg):
        truth = arg.data.dtype == bool
        return splat(self, ret_ty, interpreter.TensorHandle(arg.data, tl.int1) if truth else arg)

    interpreter.InterpreterBuilder.create_splat = create_splat


def module_of(source, folder, name):
    path = os.path.join(folder, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tensor_of(array, dtype):
    values = np.array(array["values"], dtype=np.float64).reshape(array["shape"])
    return torch.from_numpy(values.astype(dtype)).to(DEVICE)


def wrong_elements(found, expected, tolerance):
    values = found.detach().cpu().numpy().astype(np.float64).reshape(-1)
    wanted = np.array(expected["values"], dtype=np.float64)
    if list(found.shape) != expected["shape"]:
        return f"shape {list(found.shape)} instead of {expected['shape']}"
    near = np.isclose(values, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    if near.all():
        return ""
    first = int(np.argmin(near))
    return f"{(~near).sum()} elements, the first is {first}: {values[first]} instead of {wanted[first]}"


def check(one, strategy, folder):
    """What is wrong, one line a finding."""
    module = module_of(strategy["source"], folder, f"m{abs(hash((one['name'], strategy['id'])))}")
    for size, value in SIZES.items():
        if hasattr(module, size):
            setattr(module, size, value)
    for number, point in enumerate(one["points"]):
        if "condition" in strategy and not eval(strategy["condition"], {}, dict(point["dims"])):
            continue
        inputs = [tensor_of(array, entry["dtype"]) for array, entry in zip(point["inputs"], one["inputs"])]
        found = getattr(module, one["name"])(*inputs)
        found = found if isinstance(found, tuple) else (found,)
        for k, expected in enumerate(point["expected"]):
            wrong = wrong_elements(found[k], expected, 2e-5)
            if wrong:
                yield f"point {number}, output {k}: {wrong}"


def main():
    failures = 0
    if DEVICE == "cpu":
        keep_truth_values()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for one in json.load(sys.stdin):
            for strategy in one["strategies"]:
                try:
                    found = list(check(one, strategy, folder))
                except Exception as error:  # of any kind: the others are checked still
                    found = [f"{type(error).__name__}: {error}".replace("\n", " ")[:2000]]
                for finding in found:
                    failures += 1
                    print(f"{one['name']}, {strategy['id']}: {finding}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
