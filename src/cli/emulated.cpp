#include "cli/emulated.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/citation.h"
#include "base/strings.h"
#include "cli/table.h"
#include "core/json.h"

namespace strop::cli {

namespace {

bool was_run(const Judgement& judgement, const ShapePoint& point) {
    return std::any_of(judgement.evaluation.points.begin(), judgement.evaluation.points.end(),
                       [&](const PointResult& result) { return result.point.dims == point.dims; });
}

std::vector<std::string> left_out(const Problem& problem, const Judgement& judgement) {
    std::vector<std::string> labels;
    for (const ShapePoint& point : problem.points)
        if (!was_run(judgement, point)) labels.push_back(point.label);
    return labels;
}

}  // namespace

std::string stand_in_for(Language language) {
    if (language == Language::cuda) return "the CUDA emulator";
    return language == Language::triton ? "Triton's interpreter" : "";
}

void print_emulated(const Problem& problem, const std::string& file, const Judgement& judgement) {
    const Evaluation& evaluation = judgement.evaluation;
    const std::string where = stand_in_for(file.ends_with(".py") ? Language::triton : Language::cuda);
    const std::vector<std::string> missing = left_out(problem, judgement);
    const size_t checked = evaluation.points.size();
    const std::string shapes = evaluation.ok() && !missing.empty()
                                   ? fmt::format(" at {} of {} shapes", checked, checked + missing.size())
                                   : "";
    fmt::print("verdict: {}{}, in {}: checked, not timed\n", name_of(evaluation.verdict), shapes, where);
    if (!evaluation.evidence.empty()) fmt::print("{}\n", cited(evaluation.evidence));
    std::vector<std::vector<std::string>> cells = {{"SHAPE", "DIMENSIONS", "VERDICT"}};
    for (const PointResult& result : evaluation.points)
        cells.push_back({result.point.label, describe(result.point.dims), name_of(result.verdict)});
    if (!evaluation.points.empty()) fmt::print("\n{}", table(cells));
    if (missing.empty()) return;
    fmt::print("\nnot run: {}{}\n", join(missing, ", "),
               evaluation.ok() ? ", which take longer than the minute that the emulator has" : "");
}

void print_emulated_json(const Problem& problem, const std::string& file, const Judgement& judgement,
                         bool one_of_several) {
    const Evaluation& evaluation = judgement.evaluation;
    Json shapes = Json::array();
    for (const PointResult& result : evaluation.points)
        shapes.push_back({{"label", result.point.label},
                          {"dims", result.point.dims},
                          {"verdict", name_of(result.verdict)},
                          {"evidence", result.evidence}});
    const Json document = {{"kernel", file},
                           {"device", "emulated"},
                           {"verdict", name_of(evaluation.verdict)},
                           {"evidence", evaluation.evidence},
                           {"configuration", configuration_to_json(evaluation.configuration)},
                           {"shapes", shapes},
                           {"not_run", left_out(problem, judgement)},
                           {"seed", judgement.seed},
                           {"seconds", judgement.seconds}};
    fmt::print("{}\n", one_of_several ? dump(document) : dump(document, 2));
}

}  // namespace strop::cli
