// Strop's commands as tools of the protocol. Each call runs the program itself, so that a kernel, a run or a client
// that vanishes takes nothing down with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mcp/service.h"

namespace strop::mcp {

struct Program {
    std::filesystem::path path;  // the program `strop`
    std::string version;
    std::string contract;  // what a kernel has to be (docs/kernels.md); empty where it is not installed
};

Service strop_service(const Program& program);

}  // namespace strop::mcp
