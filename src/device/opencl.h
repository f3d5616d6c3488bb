// OpenCL devices of this system, asked in a process of its own: nothing here is linked with a driver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strop {

struct OpenClDevice {
    std::string platform, name, version;  // "Portable Computing Language", "pthread-...", "OpenCL 3.0 PoCL"
    int units = 0;                        // compute units
    int64_t local_bytes = 0, global_bytes = 0;
};

// The first is the one that kernels run on. Empty: `why` says what is missing.
std::vector<OpenClDevice> opencl_devices(std::string& why);

// The first device. EnvironmentError with a hint when there is none.
OpenClDevice opencl_device();

}  // namespace strop
