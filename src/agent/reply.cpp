#include "agent/reply.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "agent/prompt.h"
#include "base/line.h"
#include "base/strings.h"
#include "llm/json_text.h"

namespace strop::agent {

namespace {

using nlohmann::json;

constexpr size_t most_strategies = 12, most_lessons = 4, most_probes = 2;

// A member as text, whatever the model made of it; bounded, on one line unless it is code.
std::string text_of(const json& object, const char* name, size_t most = 600) {
    auto found = object.find(name);
    if (found == object.end() || found->is_null()) return {};
    std::string text = found->is_string() ? found->get<std::string>() : found->dump();
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    return std::string(trim(text.substr(0, most)));
}

std::string code_of(const json& object, const char* name) {
    auto found = object.find(name);
    if (found == object.end()) return {};
    if (found->is_string()) return found->get<std::string>();
    if (!found->is_array()) return {};  // some models give lines
    std::string text;
    for (const json& line : *found)
        if (line.is_string()) text += line.get<std::string>() + "\n";
    return text;
}

// A file's text, which some models fence though it is in JSON.
std::string source_of(const json& object) {
    std::string source = code_of(object, "source");
    return source.find("```") == std::string::npos ? source : llm::find_code(source);
}

// Code keeps its lines and its blanks.
std::vector<Edit> edits_of(const json& object) {
    std::vector<Edit> edits;
    auto found = object.find("edits");
    if (found == object.end() || !found->is_array()) return edits;
    for (const json& item : *found)
        if (item.is_object()) edits.push_back({code_of(item, "find"), code_of(item, "replace")});
    return edits;
}

bool says_nothing(const std::string& text) {
    const std::string word = lower(std::string(trim(text)));
    return word == "nothing" || word == "nothing." || word == "none" || word == "none." || word == "n/a";
}

std::string ended(const std::string& source) { return trim(source).empty() ? "" : std::string(trim(source)) + "\n"; }

double confidence_of(const json& object) {
    auto found = object.find("confidence");
    return found != object.end() && found->is_number() ? std::clamp(found->get<double>(), 0.0, 1.0) : 0.5;
}

std::vector<std::string> names_of(const json& object, const char* name) {
    std::vector<std::string> names;
    auto found = object.find(name);
    if (found == object.end() || !found->is_array()) return names;
    for (const json& item : *found)
        if (item.is_string() && names.size() < most_strategies) names.push_back(item.get<std::string>().substr(0, 80));
    return names;
}

// The array under `name`, or the document itself when the model left the frame out.
json list_of(const std::string& text, const char* name, const char* schema, std::string& why) {
    std::optional<json> document = llm::find_json(text);
    if (!document) {
        why = "the reply holds no JSON";
        return json::array();
    }
    if (document->is_array()) return *document;
    auto found = document->find(name);
    if (found != document->end() && found->is_array()) return *found;
    why = llm::mismatch(*document, json::parse(load_schema(schema)));
    return json::array();
}

}  // namespace

std::string safe_name(const std::string& text) {
    std::string name;
    for (char c : lower(text)) {
        bool keep = std::isalnum(static_cast<unsigned char>(c));
        if (keep) name += c;
        else if (!name.empty() && name.back() != '_') name += '_';
        if (name.size() == 40) break;
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    return name.empty() ? "idea" : name;
}

std::vector<Strategy> read_plan(const std::string& text, std::string& why) {
    std::vector<Strategy> strategies;
    for (const json& item : list_of(text, "strategies", "planner", why)) {
        if (!item.is_object() || strategies.size() == most_strategies) continue;
        Strategy strategy;
        strategy.hypothesis = text_of(item, "hypothesis");
        std::string regimes = text_of(item, "regimes", 200);
        if (!regimes.empty()) strategy.hypothesis += fmt::format(" (expected to win: {})", regimes);
        strategy.id = safe_name(text_of(item, "id").empty() ? strategy.hypothesis : text_of(item, "id"));
        strategy.family = text_of(item, "family", 80);
        strategy.bottleneck = text_of(item, "bottleneck", 40);
        strategy.excludes = names_of(item, "excludes");
        strategy.confidence = confidence_of(item);
        if (!strategy.hypothesis.empty()) strategies.push_back(strategy);
    }
    if (strategies.empty() && why.empty()) why = "the reply names no strategy";
    return strategies;
}

std::optional<Code> read_code(const std::string& text, std::string& why) {
    std::optional<json> document = llm::find_json(text);
    Code code;
    if (document && document->is_object()) {
        code.source = source_of(*document);
        code.condition = text_of(*document, "condition", 400);
        code.note = text_of(*document, "note");
        code.edits = edits_of(*document);
    }
    // A model that cannot write JSON gives a fenced block.
    bool inside_json = text.find("\"source\"") != std::string::npos;
    if (trim(code.source).empty() && !inside_json) code.source = llm::find_code(text);
    code.source = ended(code.source);
    const bool nothing = code.nothing() && !code.note.empty();
    if (nothing || !code.source.empty() || !code.edits.empty()) return code;
    why = "the reply holds no source";
    return std::nullopt;
}

bool Diagnosis::nothing() const { return says_nothing(method) || says_nothing(plan); }

std::string Diagnosis::text() const {
    return fmt::format("bottleneck: {}\nevidence: {}\nchange: {}\nplan: {}\nexpected: {}\n", bottleneck, evidence,
                       method, plan, expected);
}

std::optional<Diagnosis> read_diagnosis(const std::string& text, std::string& why) {
    std::optional<json> document = llm::find_json(text);
    if (!document || !document->is_object()) {
        why = "the reply holds no JSON object";
        return std::nullopt;
    }
    Diagnosis diagnosis{text_of(*document, "bottleneck", 40), text_of(*document, "evidence"),
                        text_of(*document, "method", 200),    text_of(*document, "plan"),
                        text_of(*document, "expected"),       text_of(*document, "alternative")};
    if (says_nothing(diagnosis.alternative)) diagnosis.alternative.clear();
    if (!diagnosis.plan.empty() || diagnosis.nothing()) return diagnosis;
    why = "the reply has no plan";
    return std::nullopt;
}

std::optional<ExperimentDraft> read_experiment(const std::string& text, std::string& why) {
    ExperimentDraft draft;
    for (const json& item : list_of(text, "probes", "experimenter", why)) {
        if (!item.is_object() || draft.probes.size() == most_probes) continue;
        ProbeDraft probe{safe_name(text_of(item, "name")), ended(source_of(item)), text_of(item, "tells"),
                         edits_of(item)};
        for (const ProbeDraft& other : draft.probes)
            if (other.name == probe.name) probe.name += "_2";
        const bool usable = !probe.source.empty() || !probe.edits.empty();
        if (usable && probe.source.size() <= longest_source) draft.probes.push_back(std::move(probe));
    }
    if (draft.probes.empty()) {
        if (why.empty()) why = "the reply holds no probe";
        return std::nullopt;
    }
    std::optional<json> document = llm::find_json(text);
    if (document->is_object()) draft.hypothesis = text_of(*document, "hypothesis");
    return draft;
}

std::vector<Score> read_scores(const std::string& text) {
    std::vector<Score> scores;
    std::string why;
    for (const json& item : list_of(text, "scores", "scorer", why))
        if (item.is_object()) scores.push_back({text_of(item, "id", 80), confidence_of(item)});
    return scores;
}

std::vector<DrawnLesson> read_lessons(const std::string& text) {
    std::vector<DrawnLesson> lessons;
    std::string why;
    for (const json& item : list_of(text, "lessons", "reflector", why)) {
        if (!item.is_object() || lessons.size() == most_lessons) continue;
        DrawnLesson drawn;
        drawn.lesson.when.words = one_line(text_of(item, "when"));
        drawn.lesson.what = one_line(text_of(item, "what"));
        drawn.lesson.why = one_line(text_of(item, "why"));
        drawn.evidence = names_of(item, "evidence");
        if (!drawn.lesson.what.empty()) lessons.push_back(std::move(drawn));
    }
    return lessons;
}

std::vector<Choice> read_choices(const std::string& text) {
    std::vector<Choice> choices;
    std::string why;
    for (const json& item : list_of(text, "configurations", "suggester", why)) {
        if (!item.is_object()) continue;
        Choice choice;
        choice.reason = text_of(item, "reason", 200);
        const json values = item.value("values", json::array());
        if (values.is_object())  // as a person would write it
            for (const auto& [name, value] : values.items()) choice.values[name] = text_of(values, name.c_str(), 80);
        else
            for (const json& value : values)
                if (value.is_object()) choice.values[text_of(value, "name", 80)] = text_of(value, "value", 80);
        choices.push_back(std::move(choice));
    }
    return choices;
}

}  // namespace strop::agent
