"""The process in which Python code of a problem runs: host.py SPEC.json

It is started by the judge and speaks the messages of src/judge/protocol.h on descriptors 3 (requests) and 4
(replies). SPEC.json says what it hosts:

  role        "reference": evaluates the reference in float64 or in the problem's own types on tensors that it
              finds in shared memory (requests `evaluate`)
              "baseline": is timed like a kernel (requests `prepare` and `call`)
  reference   path of the Python file, function: its name
  inputs, outputs, parameters   names and dtypes; values of parameters
  framework   reference: "numpy", "pytorch" or "c++"; baseline: also "torch.compile" or "jax"
  libraries   of a reference in C++: `declared`, and `wide` in float64 or null; `late`: values of its late tunables
  device      baseline only: "cpu", or "cuda": tensors are copied to the first GPU
  points      baseline only: input_fd, output_fd, and for each set the shape and the offset of each tensor
  exchange_fd reference only: the memory file that tensors travel in
"""

import contextlib
import importlib
import importlib.util
import json
import mmap
import os
import struct
import sys
import time
import traceback
import warnings

REQUEST = struct.Struct("<IIIIII")
REPLY = struct.Struct("<iIq")
PREPARE, CALL, EVALUATE, QUIT, LOAD = 1, 2, 3, 4, 5


def read_exactly(size):
    data = b""
    while len(data) < size:
        more = os.read(3, size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def reply(status=0, text="", inside=0):
    payload = text.encode("utf-8", "replace")
    os.write(4, REPLY.pack(status, len(payload), inside) + payload)


def last_line(error):
    return traceback.format_exception_only(type(error), error)[-1].strip()


def where(error, path):
    """The line of the user's file that the error passed last, or that cannot be read."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: "
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    return f"{path}:{frames[-1].lineno}: " if frames else f"{path}: "


def load_function(path, name):
    sys.path.append(os.path.dirname(path))  # for helpers beside it
    spec = importlib.util.spec_from_file_location("problem_" + name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise AttributeError(f"no function '{name}'")
    return getattr(module, name)


def tensor_at(buffer, dtype, shape, offset):
    import numpy as np

    count = 1
    for extent in shape:
        count *= extent
    stored = np.dtype(np.uint16 if dtype == "bfloat16" else dtype)
    return np.frombuffer(buffer, dtype=stored, count=count, offset=offset).reshape(shape)


def is_half(dtype):
    return dtype in ("float16", "bfloat16")


def widened(array, dtype):
    """A 16-bit tensor, as tensor_at() gives it, in float32."""
    import numpy as np

    if dtype == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


def narrowed(array, dtype):
    """The other way, to nearest and halves to even."""
    import numpy as np

    with np.errstate(all="ignore"):
        wide = np.asarray(array, np.float32)
        if dtype == "float16":
            return wide.astype(np.float16)
        bits = wide.view(np.uint32)
        rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) >> 16
        return np.where(np.isnan(wide), bits >> 16 | 0x40, rounded).astype(np.uint16)


def as_tuple(result):
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def is_torch(framework):
    return framework in ("pytorch", "torch.compile")


def prepare_torch(threads=None):
    import torch

    if threads:
        torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    torch.manual_seed(42)


@contextlib.contextmanager
def evaluated_in(wide):
    """PyTorch computes in the type `wide`, if there is one, whatever the reference asks for, and whatever it keeps in a
    narrower one. Equal elements are sorted in their order, whether or not the reference says stable: any order is right,
    and PyTorch's own depends on the type and the processor."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_map

    aten = torch.ops.aten
    wider = {narrow: wide for narrow in (torch.float32, torch.float16, torch.bfloat16) if narrow != wide}
    if wide == torch.float64:
        wider[torch.complex64] = torch.complex128

    def widen(value):
        if isinstance(value, torch.Tensor) and value.dtype in wider:
            return value.to(wider[value.dtype])
        return wider.get(value, value) if isinstance(value, torch.dtype) else value

    def sort(x, dim=-1, descending=False):
        return aten.sort.stable(x, stable=True, dim=dim, descending=descending)

    def topk(x, k, dim=-1, largest=True, sorted=True):
        return tuple(part.narrow(dim, 0, k) if x.ndim else part for part in sort(x, dim, largest))

    def kthvalue(x, k, dim=-1, keepdim=False):
        parts = [part.narrow(dim, k - 1, 1) if x.ndim else part for part in sort(x, dim)]
        return tuple(part if keepdim or not x.ndim else part.squeeze(dim) for part in parts)

    stable = {aten.sort.default: sort, aten.topk.default: topk, aten.kthvalue.default: kthvalue}

    class Evaluating(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            if wide:
                arguments, options = tree_map(widen, arguments), tree_map(widen, options or {})
            return stable.get(function, function)(*arguments, **(options or {}))

    torch.set_default_dtype(wide or torch.float32)
    try:
        with Evaluating():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def stable_argsort():
    """The same of NumPy's functions; the methods cannot be replaced."""
    import numpy as np

    argsort, argpartition = np.argsort, np.argpartition

    def in_order(a, axis=-1, kind=None, *order, **options):
        if options.get("stable") is None:
            kind = kind or "stable"
        return argsort(a, axis, kind, *order, **options)

    np.argsort = in_order
    np.argpartition = lambda a, kth, axis=-1, **_: in_order(a, axis)  # all are in their places
    try:
        yield
    finally:
        np.argsort, np.argpartition = argsort, argpartition


class Reference:
    """Evaluates jobs {"precision": 64 | 32, "inputs": [{shape, offset}], "outputs": [{shape, offset}]}.

    With "perturb": SEED every floating input is changed at random by at most half a unit in the last place of its type,
    "times" so often, which tells how far the outputs carry a rounding error. With "plant": INPUT one element of that
    input is a NaN, and the NaNs in the outputs tell how many outputs an element reaches.
    """

    def __init__(self, spec):
        self.spec = spec
        self.path = spec["reference"]
        self.note = ""  # of a result that was taken though it is not as declared
        self.exchange = None  # mapped when it is needed
        self.torch = is_torch(spec["framework"])
        if self.torch:
            prepare_torch()
            with evaluated_in(None):  # what PyTorch loads on its first use is no part of a call's time
                sys.modules["torch"].ones(2).relu()
        self.function = load_function(self.path, spec["function"])

    def evaluate(self, job):
        import numpy as np

        memory = self.memory()
        wide = job["precision"] == 64
        inputs = []
        for tensor, place in zip(self.spec["inputs"], job["inputs"]):
            array = tensor_at(memory, tensor["dtype"], place["shape"], place["offset"])
            if is_half(tensor["dtype"]):
                array = widened(array, tensor["dtype"])
            widen = wide and array.dtype == np.float32
            inputs.append(array.astype(np.float64) if widen else array.copy())
        self.vary(inputs, job)
        parameters = [self.parameter(p, wide) for p in self.spec["parameters"]]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = self.of_tensors(inputs, parameters, wide) if self.torch else self.of_arrays(inputs, parameters, wide)
        results = as_tuple(results)
        return self.store(results, job, memory, wide)

    def memory(self):
        """The exchange, which grows: to map it, and its pages, takes as long as a small evaluation."""
        fd = self.spec["exchange_fd"]
        size = os.fstat(fd).st_size
        if self.exchange is None or len(self.exchange) != size:
            self.exchange = mmap.mmap(fd, size)
        return self.exchange

    def of_tensors(self, inputs, parameters, wide):
        import torch
        from torch.utils._pytree import tree_map

        tensors = [torch.from_numpy(array) for array in inputs]
        halves = any(is_half(t["dtype"]) for t in self.spec["inputs"] + self.spec["outputs"])
        precision = torch.float64 if wide else torch.float32
        with evaluated_in(precision if wide or halves else None):
            result = self.function(*tensors, *parameters)
        # The imaginary part of a conjugate is a view that says that its values are the others.
        return tree_map(lambda one: one.resolve_neg() if isinstance(one, torch.Tensor) else one, result)

    def of_arrays(self, inputs, parameters, wide):
        from plain_scalars import plain_scalars

        with stable_argsort(), plain_scalars({} if wide else getattr(self.function, "__globals__", {})):
            return self.function(*inputs, *parameters)

    def vary(self, inputs, job):
        import numpy as np

        if "plant" in job:
            planted = inputs[job["plant"]]
            planted.flat[planted.size // 2] = np.nan
        if "perturb" in job:
            random = np.random.default_rng(job["perturb"])
            for tensor, array in zip(self.spec["inputs"], inputs):
                if array.dtype.kind == "f":
                    step = random.random(array.shape, dtype=np.float32) - np.float32(0.5)
                    # What is read from 16 bits is exact, and computed in float32.
                    dtype = "float32" if is_half(tensor["dtype"]) else tensor["dtype"]
                    array *= 1 + step * np.float64(np.finfo(dtype).eps) * job["times"]

    @staticmethod
    def parameter(parameter, wide):
        import numpy as np

        if parameter["dtype"].startswith("float"):
            return float(parameter["value"]) if wide else float(np.dtype(parameter["dtype"]).type(parameter["value"]))
        return int(parameter["value"])

    def store(self, results, job, memory, wide):
        import numpy as np

        outputs = self.spec["outputs"]
        if len(results) != len(outputs):
            return f"returns {len(results)} arrays, the problem declares {len(outputs)} outputs"
        for tensor, place, result in zip(outputs, job["outputs"], results):
            given, result = result, np.asarray(result)
            if result.dtype.kind not in "biufc":
                return f"returns {'nothing' if given is None else 'a ' + type(given).__name__} for '{tensor['name']}'"
            if list(result.shape) != list(place["shape"]):
                return (f"returns shape {list(result.shape)} for '{tensor['name']}', "
                        f"the problem declares {list(place['shape'])}")
            half = is_half(tensor["dtype"])
            declared = np.dtype(np.float32 if half else tensor["dtype"])  # what it is computed in
            if half and result.dtype.kind != "f":
                return f"returns dtype {result.dtype} for '{tensor['name']}', the problem declares {tensor['dtype']}"
            if not wide and half:
                result = result.astype(declared)
            elif not wide and declared.kind == result.dtype.kind == "f" and result.dtype.itemsize > declared.itemsize:
                self.note = f"{self.path}: returns {result.dtype} for '{tensor['name']}', rounded to {declared}"
                result = result.astype(declared)
            elif not wide and result.dtype != declared:
                return f"returns dtype {result.dtype} for '{tensor['name']}', the problem declares {declared}"
            stored = np.float64 if declared.kind == "f" else declared
            target = tensor_at(memory, stored, place["shape"], place["offset"])
            target[...] = result
        return ""

    def serve(self, op, payload, _request):
        if op != EVALUATE:
            return 1, "unexpected request"
        try:
            text = self.evaluate(json.loads(payload))
        except Exception as error:  # the user's code: anything may come
            return 1, where(error, self.path) + last_line(error)
        return (1, f"{self.path}: {text}") if text else (0, self.note)


class CompiledReference(Reference):
    """One in C or C++. Where it has no form in float64, its own results are the expected ones."""

    def __init__(self, spec):
        from compiled import Library

        self.spec, self.path, self.note, self.torch, self.exchange = spec, spec["reference"], "", False, None
        libraries = spec["libraries"]
        self.declared = Library(libraries["declared"], spec, False)
        self.wide = Library(libraries["wide"], spec, True) if libraries["wide"] else self.declared

    def evaluate(self, job):
        library = self.wide if job["precision"] == 64 else self.declared
        self.function = lambda *arguments: library.call(
            arguments[: len(self.spec["inputs"])], arguments[len(self.spec["inputs"]) :], job
        )
        try:
            return super().evaluate(job)
        except ValueError as error:
            return str(error)

    def store(self, results, job, memory, _wide):
        return super().store(results, job, memory, True)  # of the types that its own library has


class Baseline:
    """A function that is timed: its inputs are views of the judge's memory, its outputs its own unless it takes `out`."""

    def __init__(self, spec):
        self.spec = spec
        self.framework = spec["framework"]
        self.points = {}
        self.graphs = {}  # of a GPU: by point, one for each set
        # Before the problem's folder is searched, where a file may be called like the framework.
        if is_torch(self.framework):
            prepare_torch(spec["threads"])
        elif self.framework == "jax":
            importlib.import_module("jax")
        warnings.simplefilter("ignore")
        self.function = load_function(spec["reference"], spec["function"])
        code, given = self.function.__code__, len(spec["inputs"]) + len(spec["parameters"])
        more = code.co_varnames[given : code.co_argcount]
        halves = any(is_half(t["dtype"]) for t in spec["inputs"] + spec["outputs"])
        # NumPy computes on float32 arrays where the problem has 16 bits, as it has no bfloat16.
        self.gpu = spec.get("device") == "cuda" and self.framework != "numpy"
        self.copies = self.gpu or self.framework == "jax" or (self.framework == "numpy" and halves)
        views = not self.gpu and (self.framework == "pytorch" or (self.framework == "numpy" and not halves))
        self.takes_out = "out" in more and views
        self.parameters = [
            float(p["value"]) if p["dtype"].startswith("float") else int(p["value"]) for p in spec["parameters"]
        ]
        self.prepare_framework()

    def prepare_framework(self):
        if self.gpu and is_torch(self.framework):
            import torch

            # Products in the declared type, as kernels have to compute them.
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        if self.framework == "torch.compile":
            import torch

            # Each shape gets its own code, as for a user who compiles for the shape at hand.
            torch._dynamo.config.cache_size_limit = 64
            self.function = torch.compile(self.function, dynamic=False)
        if self.framework == "jax":
            import jax

            jax.config.update("jax_enable_x64", any(t["dtype"].endswith("64") for t in self.spec["inputs"]))
            first = len(self.spec["inputs"])
            static = [first + i for i, p in enumerate(self.spec["parameters"]) if not p["dtype"].startswith("float")]
            self.function = jax.jit(self.function, static_argnums=tuple(static))

    def prepare_ahead(self):
        """Before it is asked, side by side with others: what compiles takes seconds at each point. Not what writes into
        memory that is the judge's."""
        if self.gpu or self.takes_out:
            return
        for index in range(len(self.spec["points"])):
            try:
                self.prepare(index)
            except Exception:  # who asks is told
                self.points.pop(index, None)
                return

    def prepare(self, index):
        if index in self.points and not self.copies:
            return  # views of memory stay right when its contents change; copies have to be made again
        place = self.spec["points"][index]
        inputs = mmap.mmap(place["input_fd"], os.fstat(place["input_fd"]).st_size, prot=mmap.PROT_READ)
        outputs = mmap.mmap(place["output_fd"], os.fstat(place["output_fd"]).st_size)
        sets = []
        for chosen in place["sets"]:
            arguments = [
                self.native(tensor_at(inputs, t["dtype"], p["shape"], p["offset"]), t["dtype"])
                for t, p in zip(self.spec["inputs"], chosen["inputs"])
            ]
            targets = [
                tensor_at(outputs, t["dtype"], p["shape"], p["offset"])
                for t, p in zip(self.spec["outputs"], chosen["outputs"])
            ]
            sets.append((arguments, targets))
        self.points[index] = sets
        try:
            self.call(index, 1, len(sets) - 1)
        except ValueError as error:
            from changed_inputs import is_refused, on_copies

            if self.framework != "numpy" or not is_refused(error):
                raise
            self.function = on_copies(self.function)
            self.call(index, 1, len(sets) - 1)
        self.call(index, 1, len(sets) - 1)
        if self.gpu and is_torch(self.framework):
            self.graphs[index] = [self.captured(arguments) for arguments, _ in sets]

    def captured(self, tensors):
        """A graph of one call, so that what launching from Python costs is no part of its time; with what the call
        returns. None where it cannot be captured."""
        import torch

        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = self.function(*tensors, *self.parameters)
            return graph, result
        except Exception:
            torch.cuda.synchronize()
            return None

    def native(self, array, dtype):
        if is_torch(self.framework):
            import torch

            tensor = torch.from_numpy(array.view("int16") if dtype == "bfloat16" else array)
            if self.gpu:
                tensor = tensor.cuda()
            return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor
        if self.framework == "jax":
            import jax

            if dtype == "bfloat16":
                return jax.device_put(array.view(jax.numpy.bfloat16).copy()).block_until_ready()
            return jax.device_put(array.copy()).block_until_ready()
        return widened(array, dtype) if is_half(dtype) else array

    def call(self, index, calls, chosen):
        if self.gpu and is_torch(self.framework):
            return self.call_gpu(index, calls, chosen)
        tensors, targets = self.points[index][chosen]
        arguments = tensors + self.parameters
        keywords = {"out": self.native(targets[0], self.spec["outputs"][0]["dtype"])} if self.takes_out else {}
        function, result = self.function, None
        quiet = contextlib.nullcontext()
        if self.framework == "numpy":
            import numpy as np

            quiet = np.errstate(all="ignore")
        with quiet:
            start = time.perf_counter_ns()
            for _ in range(calls):
                result = function(*arguments, **keywords)
            if self.framework == "jax" and result is not None:
                for array in as_tuple(result):
                    array.block_until_ready()
            inside = time.perf_counter_ns() - start
        self.last = (result, targets if calls else None)
        return inside

    def call_gpu(self, index, calls, chosen):
        import torch

        tensors, targets = self.points[index][chosen]
        graph, result = None, None
        if index in self.graphs and self.graphs[index][chosen]:
            graph, result = self.graphs[index][chosen]
        start = time.perf_counter_ns()
        if graph:
            for _ in range(calls):
                graph.replay()
        else:
            for _ in range(calls):
                result = self.function(*tensors, *self.parameters)
        torch.cuda.synchronize()
        inside = time.perf_counter_ns() - start
        self.last = (result, targets if calls else None)
        return inside

    def publish(self):
        """Puts the last call's result where the judge compares it; outside of the timed batch."""
        import numpy as np

        result, targets = self.last
        if targets is None:
            return
        for array, target, tensor in zip(as_tuple(result), targets, self.spec["outputs"]):
            if self.gpu and is_torch(self.framework):
                array = array.cpu()
            array = self.as_stored(array, tensor["dtype"])
            if array.shape != target.shape:
                raise ValueError(f"shape {array.shape} where {target.shape} is expected")
            if not np.shares_memory(array, target):
                target[...] = array

    def as_stored(self, array, dtype):
        import numpy as np

        if not is_half(dtype):
            return np.asarray(array.resolve_neg() if is_torch(self.framework) else array)
        if is_torch(self.framework):
            import torch

            array = array.detach().to(getattr(torch, dtype)).contiguous().view(torch.int16).numpy()
            return array.view(np.uint16 if dtype == "bfloat16" else np.float16)
        return narrowed(np.asarray(array, np.float32), dtype)

    def serve(self, op, payload, request):
        try:
            if op == PREPARE:
                self.prepare(request[1])
                return 0, ""
            if op == EVALUATE:  # for a baseline: publish the last result
                self.publish()
                return 0, ""
        except Exception as error:
            return 1, where(error, self.spec["reference"]) + last_line(error)
        return 1, "unexpected request"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    try:
        if spec["role"] == "baseline":
            host = Baseline(spec)
            host.prepare_ahead()
        else:
            host = CompiledReference(spec) if spec["framework"] == "c++" else Reference(spec)
    except Exception as error:
        missing = spec["role"] == "baseline" and isinstance(error, ModuleNotFoundError)
        failure = last_line(error) if missing else where(error, spec["reference"]) + last_line(error)
        host = None
    while True:
        request = REQUEST.unpack(read_exactly(REQUEST.size))
        op, payload = request[0], read_exactly(request[5])
        if op == QUIT:
            return
        if op == LOAD:
            reply()
            continue
        if host is None:
            reply(2, failure)
            continue
        if op == CALL:
            try:
                reply(0, "", host.call(request[1], request[2], request[3]))
            except Exception as error:
                reply(1, where(error, spec["reference"]) + last_line(error))
            continue
        status, text = host.serve(op, payload, request)
        reply(status, text)


if __name__ == "__main__":
    main()
