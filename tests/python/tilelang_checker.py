"""Lowers TileLang modules to CUDA without a device. Reads JSON, writes a .cu for each strategy, prints what is wrong.

A list of {"name", "call", "dims", "settings", "strategies", "folder"}: for each strategy the module's function is called
with tensors of these dimensions, and what it would launch becomes FOLDER/ID.cu, which `strop judge --device emulated`
takes. TileLang's own device functions, which are in PTX, are replaced by those below: reductions of a block, and
asynchronous copies, which happen at once. With --nvcc the kernels are also compiled for sm_90a, with TileLang's.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tilelang
import torch
from tilelang.backend.target import determine_target

DIMENSIONS = {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max, "__builtins__": {}}

PRELUDE = r"""
#include <math_constants.h>
typedef unsigned char uchar;

namespace tl {

struct SumOp {
    template <class T> T operator()(T a, T b) const { return a + b; }
};
struct SyncThreadsBarrier {
    static void sync() { __syncthreads(); }
};
template <int threads> struct NamedBarrier : SyncThreadsBarrier {};

// Of all threads whose numbers differ only in the digits from `scale` up to `threads`.
template <class Law, int threads, int scale, int first = 0, class Barrier = SyncThreadsBarrier>
struct AllReduce {
    template <class T> static T run(T mine, T* room = nullptr) {
        if (threads <= 32) {
            for (int far = threads / 2; far >= scale; far /= 2) mine = Law()(mine, __shfl_xor_sync(~0u, mine, far));
            return mine;
        }
        const int me = threadIdx.x - first, group = me / threads * threads + me % scale;
        Barrier::sync();
        room[me] = mine;
        Barrier::sync();
        T all = room[group];
        for (int other = group + scale; other < group / threads * threads + threads; other += scale)
            all = Law()(all, room[other]);
        Barrier::sync();
        return all;
    }
};

template <int bytes> void cp_async_gs(void* to, const void* from) {
    for (int word = 0; word < bytes / 4; ++word) ((uint32_t*)to)[word] = ((const uint32_t*)from)[word];
}
inline void cp_async_commit() {}
template <int behind> void cp_async_wait() {}

}  // namespace tl

"""

C_TYPES = {"float32": "float", "float64": "double", "int32": "int32_t", "int64": "int64_t", "bool": "bool", "int8": "int8_t", "uint8": "uint8_t"}


class Launches:
    """Stands for tilelang.compile: kernels are lowered, and their launches noted."""

    def __init__(self):
        self.all = []

    def compile(self, function, pass_configs):
        target = determine_target({"kind": "cuda", "arch": "sm_90a"}, return_object=True)
        with target, tilelang.transform.PassContext(config=pass_configs):
            lowered = tilelang.lower(function, target=target)
        [(_, device)] = lowered.device_mod.functions.items()
        names = [function.buffer_map[one].name if one in function.buffer_map else one.name for one in function.params]

        def launch(*arguments):
            assert len(arguments) == len(names)
            given = dict(zip(names, arguments))  # the kernel has them in another order
            self.all.append({"source": lowered.kernel_source, "arguments": [given[one.name] for one in device.params],
                             "blocks": int(device.attrs["thread_extent"].get("blockIdx.x", 1)),
                             "threads": int(device.attrs["thread_extent"]["threadIdx.x"]),
                             "shared": int(device.attrs.get("dyn_shared_memory_buf", 0))})

        return launch


def module_of(source, folder, name):
    path = os.path.join(folder, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launches_of(one, strategy, folder):
    """What the module's function launches, the tensors of its arguments by their storage."""
    module = module_of(strategy["source"], folder, f"m{abs(hash((one['name'], strategy['id'], str(one['settings']))))}")
    for name, value in {**one["settings"], **strategy.get("settings", {})}.items():
        if hasattr(module, name):
            setattr(module, name, value)
    call, known = one["call"], {**one["dims"]}
    known.update({parameter["name"]: int(parameter["value"]) for parameter in call["parameters"]
                  if parameter["dtype"].startswith("int")})
    names, tensors = {}, {}
    for tensor in (*call["inputs"], *call["outputs"]):
        extents = [int(eval(extent, DIMENSIONS, known)) for extent in tensor["shape"]]
        tensors[tensor["name"]] = torch.zeros(extents, dtype=getattr(torch, tensor["dtype"]))
        names[tensors[tensor["name"]].data_ptr()] = tensor["name"]
    launches, tilelang.compile = Launches(), None
    tilelang.compile = launches.compile
    asked = {name: value for name, value in one["dims"].items()
             if name in getattr(module, one["name"]).__code__.co_varnames[:getattr(module, one["name"]).__code__.co_argcount]}
    getattr(module, one["name"])(**tensors, **asked)
    return launches.all, names


def program_of(one, launches, names):
    """The launches as one source with the contract of CUDA kernels."""
    text, body, buffers = PRELUDE, "", {}
    for number, launch in enumerate(launches):
        source = launch["source"][launch["source"].index('extern "C" __global__'):]
        old = re.search(r"__launch_bounds__\([^)]*\) (\w+)\(([^)]*)\)", source)
        new = f"{old[1]}_{number}"
        text += re.sub(rf"\b{old[1]}\b", new, source.replace('extern "C" ', ""))
        arguments = []
        for declared, given in zip(old[2].split(", "), launch["arguments"], strict=True):
            pointer = declared.replace("__restrict__ ", "").rsplit(" ", 1)[0]
            if isinstance(given, torch.Tensor):
                if given.data_ptr() not in names:
                    names[given.data_ptr()] = f"buffer_{len(buffers)}"
                    buffers[names[given.data_ptr()]] = given.numel() * given.element_size()
                arguments.append(f"({pointer}){names[given.data_ptr()]}")
            else:
                arguments.append(repr(given))
        if launch["shared"] > 48 << 10:
            body += f"    cudaFuncSetAttribute({new}, cudaFuncAttributeMaxDynamicSharedMemorySize, {launch['shared']});\n"
        body += (f"    {new}<<<{launch['blocks']}, {launch['threads']}, {launch['shared']}, stream>>>"
                 f"({', '.join(arguments)});\n")
    call = one["call"]
    head = [f"const {C_TYPES[tensor['dtype']]}* {tensor['name']}" for tensor in call["inputs"]]
    head += [f"{C_TYPES[tensor['dtype']]}* {tensor['name']}" for tensor in call["outputs"]]
    head += [f"{C_TYPES[parameter['dtype']]} {parameter['name']}" for parameter in call["parameters"]]
    head += [f"int64_t {dimension}" for dimension in call["dimensions"]] + ["cudaStream_t stream"]
    allocate = "".join(f"    void* {name};\n    cudaMallocAsync(&{name}, {size}, stream);\n" for name, size in buffers.items())
    free = "".join(f"    cudaFreeAsync({name}, stream);\n" for name in buffers)
    return text + f'extern "C" void {one["name"]}({", ".join(head)}) {{\n{allocate}{body}{free}}}\n'


def include_flags():
    root = os.path.dirname(tilelang.__file__)
    return ["-I" + os.path.join(root, "src"), "-I" + os.path.join(root, "3rdparty", "cutlass", "include")]


def refused_by_nvcc(source, folder):
    """What nvcc says of the kernel for sm_90a; None where it takes it."""
    file = os.path.join(folder, "kernel.cu")
    with open(file, "w", encoding="utf-8") as out:
        out.write(source)
    done = subprocess.run(["nvcc", "-std=c++17", "-arch=sm_90a", "--cubin", "-o", os.path.join(folder, "kernel.cubin"),
                           *include_flags(), file], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else "nvcc: " + (done.stdout + done.stderr)[:1000]


def main():
    failures, compiled = 0, 0
    nvcc = "--nvcc" in sys.argv[1:] and shutil.which("nvcc")
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        for one in json.load(sys.stdin):
            for strategy in one["strategies"]:
                try:
                    launches, names = launches_of(one, strategy, folder)
                    with open(os.path.join(one["folder"], strategy["id"] + ".cu"), "w", encoding="utf-8") as file:
                        file.write(program_of(one, launches, names))
                    found = []
                    for source in {launch["source"] for launch in launches} - seen if nvcc else ():
                        seen.add(source)
                        compiled += 1
                        found += filter(None, [refused_by_nvcc(source, folder)])
                except Exception as error:  # of any kind: the others are checked still
                    found = [f"{type(error).__name__}: {error}".replace("\n", " ")[:2000]]
                for finding in found:
                    failures += 1
                    print(f"{one['name']}, {strategy['id']}: {finding}")
    if nvcc:
        print(f"nvcc compiled {compiled} kernels for sm_90a", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
