#include "run/run_machine.h"

#include <chrono>

#include "core/json.h"
#include "device/machine.h"
#include "run/recording.h"

namespace strop {

namespace {

constexpr Seconds lasting_ceilings = std::chrono::hours(1);   // what a machine can do changes with its neighbours

}  // namespace

RunMachine::RunMachine(Store& store, std::string run) : store_(store), run_(std::move(run)) {
    if (std::optional<std::string> known = store_.find_document(run_, machine_key)) {
        machine_ = Json::parse(*known).get<Machine>();
        return;
    }
    is_new_ = true;
    machine_ = measured_machine();
    if (age_of_ceilings(machine_) > lasting_ceilings) raise_ceilings(machine_);
    keep();
}

void RunMachine::raise() {
    raise_ceilings(machine_);
    keep();
}

void RunMachine::keep() { store_.add_document(run_, machine_key, dump(Json(machine_))); }

}  // namespace strop
