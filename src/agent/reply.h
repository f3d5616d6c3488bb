// What roles answer, read out of a model's text. Nothing here trusts it: names are made safe, numbers are bounded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/source_text.h"
#include "core/kernel.h"
#include "core/lesson.h"

namespace strop::agent {

inline constexpr size_t longest_source = 200'000;  // bytes, of a kernel or a probe

// A whole file, or edits of the one that was shown; neither where the answer is that nothing is worth doing.
struct Code {
    std::string source, condition, note;
    std::vector<Edit> edits;
    bool nothing() const { return source.empty() && edits.empty(); }
};

struct Diagnosis {
    std::string bottleneck, evidence, method, plan, expected;
    std::string alternative;  // a second explanation that the figures allow as well; empty: the diagnosis is clear
    bool nothing() const;     // no change is worth making
    std::string text() const;
};

// An experiment as it is proposed: one or two probes, each a whole file or edits of the kernel.
struct ProbeDraft {
    std::string name, source, tells;
    std::vector<Edit> edits;
};
struct ExperimentDraft {
    std::string hypothesis;
    std::vector<ProbeDraft> probes;
};

struct Score {
    std::string id;
    double confidence = 0;
};

struct Choice {
    std::map<std::string, std::string> values;  // of tunables, by name
    std::string reason;
};

struct DrawnLesson {
    Lesson lesson;                      // a remark in words
    std::vector<std::string> evidence;  // ids of strategies
};

// Empty when there is nothing usable; `why` then says what is missing.
std::vector<Strategy> read_plan(const std::string& text, std::string& why);
std::optional<Code> read_code(const std::string& text, std::string& why);
std::optional<Diagnosis> read_diagnosis(const std::string& text, std::string& why);
std::optional<ExperimentDraft> read_experiment(const std::string& text, std::string& why);
std::vector<Score> read_scores(const std::string& text);
std::vector<DrawnLesson> read_lessons(const std::string& text);
std::vector<Choice> read_choices(const std::string& text);

// A model's idea as a name: lower case, [a-z0-9_], at most 40 characters, never empty.
std::string safe_name(const std::string& text);

}  // namespace strop::agent
