"""A result as its users call it: in_process.py SPEC.json

Calls the result's Python module and versions of the same computation in a framework in one process, in random order, each
call after an operation of the framework that has nothing to do with it and takes all cores. Prints samples as JSON; the
ratios are made of them elsewhere. SPEC.json:

  module, name  the result's Python file and its function
  framework     "pytorch", "jax" or "numpy"; versions: of it that are compared, "torch.compile" among them or not
  file, function  where the framework's version is
  inputs        dtype and fill of each; parameters: name, dtype and value of each
  points        label, and for each input its shape and its limit; asked: dimensions that the result is told
  seconds, seed
"""

import ctypes
import importlib.util
import json
import os
import random
import statistics
import sys
import time
import warnings

OURS = "strop"
NEIGHBOUR_ELEMENTS = 1 << 18
ROUND_NS = 3e6  # of one contender
SLOW_NS = 5e7  # such a call is a sample by itself
LEAST_ROUNDS, MOST_ROUNDS = 5, 200
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of malloc.h
MOST_KEPT_BYTES = 1 << 25  # glibc takes no higher threshold for a mapping of its own


def keep_freed_memory():
    """Else chance decides whose outputs get pages that were touched before: glibc gives memory back to the system when
    enough of it lies free at the end of its heap, and whether it does is the same for thousands of calls. For outputs of
    some MB that is a factor of three for whoever it meets. Larger ones are mapped anew in each call, of everybody.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's
    if mallopt:
        mallopt(MMAP_THRESHOLD, MOST_KEPT_BYTES)
        mallopt(TRIM_THRESHOLD, (1 << 31) - 1)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_half(dtype):
    return dtype in ("float16", "bfloat16")


def filled(generator, shape, dtype, fill, limit, scale=1):
    """Of 16 bits in float32: the frameworks round it."""
    import numpy as np

    dtype = "float32" if is_half(dtype) else dtype

    if fill == "integers":
        return generator.integers(0, limit, shape).astype(dtype)
    if fill == "zeros_ones":
        return generator.integers(0, 2, shape).astype(dtype)
    if fill == "normal":
        values = generator.standard_normal(shape, np.float32)
    else:
        values = generator.random(shape, np.float32)
    return (np.float32(scale) * (values + np.float32(0.1) if fill == "positive" else values)).astype(dtype)


class NumPy:
    def __init__(self):
        import numpy as np

        self.numpy = np
        self.one, self.two = np.ones(NEIGHBOUR_ELEMENTS, np.float32), np.ones(NEIGHBOUR_ELEMENTS, np.float32)
        self.sum = np.empty_like(self.one)

    def neighbour(self):
        self.numpy.add(self.one, self.two, out=self.sum)

    def ours(self, array, dtype):  # an argument of the result
        if dtype == "bfloat16":
            import ml_dtypes

            return array.astype(ml_dtypes.bfloat16)
        return array.astype(dtype, copy=False)

    # An argument of the framework's version: the result's own where that does. Which pages of memory an array got makes
    # some percent of difference.
    def native(self, own, dtype):
        return own.astype(self.numpy.float32) if is_half(dtype) else own  # NumPy computes in float32 what is of 16 bits

    def version(self, _name, function, _integers):
        return function

    def empty_like(self, value):
        return self.numpy.empty_like(value)


class PyTorch(NumPy):
    def __init__(self):
        import torch

        super().__init__()
        self.torch = torch
        torch.set_grad_enabled(False)
        self.one, self.two, self.sum = (torch.from_numpy(array) for array in (self.one, self.two, self.sum))

    def neighbour(self):
        self.torch.add(self.one, self.two, out=self.sum)

    def ours(self, array, dtype):
        """In memory of PyTorch's own: it is aligned to 64 bytes, NumPy's to 16, so that each vector of 64 bytes would lie
        in two lines of the cache."""
        tensor = self.torch.from_numpy(array)
        return tensor.to(getattr(self.torch, dtype)) if is_half(dtype) else tensor.clone()

    def native(self, own, dtype):
        return own

    def version(self, name, function, _integers):
        if name != "torch.compile":
            return function
        self.torch._dynamo.config.cache_size_limit = 64
        return self.torch.compile(function, dynamic=False)

    def empty_like(self, value):
        return self.torch.empty_like(value)


class Jax(NumPy):
    def __init__(self):
        import jax

        super().__init__()
        self.jax = jax
        self.one, self.two = jax.device_put(self.one), jax.device_put(self.two)
        self.add = jax.jit(jax.numpy.add)

    def neighbour(self):
        self.add(self.one, self.two).block_until_ready()

    def native(self, own, dtype):
        return self.jax.device_put(own.copy()).block_until_ready()

    def version(self, _name, function, integers):
        compiled = self.jax.jit(function, static_argnums=integers)
        return lambda *arguments: self.jax.block_until_ready(compiled(*arguments))


FRAMEWORKS = {"numpy": NumPy, "pytorch": PyTorch, "jax": Jax}


def median_times(call, neighbour, times):
    clock = time.perf_counter_ns
    calls, neighbours = [], []
    for _ in range(times):
        before = clock()
        neighbour()
        between = clock()
        call()
        after = clock()
        neighbours.append(between - before)
        calls.append(after - between)
    return statistics.median(calls), statistics.median(neighbours)


def measure(contenders, neighbour, seconds, generator):
    """Samples by contender: [ns of a call, ns of the neighbour] a round."""
    times = {}
    for name, call in contenders.items():
        call()
        least = 1
        call_ns, neighbour_ns = median_times(call, neighbour, least)
        if call_ns < SLOW_NS:
            least = 3
            call_ns, neighbour_ns = median_times(call, neighbour, least)
        times[name] = max(least, min(500, int(ROUND_NS / (call_ns + neighbour_ns))))
    samples = {name: [] for name in contenders}
    end = time.monotonic() + seconds
    for turn in range(MOST_ROUNDS):
        if turn >= LEAST_ROUNDS and time.monotonic() > end:
            break
        for name in generator.sample(sorted(contenders), len(contenders)):
            samples[name].append(median_times(contenders[name], neighbour, times[name]))
    return samples


class Measurement:
    def __init__(self, spec):
        keep_freed_memory()
        self.spec = spec
        self.framework = FRAMEWORKS[spec["framework"]]()
        self.result = getattr(load(spec["module"], spec["name"]), spec["name"])
        sys.path.append(os.path.dirname(spec["file"]))  # for helpers beside it
        function = getattr(load(spec["file"], "framework_version"), spec["function"])
        self.values = [
            float(p["value"]) if p["dtype"].startswith("float") else int(p["value"]) for p in spec["parameters"]
        ]
        given = len(spec["inputs"]) + len(self.values)
        names = function.__code__.co_varnames[given : function.__code__.co_argcount]
        halves = any(is_half(tensor["dtype"]) for tensor in spec["inputs"])
        copies = spec["framework"] == "jax" or (spec["framework"] == "numpy" and halves)
        self.takes_out = "out" in names and not copies
        first = len(spec["inputs"])
        integers = tuple(first + i for i, value in enumerate(self.values) if isinstance(value, int))
        self.versions = {name: self.framework.version(name, function, integers) for name in spec["versions"]}

    def contenders(self, point, seed):
        import numpy as np
        from changed_inputs import left_alone

        generator = np.random.default_rng(seed)
        arrays = [
            filled(generator, shape, tensor["dtype"], tensor["fill"], limit, tensor.get("scale", 1))
            for tensor, shape, limit in zip(self.spec["inputs"], point["shapes"], point["limits"])
        ]
        dtypes = [tensor["dtype"] for tensor in self.spec["inputs"]]
        ours = [self.framework.ours(array, dtype) for array, dtype in zip(arrays, dtypes)] + self.values
        theirs = [self.framework.native(own, dtype) for own, dtype in zip(ours, dtypes)] + self.values
        asked = point["asked"]
        first = self.result(*ours, **asked)  # compiles
        if not self.takes_out or isinstance(first, tuple):
            calls = {OURS: lambda: self.result(*ours, **asked)}
            for name, function in self.versions.items():
                function = left_alone(function, theirs) if name == "numpy" else function
                calls[name] = lambda function=function: function(*theirs)
            return calls
        out = self.framework.empty_like(first)
        calls = {OURS: lambda: self.result(*ours, out=out, **asked)}
        for name, function in self.versions.items():
            # Compiled without, as it was for the judge, so that its code is there.
            given = {} if name == "torch.compile" else {"out": out}
            calls[name] = lambda function=function, given=given: function(*theirs, **given)
        return calls

    def points(self):
        import numpy as np

        generator = random.Random(self.spec["seed"])
        share = self.spec["seconds"] / len(self.spec["points"])
        for point in self.spec["points"]:
            with np.errstate(all="ignore"):
                contenders = self.contenders(point, self.spec["seed"])
                yield {"label": point["label"],
                       "samples": measure(contenders, self.framework.neighbour, share, generator)}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    warnings.simplefilter("ignore")
    print(json.dumps({"points": list(Measurement(spec).points())}))


if __name__ == "__main__":
    main()
