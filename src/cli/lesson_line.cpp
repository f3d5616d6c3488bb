#include "cli/lesson_line.h"

#include <fmt/format.h>

#include "base/line.h"
#include "base/strings.h"

namespace strop::cli {

std::string lesson_line(const KnownLesson& known) {
    std::vector<std::string> standing;
    if (int count = known.count(Testimony::Kind::confirms))
        standing.push_back(fmt::format("confirmed by {}", counted(count, "run")));
    if (int count = known.count(Testimony::Kind::contradicts))
        standing.push_back(fmt::format("contradicted by {}", counted(count, "run")));
    for (const Testimony& said : known.said)
        if (said.kind == Testimony::Kind::undecided) standing.push_back("undecided: " + said.note);
    if (known.withdrawn()) standing.emplace_back("withdrawn");
    if (!known.origin.empty()) standing.push_back("imported from " + known.origin);
    return fmt::format("{}{}", describe(known.lesson, known.count(Testimony::Kind::confirms) > 0),
                       standing.empty() ? "" : fmt::format(" [{}]", one_line(join(standing, ", "))));
}

}  // namespace strop::cli
