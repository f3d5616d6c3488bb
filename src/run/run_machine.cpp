#include "run/run_machine.h"

#include <fmt/format.h>

#include "base/error.h"
#include "core/json.h"
#include "device/opencl.h"
#include "run/recording.h"

namespace strop {

RunMachine::RunMachine(Store& store, std::string run, judge::WorkerPool& worker)
    : store_(store),
      worker_(worker),
      run_(std::move(run)) {
    if (std::optional<std::string> known = store_.find_document(run_, machine_key)) {
        machine_ = Json::parse(*known).get<Machine>();
        check_same_machine();
        return;
    }
    is_new_ = true;
    machine_ = worker_.machine(lasting_ceilings);
    keep();
}

void RunMachine::raise() {
    machine_ = worker_.machine(Seconds(0));
    keep();
}

// What was measured before would not be found again, and the rest would be of two machines.
void RunMachine::check_same_machine() const {
    const Machine& now = worker_.greeting().machine;
    if (now.fingerprint == machine_.fingerprint) return;
    throw EnvironmentError(fmt::format("run {} began on another machine: {}; the worker's is {}", run_,
                                       judge::machine_text(machine_), judge::machine_text(now)),
                           "go on with a worker there (--worker COMMAND), or start a new run");
}

void RunMachine::keep() { store_.add_document(run_, machine_key, dump(Json(machine_))); }

std::string described_opencl_device(const judge::Workers& workers) {
    if (!workers.are_own())
        throw UsageError("--device opencl: OpenCL programs are judged on this machine only",
                         "leave --worker out, and name no worker by --device");
    const OpenClDevice device = opencl_device();
    return fmt::format("{}, {}", device.name, device.version);
}

}  // namespace strop
