#include "run/target_part.h"

#include "base/strings.h"
#include "core/json.h"
#include "device/target.h"
#include "run/winner_notes.h"

namespace strop {

namespace {

constexpr const char* part_key = "target_part";

std::vector<std::string> words_of(const std::string& flags) {
    std::vector<std::string> words;
    for (const std::string& word : split(flags, ' '))
        if (!word.empty()) words.push_back(word);
    return words;
}

}  // namespace

void keep_part(Store& store, const Problem& problem, const RunRecord& record, const search::DispatchPlan& dispatch,
               BundleNotes notes, const Kernel& alone, const std::vector<TestVector>& vectors) {
    const std::string& target = record.settings.target;
    if (target.empty()) return;
    notes.entry = unit_entry(problem.name, target);
    std::string source = bundle(problem, dispatch.winners, dispatch.tree, notes);
    if (target == native_target) source += native_needs(problem.name);
    const Json part = {{"target", target},
                       {"flags", words_of(compiler_flags(record.compiler, dispatch.winners))},
                       {"source", source},
                       {"alone", alone},
                       {"vectors", vectors}};
    store.add_document(record.run, part_key, dump(part));
}

std::optional<TargetPart> kept_part(Store& store, const std::string& run) {
    const std::optional<std::string> text = store.find_document(run, part_key);
    if (!text) return std::nullopt;
    const Json json = Json::parse(*text);
    return TargetPart{{json.at("target"), json.at("flags").get<std::vector<std::string>>(), json.at("source")},
                      json.at("alone").get<Kernel>(),
                      json.at("vectors").get<std::vector<TestVector>>()};
}

}  // namespace strop
