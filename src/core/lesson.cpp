#include "core/lesson.h"

#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"

namespace strop {

std::string name_of(Lesson::Advice advice) {
    switch (advice) {
        case Lesson::Advice::prefer: return "prefer";
        case Lesson::Advice::avoid: return "avoid";
        case Lesson::Advice::remark: return "remark";
    }
    return {};
}

std::string name_of(Testimony::Kind kind) {
    switch (kind) {
        case Testimony::Kind::drew: return "drew";
        case Testimony::Kind::confirms: return "confirms";
        case Testimony::Kind::contradicts: return "contradicts";
        case Testimony::Kind::undecided: return "undecided";
    }
    return {};
}

std::string id_of(const Lesson& lesson) { return content_hash(dump(Json(lesson))).substr(0, 16); }

std::string describe(const Lesson& lesson, bool confirmed) {
    const LessonConditions& when = lesson.when;
    std::vector<std::string> conditions;
    if (!when.problem.empty() && when.words.empty()) conditions.push_back("for " + when.problem);
    if (!when.hardware.empty()) conditions.push_back("on " + when.hardware);
    if (!when.bound.empty()) conditions.push_back(fmt::format("where {} limits it", when.bound));
    if (!when.words.empty()) conditions.push_back(when.words);
    std::string text = join(conditions, ", ");
    text += (text.empty() ? "" : ": ") + lesson.what;
    if (!lesson.why.empty()) text += ", for " + lesson.why;
    std::vector<std::string> origin;
    if (!lesson.measured && !confirmed) origin.emplace_back("unmeasured");
    if (!lesson.source.empty()) origin.push_back(lesson.source);
    if (!origin.empty()) text += fmt::format(" ({})", join(origin, ", "));
    return one_line(text);
}

}  // namespace strop
