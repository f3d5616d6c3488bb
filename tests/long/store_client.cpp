// A client of a store for scripts/fleet store: store_client ADDRESS NAME FIRST. Writes evaluation after evaluation, to
// a run of its own and to one that all share, and reads each back; "ack N" is said once number N is kept. Exit code 9:
// what was kept is not there.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "core/json.h"
#include "core/record.h"
#include "knowledge/store.h"

using namespace strop;

namespace {

constexpr int shared_every = 4, document_every = 5, run_every = 50;

Evaluation evaluation_of(const std::string& name, int number) {
    Evaluation evaluation;
    evaluation.key = fmt::format("{}-{}", name, number);
    evaluation.kernel = "k";
    evaluation.configuration = {{"N", int64_t{number}}};
    evaluation.evidence = std::string(static_cast<size_t>(number % 700), 'e');
    return evaluation;
}

bool is_kept(Store& store, const std::string& run, const Evaluation& evaluation) {
    const std::optional<Evaluation> found = store.find_evaluation(run, evaluation.key);
    return found && dump(Json(*found)) == dump(Json(evaluation));
}

// False when something is not there.
bool write_one(Store& store, const std::string& name, int number) {
    const Evaluation evaluation = evaluation_of(name, number);
    const std::string run = number % shared_every == 0 ? "shared" : name;
    store.add_evaluation(run, evaluation);
    if (number % document_every == 0) {
        const std::string document = dump(Json{{"of", evaluation.key}});
        store.add_document(name, evaluation.key, document);
        if (store.find_document(name, evaluation.key) != document) return false;
    }
    if (number % run_every == 0) {
        RunRecord record;
        record.run = record.problem = name;
        record.evaluations = number;
        store.save_run(record);
        const std::optional<RunRecord> found = store.load_named(name);
        if (!found || found->evaluations != number) return false;
    }
    return is_kept(store, run, evaluation);
}

}  // namespace

int main(int count, char** words) try {
    if (count != 4) return 2;
    const std::string name = words[2];
    Store store(std::filesystem::path(words[1]), std::chrono::seconds(60));
    store.be_patient(std::chrono::seconds(60));
    for (int number = std::atoi(words[3]);; ++number) {
        if (!write_one(store, name, number)) {
            fmt::print(stderr, "{}-{} is not there\n", name, number);
            return 9;
        }
        fmt::print("ack {}\n", number);
        std::fflush(stdout);
    }
} catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
}
