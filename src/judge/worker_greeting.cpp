#include "judge/worker_greeting.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "device/machine.h"
#include "language/cpp.h"
#include "sandbox/process.h"

namespace strop::judge {

const char* this_version() { return STROP_VERSION; }

Greeting greeting_of_this_machine(const Machine& machine) {
    return {this_version(),
            worker_protocol,
            machine,
            CppToolchain(machine).description(),
            sandbox::weaker_protections(),
            ""};
}

Json to_json(const Greeting& greeting) {
    return {{"strop", greeting.strop},         {"protocol", greeting.protocol}, {"machine", greeting.machine},
            {"toolchain", greeting.toolchain}, {"weaker", greeting.weaker},     {"device", greeting.device}};
}

Greeting greeting_from_json(const Json& json) {
    Greeting greeting{json.at("strop"), json.at("protocol"), {}, {}, {}, {}};
    if (greeting.protocol != worker_protocol) return greeting;  // the rest may be anything
    greeting.machine = json.at("machine").get<Machine>();
    greeting.toolchain = json.at("toolchain");
    greeting.weaker = json.at("weaker").get<std::vector<std::string>>();
    greeting.device = json.at("device");
    return greeting;
}

std::string machine_text(const Machine& machine) {
    return fmt::format("{} ({}), {}", machine.cpu, machine.isa, counted(machine.cores, "core"));
}

}  // namespace strop::judge
