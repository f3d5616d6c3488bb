#include "device/cuda.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <regex>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "device/cuda_driver.h"
#include "sandbox/process.h"

namespace strop {

namespace {

constexpr int float32_lanes_of_a_multiprocessor = 128;
constexpr size_t copied_bytes = size_t{512} << 20;
constexpr int rounds_of_copies = 5, copies_of_a_round = 8;

CudaDevice described(const CudaDriver& driver, int number) {
    CudaDevice device;
    device.number = number;
    device.name = driver.name(number);
    device.architecture = fmt::format("sm_{}{}", driver.attribute(CudaAttribute::major_capability, number),
                                      driver.attribute(CudaAttribute::minor_capability, number));
    device.driver = fmt::format("{}.{}", driver.version() / 1000, driver.version() % 1000 / 10);
    device.multiprocessors = driver.attribute(CudaAttribute::multiprocessors, number);
    device.l2_bytes = driver.attribute(CudaAttribute::l2_bytes, number);
    device.memory_bytes = driver.memory_bytes(number);
    device.clock_hertz = 1e3 * driver.attribute(CudaAttribute::clock_kilohertz, number);
    return device;
}

// Bytes a second, read and written, of copies between two places of so many bytes; the best of a few. 0 where it cannot
// be measured.
double measured_copy(const CudaDriver& driver, const CudaDevice& device, size_t wanted_bytes) {
    size_t free = 0, total = 0;
    if (driver.use(device.number) || driver.free_memory(free, total)) return 0;
    const size_t step = driver.granularity(device.number);
    const size_t bytes = std::max(step, std::min(wanted_bytes, free / 8) / step * step);
    DevicePointer at[2] = {};
    int fds[2] = {-1, -1};
    double best = 0;
    const bool both =
        !driver.allocate(device.number, bytes, at[0], fds[0]) && !driver.allocate(device.number, bytes, at[1], fds[1]);
    for (int round = 0; both && round <= rounds_of_copies; ++round) {
        const Clock::time_point start = Clock::now();
        bool copied = true;
        for (int i = 0; i < copies_of_a_round && copied; ++i) copied = !driver.copy(at[1], at[0], bytes);
        copied = copied && !driver.synchronize();
        if (copied && round > 0)
            best = std::max(best, 2.0 * copies_of_a_round * static_cast<double>(bytes) / seconds_since(start));
    }
    for (int i = 0; i < 2; ++i) {
        if (at[i]) driver.release(at[i], bytes);
        if (fds[i] >= 0) ::close(fds[i]);
    }
    return best;
}

std::optional<Compiler> find_compiler() {
    std::vector<std::string> folders;
    if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/bin");
    if (const char* path = std::getenv("PATH"))
        for (const std::string& folder : split(path, ':')) folders.push_back(folder);
    folders.push_back("/usr/local/cuda/bin");
    for (const std::string& folder : folders) {
        std::error_code failed;
        const fs::path program = fs::path(folder) / "nvcc";
        if (!folder.starts_with('/') || !fs::exists(program, failed)) continue;
        sandbox::Command command;
        command.argv = {program.string(), "--version"};
        command.limits.wall = Seconds(20);
        const sandbox::Finished asked = sandbox::run(command);
        std::smatch match;
        if (asked.ok() && std::regex_search(asked.out, match, std::regex(R"(release [0-9.]+, V([0-9.]+))")))
            return Compiler{"nvcc", program.string(), match.str(1)};
    }
    return std::nullopt;
}

}  // namespace

std::vector<CudaDevice> cuda_devices(std::string& why) {
    const CudaDriver* driver = CudaDriver::open(why);
    std::vector<CudaDevice> devices;
    for (int i = 0; driver && i < driver->devices(); ++i) devices.push_back(described(*driver, i));
    return devices;
}

std::string description_of(const CudaDevice& device) {
    return fmt::format("{} ({}), CUDA {}", device.name, device.architecture, device.driver);
}

CudaDevice cuda_device() {
    std::string why;
    const std::vector<CudaDevice> devices = cuda_devices(why);
    if (devices.empty())
        throw EnvironmentError("no CUDA device: " + why,
                               "run this where nvidia-smi lists one; --device emulated judges without one");
    return devices.front();
}

const Compiler* cuda_compiler() {
    static const std::optional<Compiler> compiler = find_compiler();
    return compiler ? &*compiler : nullptr;
}

Machine as_cuda_machine(Machine machine, const CudaDevice& device) {
    std::string why;
    const CudaDriver* driver = CudaDriver::open(why);
    const double in_l2 = driver ? measured_copy(*driver, device, static_cast<size_t>(device.l2_bytes) / 8) : 0;
    machine.caches = {{2, device.l2_bytes, machine.cores, in_l2}};
    machine.memory_bytes = device.memory_bytes;
    machine.ceilings = {};
    machine.ceilings.memory_copy = driver ? measured_copy(*driver, device, copied_bytes) : 0;
    machine.ceilings.memory_read = machine.ceilings.memory_copy_one_core = machine.ceilings.memory_copy;
    machine.ceilings.fma_flops_all_cores = machine.ceilings.fma_flops_one_core =
        2.0 * float32_lanes_of_a_multiprocessor * device.multiprocessors * device.clock_hertz;
    machine.fingerprint = content_hash(machine.fingerprint + device.name + device.architecture + device.driver);
    return machine;
}

}  // namespace strop
