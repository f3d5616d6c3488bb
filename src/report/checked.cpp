#include "report/checked.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/json.h"
#include "report/format.h"
#include "report/markdown.h"
#include "report/svg.h"

namespace strop::report {

namespace {

Json shape_json(const CheckedResult& result, const Change& change) {
    Json shape = {{"label", change.label},
                  {"dims", change.dims},
                  {"verdict", standing(change, result.held)},
                  {"baseline", nullptr}};
    if (!change.baseline.empty())
        shape.update({{"baseline", change.baseline},
                      {"promised", change.before},
                      {"now", change.after},
                      {"change", change.change}});
    return shape;
}

Json result_json(const CheckedResult& result) {
    Json shapes = Json::array(), measured = Json::array();
    for (const Change& change : result.changes) shapes.push_back(shape_json(result, change));
    for (const ShapeReport& shape : result.now)
        measured.push_back({{"label", shape.label},
                            {"dims", shape.dims},
                            {"best_baseline", shape.best_baseline},
                            {"nanoseconds", shape.nanoseconds},
                            {"baselines", shape.baselines},
                            {"speedups", shape.speedups}});
    const Machine& machine = result.machine;
    Json document = {
        {"result", result.given},
        {"problem", result.problem},
        {"problem_hash", result.problem_hash},
        {"run", result.run},
        {"verdict", result.verdict},
        {"evidence", result.evidence},
        {"same_machine", result.held},
        {"held_to", result.held_to},
        {"machine", {{"cpu", machine.cpu}, {"cores", machine.cores}, {"fingerprint", machine.fingerprint}}},
        {"notes", result.notes},
        {"shapes", shapes},
        {"measured", measured},
        {"seconds", result.seconds}};
    if (result.kernel) document["kernel"] = *result.kernel;
    return document;
}

std::string ratio_and_interval(const Ratio& ratio) {
    return fmt::format("{} ({})", ratio_text(ratio.ratio), interval_text(ratio));
}

std::string change_text(const Change& change) {
    return fmt::format("over {}: promised {}, now {}, change {}", change.baseline, ratio_and_interval(change.before),
                       ratio_and_interval(change.after), ratio_and_interval(change.change));
}

// One case of JUnit's: how it ended is an element in it, or nothing where it passed.
struct Case {
    std::string name, element, message, text;
};

std::vector<Case> cases_of(const CheckedResult& result) {
    std::vector<Case> cases(1);
    cases[0].name = "answers";
    if (!result.right) cases[0] = {"answers", "failure", result.verdict, result.evidence};
    for (const Change& change : result.changes) {
        const std::string word = standing(change, result.held);
        Case& one = cases.emplace_back();
        one.name = fmt::format("speed at {}{}", change.label, change.in_turns ? ", in turns with itself then" : "");
        if (change.baseline.empty()) {
            const bool lost = !result.kept && result.verdict == "not compared";
            one.element = lost ? "failure" : "skipped";
            one.message = "no baseline of then ran now";
        } else if (!result.held && !change.in_turns) {
            one.element = "skipped";
            one.message = "held to nothing on another machine; " + change_text(change);
        } else if (word == "slower") {
            one.element = "failure";
            one.message = "slower " + change_text(change);
        }
    }
    return cases;
}

std::string suite(const CheckedResult& result) {
    const std::vector<Case> cases = cases_of(result);
    auto count = [&](const char* element) {
        return std::count_if(cases.begin(), cases.end(), [&](const Case& one) { return one.element == element; });
    };
    std::string text = fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\">\n",
        escaped(result.given), cases.size(), count("failure"), count("skipped"), result.seconds);
    for (const Case& one : cases) {
        text += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(result.problem), escaped(one.name));
        if (one.element.empty()) text += "/>\n";
        else
            text += fmt::format("><{0} message=\"{1}\">{2}</{0}></testcase>\n", one.element, escaped(one.message),
                                escaped(one.text));
    }
    if (!result.notes.empty())
        text += fmt::format("    <system-out>{}</system-out>\n", escaped(join(result.notes, "\n")));
    return text + "  </testsuite>\n";
}

std::string section(const CheckedResult& result) {
    std::string text =
        fmt::format("### {} {}: {}\n\n", result.kept ? "✓" : "✗", markdown_text::escaped(result.given), result.verdict);
    if (!result.evidence.empty()) text += markdown_text::fenced(result.evidence) + "\n\n";
    std::vector<std::vector<std::string>> rows;
    for (const Change& change : result.changes) {
        const std::string word = standing(change, result.held);
        std::vector<std::string>& cells = rows.emplace_back();
        cells = {markdown_text::escaped(change.label), word == "slower" ? "**slower**" : word};
        if (change.baseline.empty()) continue;
        cells.insert(cells.end(), {markdown_text::escaped(change.baseline), ratio_and_interval(change.before),
                                   ratio_and_interval(change.after), ratio_and_interval(change.change)});
    }
    for (std::vector<std::string>& cells : rows) cells.resize(6, "–");
    if (!rows.empty())
        text += markdown_text::table({"shape", "verdict", "over", "promised", "now", "change"}, "lllrrr", rows);
    for (const std::string& note : result.notes) text += fmt::format("- {}\n", markdown_text::escaped(note));
    return text + (result.notes.empty() ? "" : "\n");
}

bool is_ratio(const Ratio& ratio) {
    return std::isfinite(ratio.ratio) && ratio.ratio > 0 && 0 <= ratio.low && ratio.low <= ratio.ratio &&
           ratio.ratio <= ratio.high;
}

CheckedResult read_one(const Json& json) {
    CheckedResult result;
    result.given = json.at("result").get<std::string>();
    result.problem = json.at("problem").get<std::string>();
    result.problem_hash = json.at("problem_hash").get<std::string>();
    result.run = json.at("run").get<std::string>();
    const Json& machine = json.at("machine");
    result.machine.cpu = machine.at("cpu").get<std::string>();
    result.machine.cores = machine.at("cores").get<int>();
    result.machine.fingerprint = machine.at("fingerprint").get<std::string>();
    if (json.contains("kernel")) result.kernel = json.at("kernel").get<Kernel>();
    for (const Json& one : json.at("measured")) {
        ShapeReport& shape = result.now.emplace_back();
        shape.label = one.at("label").get<std::string>();
        shape.dims = one.at("dims").get<Dimensions>();
        shape.best_baseline = one.at("best_baseline").get<std::string>();
        shape.baselines = one.at("baselines").get<std::map<std::string, double>>();
        shape.speedups = one.at("speedups").get<std::map<std::string, Ratio>>();
        for (const auto& [name, ratio] : shape.speedups)
            if (!is_ratio(ratio) || !shape.baselines.contains(name)) throw UsageError("not a ratio: " + name);
    }
    return result;
}

}  // namespace

std::string standing(const Change& change, bool held) {
    if (change.baseline.empty()) return "not compared";
    if (change.decision == Decision::faster) return "faster";
    return (held || change.in_turns) && change.decision == Decision::slower ? "slower" : "ok";
}

std::string checked_json(const std::vector<CheckedResult>& results) {
    Json list = Json::array();
    for (const CheckedResult& result : results) list.push_back(result_json(result));
    const bool kept =
        std::all_of(results.begin(), results.end(), [](const CheckedResult& result) { return result.kept; });
    return dump({{"kept", kept}, {"results", list}}, 2);
}

std::string checked_junit(const std::vector<CheckedResult>& results) {
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"strop check\">\n";
    for (const CheckedResult& result : results) text += suite(result);
    return text + "</testsuites>\n";
}

std::string checked_markdown(const std::vector<CheckedResult>& results) {
    const int64_t kept =
        std::count_if(results.begin(), results.end(), [](const CheckedResult& result) { return result.kept; });
    std::string text = fmt::format("## Kernels: {} of {} as promised\n\n", kept, results.size());
    for (const CheckedResult& result : results) text += section(result);
    return text;
}

std::vector<CheckedResult> read_checked(const std::string& json) {
    const auto none =
        UsageError("not what `strop check --json` printed", "make one with `strop check RESULT --json > FILE`");
    std::vector<CheckedResult> results;
    try {
        const Json document = Json::parse(json);
        for (const Json& one : document.at("results")) results.push_back(read_one(one));
    } catch (const Json::exception&) {
        throw none;
    } catch (const UsageError&) {
        throw none;
    }
    return results;
}

}  // namespace strop::report
