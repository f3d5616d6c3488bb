"""References in C and C++: libraries that host.py calls on memory that ends where nobody may go on."""

import ctypes
import mmap

import numpy as np

PAGE = mmap.PAGESIZE
PROT_NONE, PROT_READ, PROT_WRITE = 0, 1, 2
SLACK = 0xA5
# What outputs hold before a call: NaNs as floating numbers. Bytes that follow the fill are not written.
FILLS = (0xFF, 0xFE)

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Watched(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p)] + [
        (field, ctypes.c_int64) for field in ("is_input", "begin", "end", "mapped", "unmapped")
    ]


class Guarded:
    """Memory of one tensor whose last byte is the last of its page, between forbidden pages."""

    def __init__(self, name, shape, dtype):
        self.name = name
        count = 1
        for extent in shape:
            count *= extent
        self.bytes = count * dtype.itemsize
        whole = max(1, -(-self.bytes // PAGE)) * PAGE
        self.memory = mmap.mmap(-1, whole + 2 * PAGE)
        handle = ctypes.c_char.from_buffer(self.memory)
        self.mapped = ctypes.addressof(handle)
        del handle
        self.begin = self.mapped + PAGE + whole - self.bytes
        self.whole = whole
        offset = self.begin - self.mapped
        self.array = np.frombuffer(self.memory, dtype=dtype, count=count, offset=offset).reshape(shape)
        self.raw = np.frombuffer(self.memory, dtype=np.uint8, count=self.bytes, offset=offset)
        self.slack = np.frombuffer(self.memory, dtype=np.uint8, count=whole - self.bytes, offset=PAGE)
        self.slack[:] = SLACK
        self.protect(self.mapped, PAGE, PROT_NONE)
        self.protect(self.mapped + PAGE + whole, PAGE, PROT_NONE)

    @staticmethod
    def protect(address, size, rights):
        if libc.mprotect(address, size, rights) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")

    def lock(self):
        self.protect(self.mapped + PAGE, self.whole, PROT_READ)

    def has_unwritten(self):
        return bool((self.raw.reshape(-1, self.array.itemsize) == FILLS[0]).all(axis=1).any())

    def watched(self, is_input):
        end = self.begin + self.bytes
        after = self.mapped + 2 * PAGE + self.whole
        return Watched(self.name.encode(), is_input, self.begin, end, self.mapped, after)


class Library:
    """A reference as declared or in float64, called with arrays."""

    def __init__(self, path, spec, wide):
        self.inputs, self.outputs, self.parameters = spec["inputs"], spec["outputs"], spec["parameters"]
        self.wide = wide
        self.library = ctypes.CDLL(path)
        if spec["late"]:
            late = (ctypes.c_int64 * len(spec["late"])).in_dll(self.library, "strop_late")
            late[:] = spec["late"]
        self.known = set()  # shapes at which it is known to write its outputs

    def dtype(self, tensor):
        return np.dtype("float64" if self.wide and tensor["dtype"] == "float32" else tensor["dtype"])

    def call(self, arrays, parameters, job):
        """The outputs, or a text that says what is wrong."""
        inputs = []
        for tensor, array in zip(self.inputs, arrays):
            inputs.append(Guarded(tensor["name"], array.shape, self.dtype(tensor)))
            inputs[-1].array[...] = array
            inputs[-1].lock()
        outputs = [Guarded(t["name"], p["shape"], self.dtype(t)) for t, p in zip(self.outputs, job["outputs"])]
        self.fill_and_call(inputs, outputs, parameters, job, FILLS[0])
        shapes = tuple(tuple(place["shape"]) for place in job["inputs"])
        if not self.known or (shapes not in self.known and any(output.has_unwritten() for output in outputs)):
            self.compare_fills(inputs, outputs, parameters, job)
        self.known.add(shapes)
        return tuple(output.array for output in outputs)

    def fill_and_call(self, inputs, outputs, parameters, job, fill):
        for output in outputs:
            output.raw[:] = fill
        tensors = inputs + outputs
        watched = (Watched * len(tensors))(
            *[tensor.watched(i < len(inputs)) for i, tensor in enumerate(tensors)]
        )
        pointers = (ctypes.c_void_p * len(tensors))(*[tensor.begin for tensor in tensors])
        numbers = (ctypes.c_double * max(1, len(parameters)))(*parameters)
        dimensions = job["dimensions"]
        extents = (ctypes.c_int64 * max(1, len(dimensions)))(*dimensions)
        said = ctypes.create_string_buffer(300)
        self.library.strop_watch(watched, ctypes.c_int64(len(tensors)))
        if self.library.strop_watched(pointers, numbers, extents, said, ctypes.c_int64(len(said))) != 0:
            raise ValueError(said.value.decode("utf-8", "replace"))
        for output in outputs:
            if (output.slack != SLACK).any():
                raise ValueError(f"writes before the begin of '{output.name}'")

    def compare_fills(self, inputs, outputs, parameters, job):
        """What differs when outputs held something else before, and is the same again when they did not."""
        first = [output.raw.copy() for output in outputs]
        self.fill_and_call(inputs, outputs, parameters, job, FILLS[1])
        other = [output.raw.copy() for output in outputs]
        self.fill_and_call(inputs, outputs, parameters, job, FILLS[0])
        for output, once, differently in zip(outputs, first, other):
            itemsize = output.array.itemsize
            depends = ((once != differently) & (once == output.raw)).reshape(-1, itemsize).any(axis=1)
            values = output.array.reshape(-1)
            if values.dtype.kind == "f":  # threads may add up in another order, by a rounding error
                depends &= np.isnan(values) | np.isnan(differently.view(values.dtype))
            if depends.any():
                at = np.unravel_index(int(np.argmax(depends)), output.array.shape)
                place = ", ".join(str(int(i)) for i in at)
                raise ValueError(
                    f"does not write '{output.name}'[{place}], or adds to it: outputs hold garbage before a call"
                )
