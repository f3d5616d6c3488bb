#include "run/lessons.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/digest.h"
#include "knowledge/learning.h"
#include "run/recording.h"

namespace strop {

namespace {

constexpr size_t most_lessons = 12;

bool applies(const Lesson& lesson, const RunRecord& current, const std::set<std::string>& families) {
    const LessonConditions& when = lesson.when;
    const std::string& device = current.settings.device;
    return (when.problem.empty() || when.problem == current.problem) &&
           (when.family.empty() || families.count(when.family)) &&
           (when.hardware.empty() || when.hardware == (device == "cpu" ? current.machine.isa : device));
}

// By confirmations; what a document says is no match for what was measured.
int weight(const KnownLesson& known) {
    return 2 * known.count(Testimony::Kind::confirms) + (known.lesson.measured ? 1 : 0);
}

// Another one says the opposite, and runs do not speak for this one.
bool is_disputed(const KnownLesson& known, const std::vector<KnownLesson>& all) {
    return std::any_of(all.begin(), all.end(), [&](const KnownLesson& other) {
        return !other.withdrawn() && contradict(known.lesson, other.lesson) && weight(other) >= weight(known);
    });
}

std::string with_standing(const KnownLesson& known) {
    const int confirmed = known.count(Testimony::Kind::confirms);
    std::string text = describe(known.lesson, confirmed > 0);
    for (const Testimony& said : known.said)
        if (said.kind == Testimony::Kind::drew && !said.note.empty()) {
            text += fmt::format(" [{}]", said.note);
            break;
        }
    if (confirmed > 0) text += fmt::format(" (confirmed by {})", counted(confirmed, "run"));
    else if (!known.origin.empty()) text += " (imported, not confirmed here)";
    return one_line(text);
}

}  // namespace

std::vector<std::string> earlier_lessons(Store& store, Store& source, const RunRecord& current,
                                         const std::vector<Strategy>& planned) {
    if (std::optional<std::string> kept = store.find_document(current.run, lessons_key))
        return Json::parse(*kept).get<std::vector<std::string>>();
    std::set<std::string> families;
    for (const Strategy& strategy : planned) families.insert(strategy.family);
    const std::vector<KnownLesson> all = source.lessons();
    std::vector<const KnownLesson*> chosen;
    for (const KnownLesson& known : all)
        if (!known.withdrawn() && applies(known.lesson, current, families) && !is_disputed(known, all))
            chosen.push_back(&known);
    auto order = [](const KnownLesson* known) {
        const int confirmed = known->count(Testimony::Kind::confirms);
        return std::make_tuple(!known->lesson.measured && confirmed == 0, !known->origin.empty(),
                               known->lesson.when.problem.empty(), -confirmed);
    };
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](const KnownLesson* a, const KnownLesson* b) { return order(a) < order(b); });
    std::vector<std::string> lessons;
    for (size_t i = 0; i < std::min(most_lessons, chosen.size()); ++i) lessons.push_back(with_standing(*chosen[i]));
    store.add_document(current.run, lessons_key, dump(Json(lessons)));
    return lessons;
}

void draw_lessons(Store& store, RunRecord& record, const std::vector<agent::DrawnLesson>& of_models, bool replay) {
    record.lessons.clear();
    for (agent::DrawnLesson drawn : of_models) {
        drawn.lesson.when.problem = record.problem;
        drawn.lesson.author = "a model";
        const std::string evidence = one_line(join(drawn.evidence, ", "));
        record.lessons.push_back(describe(drawn.lesson) + (evidence.empty() ? "" : fmt::format(" [{}]", evidence)));
        if (replay) continue;
        store.add_lesson(drawn.lesson);
        store.add_testimony({id_of(drawn.lesson), record.run, Testimony::Kind::drew, evidence});
    }
    const Digest digest = digest_of(record);
    for (const Drawn& drawn : lessons_of(digest))
        record.lessons.push_back(fmt::format("{} [{}]", describe(drawn.lesson), drawn.testimony.note));
    if (!replay) store.learn(digest);
}

}  // namespace strop
