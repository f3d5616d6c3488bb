// strop write: the sources of the playbook's strategies. Nothing is compiled or measured.
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/problem_argument.h"
#include "cli/sources.h"
#include "core/json.h"
#include "graph/graph.h"
#include "problem/trace.h"
#include "run/granted.h"

namespace strop::cli {

namespace {

std::vector<Written> chosen(std::vector<Written> all, const std::string& id) {
    if (id.empty()) return all;
    std::vector<std::string> ids;
    for (Written& one : all) {
        if (one.id == id) return {std::move(one)};
        ids.push_back(one.id);
    }
    const std::vector<std::string> near = nearest(id, ids);
    throw UsageError(fmt::format("--strategy {}: there is no such strategy", id),
                     "there is " + join(near.empty() ? ids : near, ", "));
}

Json to_json(const std::vector<Tensor>& tensors) {
    Json document = Json::array();
    for (const Tensor& tensor : tensors) {
        std::vector<std::string> shape;
        for (const Expression& extent : tensor.shape) shape.push_back(extent.text());
        document.push_back({{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"shape", shape}});
    }
    return document;
}

fs::path file_of(const Written& one, const std::string& language, const fs::path& folder) {
    return folder / (one.id + file_ending(written_language(language)));
}

void add_condition(Written& one, const Expression& more) {
    one.condition =
        one.condition ? Expression::parse(fmt::format("({}) and ({})", one.condition->text(), more.text())) : more;
}

// What whoever calls the sources has to know of the problem.
Json call_of(const Problem& problem) {
    Json parameters = Json::array(), shapes = Json::object();
    for (const Parameter& one : problem.parameters)
        parameters.push_back({{"name", one.name}, {"dtype", name_of(one.dtype)}, {"value", one.value}});
    for (const ShapePoint& point : problem.points) shapes[point.label] = point.dims;
    return {{"inputs", to_json(problem.inputs)},
            {"outputs", to_json(problem.outputs)},
            {"parameters", parameters},
            {"dimensions", problem.dimensions},
            {"shapes", shapes},
            {"reference", problem.reference.string()},
            {"function", problem.function}};
}

// `folder`: that the sources were written to, if any.
void print_json(const Problem& problem, const std::string& language, const std::vector<Written>& written,
                const fs::path& folder) {
    Json strategies = Json::array();
    for (const Written& one : written) {
        Json entry = {{"id", one.id}, {"hypothesis", one.hypothesis}, {"source", one.source}};
        if (!one.parent.empty()) entry["parent"] = one.parent;
        if (one.condition) entry["condition"] = one.condition->text();
        if (!folder.empty()) entry["file"] = file_of(one, language, folder).string();
        strategies.push_back(std::move(entry));
    }
    fmt::print(
        "{}\n",
        dump(
            {{"problem", problem.name}, {"language", language}, {"strategies", strategies}, {"call", call_of(problem)}},
            2));
}

void print_files(const std::string& language, const std::vector<Written>& written, const fs::path& folder) {
    for (const Written& one : written) fmt::print("{}\n", file_of(one, language, folder).string());
}

void print_list(const std::vector<Written>& written) {
    for (const Written& one : written) {
        fmt::print("{}\n    {}\n", one.id, one.hypothesis);
        if (one.condition) fmt::print("    for {}\n", one.condition->text());
    }
}

}  // namespace

int command_write(const Arguments& arguments) {
    const std::string language = arguments.text("--language"), id = arguments.text("--strategy");
    Problem problem = problem_argument(arguments.text("PROBLEM"));
    const std::string graph = trace_reference(problem);
    const size_t promised = problem.require.size();
    (void)take_for_granted(parse_graph(graph).require, problem);
    Sources sources = sources_in(written_language(language), problem, graph);
    if (sources.written.empty()) {
        fmt::print(stderr, "{}: nothing to write in {}: {}\n", problem.name, language, sources.lacks);
        return static_cast<int>(Exit::no_improvement);
    }
    std::vector<Written> written = chosen(std::move(sources.written), id);
    for (Written& one : written) {
        for (size_t i = promised; i < problem.require.size(); ++i) add_condition(one, problem.require[i]);
        if (one.condition) one.source = with_condition(one.source, one.condition->text());
    }
    const fs::path folder = arguments.has("--out") ? arguments.text("--out") : "";
    if (!folder.empty())
        for (const Written& one : written) write_file(file_of(one, language, folder), one.source);
    if (arguments.has("--json")) print_json(problem, language, written, folder);
    else if (!folder.empty()) print_files(language, written, folder);
    else if (!id.empty()) fmt::print("{}", written[0].source);
    else print_list(written);
    return 0;
}

}  // namespace strop::cli
