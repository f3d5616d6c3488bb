// The judge's check has power and is fair: tests/power holds a source for each shipped problem with legal variants,
// which must be judged right, and wrong ones, which must be found, whatever the seed.
//
// scripts/power sets STROP_POWER_RUNS for the long form: all shapes of the sweep up to STROP_POWER_MIB of tensors, so
// many seeds, the check alone, and a table of the largest errors.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "device/machine.h"
#include "judge/check.h"
#include "judge/referee.h"
#include "language/contract.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

struct Variant {
    std::string name, why;
    bool legal = false;
};

struct Corpus {
    Kernel kernel;
    std::vector<Variant> variants;
};

// All variants in one compilation: their tunable becomes one that is set late, a number in the order of the names.
Corpus read_corpus(const std::string& problem) {
    fs::path file = fs::path(STROP_SOURCE_DIR) / "tests/power" / (problem + ".cpp");
    std::istringstream lines(read_file(file));
    std::map<std::string, Variant> heads;
    Corpus corpus;
    corpus.kernel.id = problem;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string slashes, kind, name;
        words >> slashes >> kind >> name;
        if (slashes == "//" && (kind == "legal" || kind == "illegal") && name.back() == ':') {
            name.pop_back();
            heads[name] = {name, line, kind == "legal"};
        }
        if (kind == "strop:tune") {
            std::string equals, variant, numbers;
            for (words >> equals; words >> variant;)
                if (variant != "|") {
                    EXPECT_EQ(heads.count(variant), 1u) << file << " does not say whether it is legal: " << variant;
                    numbers += (numbers.empty() ? "" : " | ") + std::to_string(corpus.variants.size());
                    corpus.variants.push_back(heads[variant]);
                }
            line = "// strop:late VARIANT = " + numbers;
        }
        corpus.kernel.source += line + "\n";
    }
    EXPECT_EQ(corpus.variants.size(), heads.size()) << file;
    corpus.kernel.space = parse_tunables(corpus.kernel.source, file.string());
    return corpus;
}

const std::map<std::string, std::vector<Dimensions>>& quick_shapes() {
    static const std::map<std::string, std::vector<Dimensions>> shapes = {
        {"bfloat16_sum", {{{"M", 256}, {"N", 2048}}, {{"M", 64}, {"N", 1031}}}},
        {"bias_gelu_residual", {{{"M", 64}, {"N", 128}}, {{"M", 13}, {"N", 523}}}},
        {"column_sum", {{{"M", 64}, {"N", 128}}, {{"M", 523}, {"N", 13}}}},
        {"conv2d",
         {{{"N", 1}, {"C", 16}, {"H", 14}, {"W", 14}, {"K", 16}, {"R", 3}, {"S", 3}},
          {{"N", 2}, {"C", 5}, {"H", 9}, {"W", 11}, {"K", 7}, {"R", 5}, {"S", 3}}}},
        {"layernorm", {{{"M", 64}, {"N", 128}}, {{"M", 13}, {"N", 523}}}},
        {"linear_relu", {{{"M", 16}, {"I", 128}, {"O", 128}}, {{"M", 5}, {"I", 203}, {"O", 37}}}},
        {"matmul", {{{"M", 48}, {"K", 128}, {"N", 32}}, {{"M", 19}, {"K", 203}, {"N", 23}}}},
        {"rmsnorm", {{{"M", 64}, {"N", 128}}, {{"M", 13}, {"N", 523}}}},
        {"double_gap", {{{"M", 64}, {"N", 256}}, {{"M", 7}, {"N", 1003}}}},
        {"multiples", {{{"M", 64}, {"N", 256}}, {{"M", 7}, {"N", 1003}}}},
        {"quotients", {{{"M", 64}, {"N", 256}}, {{"M", 7}, {"N", 1003}}}},
        {"row_product", {{{"M", 512}, {"N", 152}}, {{"M", 64}, {"N", 256}}}},
        {"row_sum", {{{"M", 64}, {"N", 128}}, {{"M", 13}, {"N", 523}}}},
        {"softmax", {{{"M", 64}, {"N", 128}}, {{"M", 13}, {"N", 523}}}}};
    return shapes;
}

// A shipped one, or one of these tests' own.
Problem load(const std::string& name) {
    const fs::path shipped = fs::path(STROP_SOURCE_DIR) / "problems" / name;
    return load_problem((fs::exists(shipped) ? shipped : fs::path(STROP_SOURCE_DIR) / "tests/power" / name).string());
}

class Power : public testing::TestWithParam<std::string> {};

TEST_P(Power, legal_variants_are_right_and_illegal_ones_are_found) {
    Problem problem = load(GetParam());
    problem.points.clear();
    for (const Dimensions& dims : quick_shapes().at(GetParam()))
        problem.points.push_back({std::to_string(problem.points.size()), dims});
    RefereeOptions options;
    options.seed = std::random_device{}();
    Referee referee(problem, detect_machine(), options);
    const Corpus corpus = read_corpus(GetParam());
    std::vector<EvaluationRequest> requests;
    for (size_t i = 0; i < corpus.variants.size(); ++i) {
        EvaluationRequest request;
        request.kernel = corpus.kernel;
        request.configuration = default_configuration(corpus.kernel.space);
        request.configuration["VARIANT"] = static_cast<int64_t>(i);
        request.points = problem.points;
        request.effort = Effort::full;
        requests.push_back(std::move(request));
    }
    std::vector<Evaluation> evaluations = referee.evaluate(requests);
    for (size_t i = 0; i < evaluations.size(); ++i) {
        const Verdict verdict = evaluations[i].verdict;
        // What is wrong for few values only may be met first among those of the timed calls, or once they have changed.
        const bool found =
            verdict == Verdict::wrong_output || verdict == Verdict::nondeterministic || verdict == Verdict::cheated;
        EXPECT_TRUE(corpus.variants[i].legal ? verdict == Verdict::ok : found)
            << name_of(verdict) << ": " << corpus.variants[i].name << " with seed " << options.seed << ": "
            << evaluations[i].evidence;
    }
}

// The quick shapes, and the first of them with each extent once 1 and once 16 times as long.
std::vector<ShapePoint> quick_and_edge_shapes(const Problem& problem) {
    std::vector<ShapePoint> points;
    for (const Dimensions& dims : quick_shapes().at(problem.name)) points.push_back({"", dims});
    const Dimensions first = points.front().dims;
    for (const auto& [name, extent] : first)
        for (int64_t other : {int64_t{1}, 16 * extent}) {
            ShapePoint edge{"", first};
            edge.dims[name] = other;
            if (admits(problem, edge.dims)) points.push_back(edge);
        }
    return points;
}

// ---- the long form ---------------------------------------------------------------------------------

int64_t number_from(const char* variable, int64_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::stoll(text) : otherwise;
}

struct Tally {
    int runs = 0, wrong = 0;  // judgements, and those with an output that was called wrong
    double least = std::numeric_limits<double>::infinity(), most = 0;  // of the runs' largest errors
    std::string where;                                                 // the largest error of all
};

// One judgement of a variant, the check alone: its largest error over what is allowed, over all shapes and sets.
void judge_once(Runner& runner, const Problem& problem, Tally& tally) {
    double largest = 0;
    bool found = false;
    std::string where;
    for (size_t p = 0; p < runner.points().size(); ++p) {
        Buffers& buffers = *runner.points()[p];
        ASSERT_TRUE(runner.prepare(p, Seconds(60)).ok());
        for (uint32_t s = 0; s < buffers.sets().size(); ++s) {
            const InputSet& set = buffers.sets()[s];
            poison(buffers, set);
            Runner::Outcome outcome = runner.call(p, 1, s, 0, Seconds(60));
            ASSERT_TRUE(outcome.ok()) << outcome.evidence;
            found = found || !wrong_output(problem, buffers, set, {}).empty();
            double error = largest_error(problem, buffers, set);
            if (error <= largest) continue;
            largest = error;
            where = describe(buffers.point().dims) + ", " + name_of(set.distribution);
        }
    }
    ++tally.runs;
    tally.wrong += found;
    tally.least = std::min(tally.least, largest);
    if (largest <= tally.most) return;
    tally.most = largest;
    tally.where = where;
}

TEST_P(Power, at_all_shapes_with_many_seeds) {
    const int64_t runs = number_from("STROP_POWER_RUNS", 0);
    if (runs == 0) GTEST_SKIP() << "scripts/power runs it";
    Problem problem = load(GetParam());
    if (!number_from("STROP_POWER_ALL_SHAPES", 0)) problem.points = quick_and_edge_shapes(problem);
    const Machine machine = detect_machine();
    const Corpus corpus = read_corpus(GetParam());
    CppToolchain toolchain(machine);
    TemporaryFolder folder("strop-power");
    std::vector<Build> builds;
    for (const char* contract : {"-ffp-contract=fast", "-ffp-contract=off"})
        for (size_t i = 0; i < corpus.variants.size(); ++i)
            builds.push_back(
                {corpus.kernel.source,
                 chosen_configuration(corpus.kernel.space, {{"VARIANT", std::to_string(i)}, {"CONTRACT", contract}}),
                 corpus.kernel.space,
                 {},
                 false});
    std::vector<Built> built = toolchain.build(problem, builds, folder.path(), 1);
    std::vector<Tally> tallies(corpus.variants.size());
    std::mt19937_64 seeds(static_cast<uint64_t>(number_from("STROP_POWER_SEED", std::random_device{}())));
    for (int64_t run = 0; run < runs; ++run) {
        Expectation expectation(problem, seeds(), Seconds(60));
        std::vector<Buffers*> buffers;
        for (const ShapePoint& point : problem.points) {
            int64_t bytes = 0;
            for (const auto* tensors : {&problem.inputs, &problem.outputs})
                for (const Tensor& tensor : *tensors) bytes += bytes_of(problem, tensor, point.dims);
            if (bytes <= number_from("STROP_POWER_MIB", 2) << 20) buffers.push_back(&expectation.at(point));
        }
        for (size_t i = 0; i < built.size(); ++i) {
            ASSERT_TRUE(built[i].ok) << built[i].message;
            std::unique_ptr<Runner> runner = Runner::kernel(built[i], problem, buffers, machine.cores);
            judge_once(*runner, problem, tallies[i % tallies.size()]);
        }
    }
    for (size_t i = 0; i < tallies.size(); ++i) {
        const Variant& variant = corpus.variants[i];
        const Tally& tally = tallies[i];
        std::cout << fmt::format(
            "power {:<20}{:<8}{:<20}{:>4} of {:<4} as it should   error {:.3g} to {:.3g} of the "
            "allowed one; most at {}\n",
            GetParam(), variant.legal ? "legal" : "illegal", variant.name,
            variant.legal ? tally.runs - tally.wrong : tally.wrong, tally.runs, tally.least, tally.most, tally.where);
        EXPECT_EQ(tally.wrong, variant.legal ? 0 : tally.runs) << variant.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Problems, Power,
                         testing::Values("bfloat16_sum", "bias_gelu_residual", "column_sum", "conv2d", "double_gap",
                                         "layernorm", "linear_relu", "matmul", "multiples", "quotients", "rmsnorm",
                                         "row_product", "row_sum", "softmax"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace strop::judge
