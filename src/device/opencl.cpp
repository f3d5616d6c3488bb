#include "device/opencl.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/line.h"
#include "base/strings.h"
#include "device/machine.h"
#include "sandbox/process.h"

namespace strop {

std::vector<OpenClDevice> opencl_devices(std::string& why) {
    sandbox::Command command;
    command.argv = {reference_python(), (home_folder() / "python" / "strop" / "opencl_devices.py").string()};
    command.trust = sandbox::Trust::tool;
    command.limits.wall = Seconds(20);
    const sandbox::Finished asked = sandbox::run(command);
    std::vector<OpenClDevice> devices;
    const nlohmann::json listed = nlohmann::json::parse(asked.out, nullptr, false);
    if (listed.is_array()) {
        for (const nlohmann::json& one : listed)
            devices.push_back({one.value("platform", ""), one.value("name", ""), one.value("version", ""),
                               one.value("units", 0), one.value("local_bytes", int64_t{0}),
                               one.value("global_bytes", int64_t{0})});
    }
    if (devices.empty())
        why = asked.exit_code == 1 ? one_line(std::string(trim(asked.err))) : "the OpenCL driver " + asked.describe();
    return devices;
}

OpenClDevice opencl_device() {
    std::string why;
    const std::vector<OpenClDevice> devices = opencl_devices(why);
    if (devices.empty())
        throw EnvironmentError(
            fmt::format("no OpenCL device: {}", why),
            "install a driver and its loader (Debian: pocl-opencl-icd ocl-icd-libopencl1 for the processor), "
            "or leave --device out");
    return devices.front();
}

}  // namespace strop
