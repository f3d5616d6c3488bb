#include "run/recording.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "core/json.h"

namespace strop {

namespace {

constexpr const char* format_name = "strop-recording";

}  // namespace

int Marks::comparisons_of_dispatch(size_t which) const {
    if (which < dispatch_comparisons.size()) return dispatch_comparisons[which];
    throw UsageError(fmt::format("the recorded run planned its dispatch {} times, and this one does more often",
                                 dispatch_comparisons.size()),
                     "record the run again with this Strop");
}

void save_marks(Store& store, const std::string& run, const Marks& marks) {
    Json json = {{"search_looks", marks.search_looks},
                 {"dispatch_comparisons", marks.dispatch_comparisons},
                 {"held_out_comparisons", marks.held_out_comparisons},
                 {"replies_in_order", true}};
    store.add_document(run, marks_key, dump(json));
}

Marks load_marks(Store& store, const std::string& run, bool with_models) {
    std::optional<std::string> text = store.find_document(run, marks_key);
    if (!text) throw UsageError("the recording is of a run that did not come to its end", "record a whole run");
    Json json = Json::parse(*text);
    if (!json.contains("search_looks")) throw UsageError("the recording is of an older Strop", "record the run again");
    if (with_models && !json.contains("replies_in_order"))
        throw UsageError("the recording is of an older Strop, whose search waited for each reply of a model",
                         "record the run again");
    const Json& dispatches = json.at("dispatch_comparisons");
    std::vector<int> comparisons;
    if (dispatches.is_number()) comparisons = {dispatches.get<int>()};  // of a run that could dispatch only once
    else comparisons = dispatches.get<std::vector<int>>();
    return {json.at("search_looks"), comparisons, json.at("held_out_comparisons")};
}

void write_recording(const fs::path& path, Store& store, const RunRecord& record) {
    Json json = {{"format", format_name},       {"schema", 1},
                 {"problem", record.problem},   {"problem_hash", record.problem_hash},
                 {"settings", record.settings}, {"evaluations", store.evaluations(record.run)},
                 {"documents", Json::object()}};
    for (const auto& [key, document] : store.documents(record.run)) json["documents"][key] = Json::parse(document);
    write_named_file(path, dump(json, 1) + "\n");
}

Recording read_recording(const fs::path& path) {
    std::string text = read_file(path);
    try {
        Json json = Json::parse(text);
        if (json.at("format") != format_name || json.at("schema") > 1)
            throw UsageError(fmt::format("{}: is no recording that this Strop reads", path.string()),
                             "strop optimize --record FILE writes one");
        Recording recording;
        recording.settings = json.at("settings").get<RunSettings>();
        recording.problem_hash = json.at("problem_hash");
        recording.evaluations = json.at("evaluations").get<std::vector<Evaluation>>();
        for (const auto& [key, document] : json.at("documents").items()) recording.documents[key] = dump(document);
        return recording;
    } catch (const Json::exception& error) {
        throw UsageError(fmt::format("{}: is no recording: {}", path.string(), error.what()),
                         "strop optimize --record FILE writes one");
    }
}

void copy_into(Store& store, const std::string& run, const Recording& recording) {
    store.add_evaluations(run, recording.evaluations);
    for (const auto& [key, document] : recording.documents) store.add_document(run, key, document);
}

}  // namespace strop
