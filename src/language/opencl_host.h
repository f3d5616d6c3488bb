// C++ around an OpenCL program: a kernel of the C++ contract that opens libOpenCL at its first call.
#pragma once

#include <string>

#include "language/opencl.h"

namespace strop {

std::string opencl_host(const Problem& problem, const OpenClSource& source);

}  // namespace strop
