// Kernels in OpenCL: one `.cl` file with tunables, buffers and launches as comments.
#pragma once

#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"

namespace strop {

// What an argument of an OpenCL kernel stands for, found by its name.
struct OpenClArgument {
    enum class Kind { input, output, parameter, dimension, buffer };
    std::string name;
    Kind kind = Kind::input;
};

struct OpenClKernel {
    std::string name;
    std::vector<OpenClArgument> arguments;
};

// `strop:buffer partial float M * PARTS`: global memory between launches.
struct OpenClBuffer {
    std::string name, type;
    Expression elements;
};

// `strop:launch row_sums global PARTS * LOCAL, M local LOCAL, 1`: one to three sizes each.
struct OpenClLaunch {
    std::string kernel;
    std::vector<Expression> global, local;  // local: empty where the implementation chooses
};

struct OpenClSource {
    std::string program;               // without `strop:` comments, line by line where it was
    std::string when;                  // its comment of that name, or nothing
    TunableSpace space;                // late tunables and options of clBuildProgram are constants
    std::vector<std::string> options;  // names of tunables that are options of clBuildProgram
    std::vector<OpenClBuffer> buffers;
    std::vector<OpenClKernel> kernels;  // those that are launched, in order of the first launch
    std::vector<OpenClLaunch> launches;
};

// UsageError "FILE:LINE: ..." for what is not in the contract, or does not fit the problem.
OpenClSource read_opencl(const std::string& source, const Problem& problem, const std::string& file);

// "float", "long"; a bool is a uchar.
std::string opencl_type(DType dtype);

}  // namespace strop
