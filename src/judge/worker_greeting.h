// What a worker says first, so that both ends know whom they talk to.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace strop::judge {

inline constexpr int worker_protocol = 6;                           // of the messages in worker.h
inline constexpr const char* working_line = R"({"working":true})";  // between a question and its answer

struct Greeting {
    std::string strop;  // version
    int protocol = worker_protocol;
    Machine machine;                  // without ceilings, which take a while to measure
    std::string toolchain;            // the usual compiler and its flags
    std::vector<std::string> weaker;  // protections that its system does not offer
    std::string device;               // that kernels were asked to run on: "NVIDIA H100 (sm_90), CUDA 12.4"
};

// `machine`: as kernels see it.
Greeting greeting_of_this_machine(const Machine& machine);
const char* this_version();

Json to_json(const Greeting& greeting);
// Throws what the parser throws.
Greeting greeting_from_json(const Json& json);

// "AMD EPYC 7B13 (avx512), 8 cores"
std::string machine_text(const Machine& machine);

}  // namespace strop::judge
