#include "run/result_python_forms.h"

namespace strop::result::form {

const char* const head = R"py("""@title@

    @example@

The kernel is @name@.cpp beside this file, and @name@_python.cpp calls it; both are compiled into build/ on first use.
"""

import ctypes
import hashlib
import importlib.machinery
import importlib.util
@imports@import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading

__all__ = ["@name@"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SOURCE = os.path.join(_FOLDER, "@name@.cpp")
_BINDING_SOURCE = os.path.join(_FOLDER, "@name@_python.cpp")
@compilers@
@flags@@own_flags@@units@


)py";

const char* const refuse_check = R"py(

def _refuse(kind, what):
    raise kind("@name@: " + what)
)py";

const char* const shape_check = R"py(

def _module(name, value):
    """The module of that name if the caller uses it: neither NumPy nor PyTorch is imported here."""
    module = sys.modules.get(name)
    kind = getattr(module, "Tensor" if name == "torch" else "ndarray", ())
    return module if isinstance(value, kind) else None


def _shape(name, value, dtype, rank, expected):
    """Refuses what the kernel cannot read."""
    torch = _module("torch", value)
    if torch:
        if value.device.type != "cpu":
            _refuse(ValueError, f"{name} is on device {value.device}; expected a CPU tensor")
        if value.layout is not torch.strided:
            _refuse(ValueError, f"{name} has layout {value.layout}; expected a dense tensor")
        if value.requires_grad and torch.is_grad_enabled():
            _refuse(ValueError, f"{name} requires a gradient; expected {name}.detach(): none is computed")
        if value.is_neg():
            _refuse(ValueError, f"{name} is a view of the negative of its memory; expected {name}.resolve_neg()")
        found, contiguous, copy = str(value.dtype)[len("torch."):], value.is_contiguous(), "contiguous()"
    elif _module("numpy", value):
        found, contiguous, copy = value.dtype, value.flags.c_contiguous and value.flags.aligned, "copy()"
    else:
        kind = type(value).__name__
        _refuse(TypeError, f"{name} is of type {kind}; expected a NumPy array or a CPU tensor")
    if str(found) != dtype:
        _refuse(TypeError, f"{name} has dtype {found}; expected {dtype}"@bits_hint@)
    shape = tuple(value.shape)
    if len(shape) != rank:
        _refuse(ValueError, f"{name} has shape {shape}; expected {rank} dimensions, {expected}")
    if not contiguous:
        _refuse(ValueError, f"{name} is not contiguous; expected row-major memory as of {name}.{copy}")
    return shape
)py";

const char* const array_of_scalar = R"py(

def _array(value):
    """One of NumPy's scalars, which are no arrays (what x.max() gives), as one."""
    numpy = sys.modules.get("numpy")
    return numpy.asarray(value) if isinstance(value, getattr(numpy, "generic", ())) else value
)py";

const char* const expect_check = R"py(

def _expect(name, shape, expected, text):
    if shape != expected:
        _refuse(ValueError, f"{name} has shape {shape}; expected {expected}, which is {text}")
)py";

const char* const output_check = R"py(

def _output(name, value, like, dtype, shape, text):
    """`value` when it can hold the result, else new memory of the kind of `like`."""
    if value is None:
        if any(extent < 0 for extent in shape):
            _refuse(ValueError, f"{name} would have shape {shape}, which is {text}; expected extents >= 0")
        torch = _module("torch", like)
        if torch:
            return torch.empty(shape, dtype=getattr(torch, dtype))
        return sys.modules["numpy"].empty(shape, @array_type@)
    _expect(name, _shape(name, value, dtype, len(shape), text), shape, text)
    if _module("numpy", value) and not value.flags.writeable:
        _refuse(ValueError, f"{name} is read-only; expected memory to write to")
    return value


def _pointer(value):
    return value.data_ptr() if _module("torch", value) else value.ctypes.data
)py";

const char* const overlap_check = R"py(

def _refuse_overlap(outputs, inputs):
    """Both are lists of (name, value)."""
    def span(value):
        begin = _pointer(value)
        return begin, begin + value.nbytes

    for i, (name, value) in enumerate(outputs):
        begin, end = span(value)
        for other_name, other in outputs[:i] + inputs:
            other_begin, other_end = span(other)
            if begin < other_end and other_begin < end:
                _refuse(ValueError, f"{name} overlaps {other_name}; expected memory of its own")
)py";

const char* const outputs_check = R"py(

def _outputs(name, value, count):
    if value is None:
        return [None] * count
    if not isinstance(value, (tuple, list)) or len(value) != count:
        _refuse(TypeError, f"{name} is of type {type(value).__name__}; expected a tuple of {count}")
    return value
)py";

const char* const bfloat16_type = R"py(

def _array_type(name, dtype):
    """NumPy knows bfloat16 where the package ml_dtypes is there."""
    if dtype == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            _refuse(TypeError, f"{name} would be bfloat16, for which NumPy needs ml_dtypes; expected that package or a tensor")
        return ml_dtypes.bfloat16
    return dtype
)py";

const char* const integer_check = R"py(

def _integer(name, value, low, high):
    try:
        number = operator.index(value)
    except TypeError:
        _refuse(TypeError, f"{name} is {value!r}; expected an integer")
    if not low <= number <= high:
        _refuse(ValueError, f"{name} is {number}; expected {low} to {high}")
    return number
)py";

const char* const number_check = R"py(

def _number(name, value):
    try:
        return float(value)
    except (TypeError, ValueError):
        _refuse(TypeError, f"{name} is {value!r}; expected a number")
)py";

const char* const require_check = R"py(

def _require(holds, condition, /, **values):
    if not holds:
        found = ", ".join(f"{name} = {value}" for name, value in values.items())
        _refuse(ValueError, f"expected {condition}; here {found}")
)py";

const char* const ceildiv_function = R"py(

def ceildiv(a, b):
    return -(-a // b)
)py";

const char* const loading = R"py(

_lock = threading.Lock()
_function = None
_call = _checked  # until the kernel is loaded


def _kernel():
    global _function, _call
    with _lock:
        if _function is None:
            path = _place("lib@name@", ".so", [_SOURCE@unit_sources@])
            _build(path, _SOURCE, _kernel_flags@units_argument@)
            @load@
            function.restype = None
            function.argtypes = @argument_types@
            _function, _call = function, _bound(function)
    return _function


def _bound(function):
    """The binding's way of calling; without one the way through ctypes, which is said once."""
    try:
        include = sysconfig.get_path("include")
        if not os.path.exists(os.path.join(include, "Python.h")):
            raise RuntimeError(f"@name@: no Python.h in {include}")
        path = _place("@name@_python", sysconfig.get_config_var("EXT_SUFFIX"), [_BINDING_SOURCE, _SOURCE@unit_sources@])
        _build(path, _BINDING_SOURCE, lambda command: ["-std=c++17", "-O2", "-I" + include])
        loader = importlib.machinery.ExtensionFileLoader("@name@_python", path)
        binding = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(binding)
    except (OSError, RuntimeError, ImportError) as error:
        print(f"{error}\n@name@: calls go through ctypes, some 20 microseconds each", file=sys.stderr)
        return _checked
    binding.bind(ctypes.cast(function, ctypes.c_void_p).value, _checked)
    return binding.@name@


def _place(name, ending, sources):
    """Other sources are another file: a process keeps what it has loaded under one name."""
    digest = hashlib.sha256(repr([_FLAGS@own_flags_in_name@]).encode())
    for source in sources:
        with open(source, "rb") as file:
            digest.update(file.read())
    return os.path.join(_FOLDER, "build", f"{name}-{digest.hexdigest()[:12]}{ending}")


def _kernel_flags(command):
    return _FLAGS@own_flags_here@


def _build(library, source, flags@units_parameter@):
    """The first compiler that succeeds, where the library is not there; $CXX instead of all when it is set."""
    if os.path.exists(library):
        return
    chosen = shlex.split(os.environ.get("CXX", ""))
    compilers = [chosen] if chosen else [[name] for name in _COMPILERS]
    compilers = [command for command in compilers if shutil.which(command[0])]
    if not compilers:
        tried = chosen[0] if chosen else ", ".join(_COMPILERS)
        raise RuntimeError(f"@name@: no C++ compiler was found (tried {tried}); install one or set CXX to it")
    os.makedirs(os.path.dirname(library), exist_ok=True)
    messages = []
    for command in compilers:
        # Under another name first, since other processes may be loading the library.
        with tempfile.TemporaryDirectory(dir=os.path.dirname(library)) as folder:
            built = os.path.join(folder, "library.so")
@compile@            if finished.returncode == 0:
                os.replace(built, library)
                return
        messages.append(" ".join(command) + ":\n" + finished.stdout)
    raise RuntimeError(f"@name@: {os.path.basename(source)} could not be compiled\n" + "\n".join(messages))
)py";

// What differs between a source by itself and one with units, which are compiled apart.
const std::vector<std::pair<std::string, std::string>> of_one_source = {
    {"units_argument", ""},
    {"units_parameter", ""},
    {"unit_sources", ""},
    {"load", "function = ctypes.CDLL(path).@name@"},
    {"compile",
     R"py(            finished = subprocess.run([*command, *flags(command), "-shared", "-fPIC", "-o", built, source],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
)py"},
};
const std::vector<std::pair<std::string, std::string>> of_units = {
    {"units_argument", ", _UNITS"},
    {"units_parameter", ", units={}"},
    {"load",
     R"py(library = ctypes.CDLL(path)
            library.@name@_target.restype = ctypes.c_char_p
            library.@name@_use_target.argtypes = [ctypes.c_char_p]
            if library.@name@_target() is None:
                asked = os.environ.get("@name@_TARGET")
                none = f"@name@_TARGET={asked} is no target" if asked else "none of @targets@ is one"
                raise RuntimeError(f"@name@: {none} that this processor executes")
            _library, function = library, library.@name@)py"},
    {"unit_sources", "] + [os.path.join(_FOLDER, unit) for unit in _UNITS"},
    {"compile",
     R"py(            # In this order: of inline functions that several files have the linker takes the first.
            objects = [os.path.join(folder, f"{i}.o") for i in range(len(units))]
            steps = [[*command, *own, "-fPIC", "-c", "-o", made, os.path.join(_FOLDER, unit)]
                     for made, (unit, own) in zip(objects, units.items())]
            steps.append([*command, *flags(command), "-shared", "-fPIC", "-o", built, source, *objects])
            for step in steps:
                finished = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          universal_newlines=True)
                if finished.returncode != 0:
                    break
)py"},
};

const char* const target_functions = R"py(

def target():
    """The target in use: of @targets@ the one that asks most of this processor, or that of @name@_TARGET."""
    _kernel()
    return _library.@name@_target().decode()


def use_target(name):
    """Another target from now on; None: what would be chosen anyway."""
    _kernel()
    if not _library.@name@_use_target(None if name is None else name.encode()):
        _refuse(ValueError, f"{name} is no target that this processor executes; targets are @targets@")
)py";

const char* const gpu_head = R"py("""@name@ on a GPU, for PyTorch tensors.

    @example@

The kernel is @name@.cu beside this file; nvcc compiles it into build/ on first use.
"""

import ctypes
import hashlib
@imports@import os
import shutil
import subprocess
import tempfile
import threading

import torch

__all__ = ["@name@"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SOURCE = os.path.join(_FOLDER, "@name@.cu")


)py";

const char* const gpu_shape_check = R"py(

def _shape(name, value, dtype, rank, expected):
    """Refuses what the kernel cannot read."""
    if not isinstance(value, torch.Tensor):
        _refuse(TypeError, f"{name} is of type {type(value).__name__}; expected a CUDA tensor")
    if value.device.type != "cuda":
        _refuse(ValueError, f"{name} is on device {value.device}; expected a CUDA tensor")
    if value.requires_grad and torch.is_grad_enabled():
        _refuse(ValueError, f"{name} requires a gradient; expected {name}.detach(): none is computed")
    if value.dtype is not getattr(torch, dtype):
        _refuse(TypeError, f"{name} has dtype {value.dtype}; expected {dtype}")
    shape = tuple(value.shape)
    if len(shape) != rank:
        _refuse(ValueError, f"{name} has shape {shape}; expected {rank} dimensions, {expected}")
    if not value.is_contiguous():
        _refuse(ValueError, f"{name} is not contiguous; expected row-major memory as of {name}.contiguous()")
    if value.data_ptr() % 16:
        _refuse(ValueError, f"{name} begins at no multiple of 16 bytes; expected memory as of {name}.clone()")
    return shape
)py";

const char* const gpu_output_check = R"py(

def _output(name, value, like, dtype, shape, text):
    """`value` when it can hold the result, else new memory where `like` is."""
    if value is None:
        if any(extent < 0 for extent in shape):
            _refuse(ValueError, f"{name} would have shape {shape}, which is {text}; expected extents >= 0")
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    _expect(name, _shape(name, value, dtype, len(shape), text), shape, text)
    if value.device != like.device:
        _refuse(ValueError, f"{name} is on {value.device}; expected {like.device}, where the inputs are")
    return value


def _pointer(value):
    return value.data_ptr()
)py";

const char* const gpu_loading = R"py(

_lock = threading.Lock()
_functions = {}  # by device


def _launch(device, *arguments):
    """On the device's current stream."""
    function = _functions.get(device) or _kernel(device)
    if device == torch.cuda.current_device():
        return function(*arguments, _stream(device))
    with torch.cuda.device(device):
        function(*arguments, _stream(device))


def _stream_of_pytorch(device):
    return torch.cuda.current_stream(device).cuda_stream


# As compiled code of PyTorch asks for it, where that is there: some microseconds less.
_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _stream_of_pytorch)


def _kernel(device):
    major, minor = torch.cuda.get_device_capability(device)
    with _lock:
        function = ctypes.CDLL(_build(f"sm_{major}{minor}")).@name@
        function.restype = None
        function.argtypes = @argument_types@
        _functions[device] = function
    return function


def _build(architecture):
    """The library for these devices, compiled where it is not there."""
    with open(_SOURCE, "rb") as file:  # another source is another file: a process keeps what it has loaded under one name
        digest = hashlib.sha256(file.read()).hexdigest()[:12]
    library = os.path.join(_FOLDER, "build", f"lib@name@_{architecture}-{digest}.so")
    if os.path.exists(library):
        return library
    home = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
    compiler = home if os.path.exists(home) else shutil.which("nvcc")
    if not compiler:
        raise RuntimeError("@name@: nvcc was not found; install it or set CUDA_HOME")
    os.makedirs(os.path.dirname(library), exist_ok=True)
    # Under another name first, since other processes may be loading the library.
    with tempfile.TemporaryDirectory(dir=os.path.dirname(library)) as folder:
        built = os.path.join(folder, "library.so")
        finished = subprocess.run([compiler, "-O3", "-std=c++17", "-arch=" + architecture, "-shared", "-Xcompiler",
                                   "-fPIC", "-o", built, _SOURCE],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if finished.returncode != 0:
            raise RuntimeError("@name@: @name@.cu could not be compiled\n" + finished.stdout)
        os.replace(built, library)
    return library
)py";

}  // namespace strop::result::form
