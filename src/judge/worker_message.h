// What the two ends of worker.h say to each other, read from its lines. What is malformed, or is not of the open
// problem, is a UsageError that names the key or the value: the referee is never asked for it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "core/evaluator.h"
#include "core/json.h"
#include "problem/problem_files.h"

namespace strop::judge {

struct HelloMessage {
    std::string target;  // that all kernels are for (device/target.h); empty: the machine as it is
    std::string device;  // "cuda": kernels run on the first one; empty: on the processor
};
struct PingMessage {};
struct LanguagesMessage {};
struct MachineMessage {
    Seconds lasting{0};  // ceilings that are older are measured again
};
struct FilesMessage {
    FileContents files;
};
struct OpenMessage {
    std::string folder;               // of the problem, where the asker is
    FileMarks files;                  // of the problem
    std::vector<std::string> points;  // labels; empty: all
    uint64_t seed = 0;
    Seconds reference_limit{60};
};
struct BaselinesMessage {};
struct EvaluateMessage {
    std::vector<EvaluationRequest> requests;
};
struct ProbeMessage {
    std::vector<EvaluationRequest> requests;
};
struct ProfileMessage {
    EvaluationRequest request;
};
struct SanitizeMessage {
    EvaluationRequest request;
    Seconds limit{0};
};
struct EmulateMessage {
    EvaluationRequest request;
    Seconds limit{0};
};
struct CompareMessage {
    ComparisonRequest request;
};
struct VectorsMessage {
    std::vector<ShapePoint> points;
};
struct ReseedMessage {
    uint64_t seed = 0;
};
using WorkerMessage = std::variant<HelloMessage, PingMessage, LanguagesMessage, MachineMessage, FilesMessage,
                                   OpenMessage, BaselinesMessage, EvaluateMessage, ProbeMessage, ProfileMessage,
                                   SanitizeMessage, EmulateMessage, CompareMessage, VectorsMessage, ReseedMessage>;

WorkerMessage parse_message(const std::string& line);
// The message of an EvaluateMessage: each kernel once, and requests that name theirs by its place.
std::string evaluate_line(const std::vector<EvaluationRequest>& requests);

// Shapes have the problem's dimensions and tensors that can be counted, kernels a space that can be compiled and a
// configuration of it.
void check_message(const WorkerMessage& message, const Problem& problem);

// An answer that no worker gives.
class MalformedAnswer : public Error {
public:
    using Error::Error;
};

// The other direction: an answer as it came, or the Error that it reports, or a MalformedAnswer.
Json parse_answer(const std::string& line);
[[noreturn]] void fail_answer(const std::string& why);

template <typename Part>
Part part_of(const Json& answer, const char* key) try {
    return answer.at(key).get<Part>();
} catch (const Json::exception& error) {
    fail_answer(error.what());
} catch (const UsageError& error) {  // of the names of enumerations
    fail_answer(error.what());
}

}  // namespace strop::judge
