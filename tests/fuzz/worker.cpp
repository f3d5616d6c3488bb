// Lines as a worker reads them, and as whoever asks a worker reads its answers.
#include <vector>

#include "base/base64.h"
#include "base/strings.h"
#include "core/json.h"
#include "fuzz/fuzz.h"
#include "judge/worker_greeting.h"
#include "judge/worker_message.h"
#include "problem/loader.h"

namespace {

using namespace strop;
using namespace strop::judge;

const Problem& problem() {
    static const Problem loaded = load_problem(STROP_SOURCE_DIR "/problems/softmax");
    return loaded;
}

// What was understood can be said again, in the same words.
template <typename Part>
void say_again(const Part& part) {
    const std::string said = dump(Json(part));
    fuzz::must(dump(Json(Json::parse(said).get<Part>())) == said, "a message changed on its way: " + said);
}

void ask(const std::string& line) {
    WorkerMessage message = parse_message(line);
    if (const auto* sent = std::get_if<FilesMessage>(&message))
        for (const auto& [name, bytes] : sent->files)
            fuzz::must(from_base64(base64(bytes)) == bytes, "bytes changed on their way");
    if (const auto* asked = std::get_if<EvaluateMessage>(&message)) say_again(asked->requests);
    if (const auto* asked = std::get_if<CompareMessage>(&message)) say_again(asked->request);
    if (const auto* asked = std::get_if<VectorsMessage>(&message)) say_again(asked->points);
    check_message(message, problem());
}

void hear(const std::string& line) {
    const Json answer = parse_answer(line);
    if (answer.contains("strop")) {
        try {
            greeting_from_json(answer);
        } catch (const Json::exception&) {  // said by who greets
        }
    }
    if (answer.contains("evaluations")) say_again(part_of<std::vector<Evaluation>>(answer, "evaluations"));
    if (answer.contains("comparison")) say_again(part_of<Comparison>(answer, "comparison"));
    if (answer.contains("vectors")) say_again(part_of<std::vector<TestVector>>(answer, "vectors"));
    if (answer.contains("record")) say_again(part_of<RunRecord>(answer, "record"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    for (const std::string& line : split(fuzz::text_of(data, size), '\n')) {
        fuzz::accepted([&] { ask(line); });
        try {
            hear(line);
        } catch (const Error&) {  // what a worker reports has an exit code of its own
        }
    }
    return 0;
}
