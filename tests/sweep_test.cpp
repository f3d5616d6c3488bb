// Every kernel that the playbook writes for drawn graphs is built with each sanitizer and called at tiny, ragged and
// larger shapes, streamed and not, with one thread and with several.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/strings.h"
#include "fakes/long_tests.h"
#include "fakes/widened.h"
#include "language/bundle.h"
#include "language/contract.h"
#include "language/cpp.h"
#include "language/sanitizer.h"
#include "playbook/recipe.h"
#include "sandbox/process.h"
#include "sweep/drawn_graphs.h"

namespace strop::playbook {
namespace {

constexpr size_t kernels_in_a_library = 4;
constexpr const char* chooser = "VARIANT";  // a dimension that no tensor has: which kernel of a library is called

// Small blocks, and thresholds that some of the shapes lie below and some above.
const std::map<std::string, int64_t> thresholds = {
    {"PARALLEL_MIN", 512}, {"STREAM_MIN", 4096}, {"BLOCK", 48}, {"TILE", 48}, {"CHUNK", 2}, {"UNROLL", 1},
    {"PANEL", 2},          {"ROWS", 2},          {"DEPTH", 7},  {"MC", 48},   {"KC", 24},   {"NC", 96},
    {"MIN_TASKS", 32}};

struct Library {
    const DrawnGraph* graph = nullptr;
    Problem problem;  // with the chooser
    std::vector<DispatchWinner> kernels;
    std::vector<std::optional<Expression>> conditions;
};

std::vector<Recipe> recipes_of(const Problem& problem, const Graph& graph, const Machine& machine) {
    std::vector<Recipe> all;
    for (const Recipe& recipe : emit_structure(problem, graph, machine).recipes) {
        all.push_back(recipe);
        all.insert(all.end(), recipe.variants.begin(), recipe.variants.end());
    }
    return all;
}

// Other values than the guessed ones: of vectors twice as wide the last one reaches further, and so on.
Configuration drawn_configuration(const TunableSpace& space, const Configuration& initial, std::mt19937& random) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        Configuration drawn = initial;
        for (const Tunable& tunable : space.tunables)
            if (tunable.kind == Tunable::Kind::constant || tunable.kind == Tunable::Kind::late)
                drawn[tunable.name] = tunable.values[random() % tunable.values.size()];
        const bool valid = std::all_of(
            space.constraints.begin(), space.constraints.end(),
            [&](const Expression& constraint) { return truthy(constraint.evaluate({drawn.begin(), drawn.end()})); });
        if (valid) return drawn;
    }
    return initial;
}

std::vector<Library> libraries_of(const DrawnGraph& drawn, const Machine& machine) {
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(drawn.name)));
    Problem problem = drawn.problem;
    problem.dimensions.push_back(chooser);
    Graph graph = drawn.graph;
    if (random() % 4 == 0 && !has_halves(problem)) widen(problem, graph);
    const std::vector<Recipe> recipes = recipes_of(problem, graph, machine);
    EXPECT_FALSE(recipes.empty()) << drawn.name;
    std::vector<Library> libraries;
    for (const Recipe& recipe : recipes) {
        if (libraries.empty() || libraries.back().kernels.size() == kernels_in_a_library)
            libraries.push_back({&drawn, problem, {}, {}});
        DispatchWinner winner;
        winner.kernel.id = recipe.suffix.empty() ? recipe.strategy.id : recipe.strategy.id + "+" + recipe.suffix;
        winner.kernel.source = recipe.source;
        winner.kernel.space = parse_tunables(recipe.source, winner.kernel.id);
        const bool guessed = libraries.back().kernels.size() % 2 == 0;
        winner.configuration =
            guessed ? recipe.initial : drawn_configuration(winner.kernel.space, recipe.initial, random);
        for (auto& [name, value] : winner.configuration)
            if (thresholds.contains(name)) value = thresholds.at(name);
        libraries.back().kernels.push_back(winner);
        libraries.back().conditions.push_back(recipe.condition);
    }
    return libraries;
}

// One source that calls the kernel whose number the chooser is.
std::string source_of(const Library& library) {
    DispatchTree tree;
    const int count = static_cast<int>(library.kernels.size());
    for (int i = 0; i + 1 < count; ++i) {
        tree.nodes.push_back({-1, Expression::parse(chooser), i, 2 * i + 1, 2 * i + 2});
        tree.nodes.push_back({i, {}, 0, -1, -1});
    }
    if (count > 1) tree.nodes.push_back({count - 1, {}, 0, -1, -1});
    return bundle(library.problem, library.kernels, tree, {});
}

std::string numbers(const std::vector<int64_t>& values) {
    std::string text = fmt::format(" {}", values.size());
    for (int64_t value : values) text += fmt::format(" {}", value);
    return text;
}

// What the driver is told: a line a call.
std::string calls_of(const Library& library) {
    std::string text;
    for (size_t k = 0; k < library.kernels.size(); ++k)
        for (Sizes sizes : library.graph->shapes) {
            sizes[chooser] = static_cast<int64_t>(k);
            Bindings bindings;
            for (const auto& [name, value] : sizes) bindings[name] = value;
            if (library.conditions[k] && !truthy(library.conditions[k]->evaluate(bindings))) continue;
            text += fmt::format("{}:{} {}", library.kernels[k].kernel.id, replace_all(strop::describe(sizes), " ", ""),
                                library.problem.inputs.size() + library.problem.outputs.size());
            for (const auto* tensors : {&library.problem.inputs, &library.problem.outputs})
                for (const Tensor& tensor : *tensors) {
                    int64_t count = 1;
                    for (const Expression& extent : tensor.shape) count *= extent.evaluate_integer(bindings);
                    text += fmt::format(" {} {} {}", tensors == &library.problem.inputs ? "i" : "o",
                                        size_of(tensor.dtype), count);
                }
            std::vector<int64_t> parameters, dimensions;
            for (const Parameter& parameter : library.problem.parameters)
                parameters.push_back(sizes.at(parameter.name));
            for (const std::string& name : library.problem.dimensions) dimensions.push_back(sizes.at(name));
            text += numbers(parameters) + numbers(dimensions) + "\n";
        }
    return text;
}

std::string last_line(const std::string& text) {
    const std::vector<std::string> lines = split(trim(text), '\n');
    return lines.empty() ? "" : lines.back();
}

class Sweep : public ::testing::Test {
protected:
    Sweep() : toolchain_(machine_with(32)), sanitizers_(sanitizers_of(*toolchain_.find(""))) {}

    static Machine machine_with(int vector_bytes) {
        Machine machine;
        machine.vector_bytes = vector_bytes;
        machine.cores = 2;
        machine.caches = {{1, 32 << 10}, {2, 512 << 10}, {3, 32 << 20}};
        return machine;
    }

    // STROP_SWEEP=WORD: graphs only whose name begins so, all of them.
    // Side by side, a graph after the other, as the adapter between driver and kernel depends on the problem.
    void sweep(const Sanitizer& sanitizer) {
        if (!sanitizer.missing.empty()) GTEST_SKIP() << sanitizer.missing;
        const std::vector<DrawnGraph> graphs = drawn_graphs(1);
        const char* only = std::getenv("STROP_SWEEP");
        std::set<std::string> called;
        size_t which = 0;
        for (const DrawnGraph& drawn : graphs) {
            if (sanitizer.watches_threads && !drawn.races) continue;
            if (only ? drawn.name.starts_with(only) : is_in_sample(which++))
                look_at(drawn, sanitizer, called, (&drawn - &graphs[0]) % 2 ? 32 : 64);
        }
        EXPECT_GE(called.size(), only ? 1u : 20u);  // kernels of different names
    }

    // Kernels for registers of so many bytes; the compiler splits what is wider than this machine's.
    void look_at(const DrawnGraph& drawn, const Sanitizer& sanitizer, std::set<std::string>& called, int vector_bytes) {
        const std::vector<Library> libraries = libraries_of(drawn, machine_with(vector_bytes));
        std::vector<Build> builds;
        for (const Library& library : libraries) {
            builds.push_back({source_of(library), {}, {}, sanitizer.flags, false});
            builds.back().flags.push_back("-O0");  // a third of the time, and nothing is optimized away
        }
        const fs::path folder = folder_.path() / drawn.name;
        fs::create_directories(folder);
        const std::vector<Built> built = toolchain_.build(libraries.at(0).problem, builds, folder, cores);
        for (size_t i = 0; i < built.size(); ++i) {
            ASSERT_TRUE(built[i].ok) << drawn.name << ": " << built[i].message;
            write_file(folder / "calls", calls_of(libraries[i]));
            run(drawn, sanitizer, built[i].library, folder / "calls");
            for (const DispatchWinner& kernel : libraries[i].kernels) called.insert(kernel.kernel.id);
        }
    }

    static void run(const DrawnGraph& drawn, const Sanitizer& sanitizer, const fs::path& library,
                    const fs::path& calls) {
        sandbox::Command command;
        command.argv = {"/bin/sh",        "-c",          "exec \"$0\" \"$1\" <\"$2\"", STROP_SWEEP_DRIVER,
                        library.string(), calls.string()};
        command.environment = sanitizer.environment;
        command.environment["LD_PRELOAD"] = join(sanitizer.preloaded, ":");
        command.environment["OMP_NUM_THREADS"] = "3";
        command.limits.wall = Seconds(120);
        command.same_addresses = true;
        const sandbox::Finished finished = sandbox::run(command);
        EXPECT_TRUE(finished.ok()) << drawn.name << ", " << last_line(finished.out) << ": " << finished.describe()
                                   << ": " << finding_in(finished.err, library) << "\n"
                                   << finished.err.substr(0, 2000);
    }

    static constexpr int cores = 2;
    CppToolchain toolchain_;
    std::vector<Sanitizer> sanitizers_;
    TemporaryFolder folder_;
};

TEST_F(Sweep, NoKernelLeavesItsTensorsOrDoesWhatIsUndefined) { sweep(sanitizers_.at(0)); }
TEST_F(Sweep, NoKernelHasRaces) { sweep(sanitizers_.at(1)); }

TEST(DrawnGraphs, HoldEveryOperationOfTheEmitters) {
    std::set<std::string> operations;
    std::set<Family> families;
    for (const DrawnGraph& drawn : drawn_graphs(1))
        for (const Node& node : drawn.graph.nodes) {
            families.insert(node.family);
            if (node.family == Family::pointwise || node.family == Family::reduction) operations.insert(node.op);
        }
    for (Family family : {Family::pointwise, Family::reduction, Family::contraction, Family::convolution})
        EXPECT_TRUE(families.contains(family)) << name_of(family);
    for (const char* operation : {"exp", "erf", "where", "power", "less", "round", "prod", "min", "max", "sum"})
        EXPECT_TRUE(operations.contains(operation)) << operation;
    EXPECT_GE(operations.size(), 38u);
}

}  // namespace
}  // namespace strop::playbook
