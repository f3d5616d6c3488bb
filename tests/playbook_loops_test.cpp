// Kernels for pointwise chains and reductions: every strategy of every structure is compiled and compared
// with a plain interpreter of the graph in double precision, on shapes with tails, single elements and
// nothing at all.
#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "fakes/graph_builder.h"
#include "fakes/with_team.h"
#include "graph/interpreter.h"
#include "playbook/recipe.h"

namespace strop::playbook {
namespace {

using Builder = GraphBuilder;

std::vector<Array> interpret(const Builder& b, const std::vector<Array>& inputs, const Dimensions& dims) {
    Arguments arguments{{}, bindings_of(b.problem, dims)};
    for (const Parameter& parameter : b.problem.parameters) arguments.bindings[parameter.name] = parameter.value;
    for (size_t k = 0; k < inputs.size(); ++k) arguments.inputs[b.problem.inputs[k].name] = inputs[k];
    return interpret(b.graph, arguments);
}

std::string compiler() {
    for (const char* candidate : {"clang++-19", "clang++", "g++"})
        if (std::system(fmt::format("command -v {} >/dev/null", candidate).c_str()) == 0) return candidate;
    return "c++";
}

// A wrapper with one signature for all kernels: tensors, parameters and dimensions as arrays.
std::string wrapper(const Problem& problem) {
    std::string text = fmt::format(
        "\nextern \"C\" void call_{}(void** t, const float* f, const int64_t* n) {{\n"
        "    (void)f;\n    {}(",
        problem.name, problem.name);
    std::vector<std::string> arguments;
    size_t t = 0;
    for (const Tensor& input : problem.inputs)
        arguments.push_back(fmt::format("(const {}*)t[{}]", c_type(input.dtype), t++));
    for (const Tensor& output : problem.outputs)
        arguments.push_back(fmt::format("({}*)t[{}]", c_type(output.dtype), t++));
    for (size_t k = 0; k < problem.parameters.size(); ++k) arguments.push_back(fmt::format("f[{}]", k));
    for (size_t k = 0; k < problem.dimensions.size(); ++k) arguments.push_back(fmt::format("n[{}]", k));
    for (size_t k = 0; k < arguments.size(); ++k) text += (k ? ", " : "") + arguments[k];
    return text + ");\n}\n";
}

class Compiled {
public:
    Compiled(const Problem& problem, const Recipe& recipe, const Configuration& configuration) {
        static int count = 0;
        std::string base = fmt::format("{}/strop_loops_{}_{}", ::testing::TempDir(), getpid(), count++);
        std::ofstream(base + ".cpp") << with_team(recipe.source) << wrapper(problem);
        // The last: clang 19 says so of any source on processors with AVX10.
        std::string command = compiler() +
                              " -std=c++17 -O1 -march=native -shared -fPIC -Wall -Wextra "
                              "-Wno-psabi -Wno-unknown-pragmas -Wno-unused-function -Wno-unused-parameter "
                              "-Wno-invalid-feature-combination";
        // An index outside an array of the kernel's own ends the tests, and so does a pointer made from no array.
        if (compiler().find("clang") != std::string::npos)
            command += " -fsanitize=array-bounds,pointer-overflow -fsanitize-trap=array-bounds,pointer-overflow";
        for (const std::pair<const std::string, Value>& tunable : configuration)
            command += fmt::format(" -D{}={}", tunable.first, to_string(tunable.second));
        if (const char* more = std::getenv("STROP_TEST_KERNEL_FLAGS")) command += std::string(" ") + more;
        command += " " + team_object();
        failed_ =
            std::system(fmt::format("{} -o {}.so {}.cpp 2> {}.err", command, base, base, base).c_str()) != 0;
        errors = read_file(base + ".err");
        if (!failed_) library_ = dlopen((base + ".so").c_str(), RTLD_NOW);
        if (library_) call = reinterpret_cast<Pointer>(dlsym(library_, ("call_" + problem.name).c_str()));
        for (const char* suffix : {".cpp", ".so", ".err"}) std::remove((base + suffix).c_str());
    }

    using Pointer = void (*)(void**, const float*, const int64_t*);
    Pointer call = nullptr;
    std::string errors;

private:
    bool failed_ = false;
    void* library_ = nullptr;
};

class Loops : public ::testing::Test {
protected:
    Loops() {
        machine.vector_bytes = 32;
        machine.cores = 2;
        machine.caches = {{1, 32 << 10}, {2, 512 << 10}, {3, 32 << 20}};
    }

    // Tensors lie one element past an alignment, with guards around the outputs.
    void compare(const Builder& b, const Compiled& kernel, const Dimensions& dims, const std::string& what) {
        std::mt19937 generator(7);
        std::normal_distribution<double> normal(shift, scale);
        std::vector<Array> inputs;
        std::vector<std::vector<char>> memory;
        std::vector<void*> pointers;
        Problem problem = b.problem;
        auto allocate = [&](const Tensor& tensor, int64_t count) {
            memory.emplace_back(static_cast<size_t>(count + 32) * size_of(tensor.dtype) + 64, char(0x5a));
            return memory.back().data() + 8 * size_of(tensor.dtype);
        };
        for (const Tensor& tensor : problem.inputs) {
            Array array{extents(problem, tensor, dims), {}};
            char* data = allocate(tensor, element_count(array.shape));
            for (int64_t i = 0; i < element_count(array.shape); ++i) {
                double value = tensor.dtype == DType::boolean ? generator() % 2 : float(normal(generator));
                if (special && tensor.dtype == DType::float32 && i % 23 == 7) value = special_value;
                array.values.push_back(value);
                if (tensor.dtype == DType::boolean)
                    reinterpret_cast<bool*>(data)[i] = value != 0;
                else
                    reinterpret_cast<float*>(data)[i] = static_cast<float>(value);
            }
            inputs.push_back(array);
            pointers.push_back(data);
        }
        std::vector<Array> expected = interpret(b, inputs, dims);
        for (size_t k = 0; k < problem.outputs.size(); ++k)
            pointers.push_back(allocate(problem.outputs[k], element_count(expected[k].shape)));
        std::vector<std::vector<char>> before = memory;
        std::vector<float> parameters;
        for (const Parameter& parameter : problem.parameters)
            parameters.push_back(static_cast<float>(parameter.value));
        std::vector<int64_t> extents_in_order;
        for (const std::string& name : problem.dimensions) extents_in_order.push_back(dims.at(name));
        kernel.call(pointers.data(), parameters.data(), extents_in_order.data());

        for (size_t k = 0; k < inputs.size(); ++k)
            EXPECT_EQ(memory[k], before[k]) << what << " changed input " << k;
        for (size_t k = 0; k < expected.size(); ++k) {
            size_t size = size_of(problem.outputs[k].dtype), m = inputs.size() + k;
            const char* data = static_cast<const char*>(pointers[m]);
            size_t begin = static_cast<size_t>(data - memory[m].data()),
                   end = begin + expected[k].values.size() * size;
            for (size_t i = 0; i < memory[m].size(); ++i)
                if (i < begin || i >= end) {
                    ASSERT_EQ(memory[m][i], char(0x5a)) << what << " wrote outside at " << i;
                }
            for (size_t i = 0; i < expected[k].values.size(); ++i) {
                double want = expected[k].values[i];
                double got = size == 1 ? reinterpret_cast<const bool*>(data)[i]
                                       : reinterpret_cast<const float*>(data)[i];
                if (std::isnan(want) || std::isinf(want)) {
                    ASSERT_EQ(fmt::format("{}", float(std::isnan(want) ? NAN : want)),
                              fmt::format("{}", std::isnan(got) ? NAN : float(got)))
                        << what << " at " << i;
                    continue;
                }
                ASSERT_NEAR(got, want, tolerance * (1 + std::abs(want)))
                    << what << " output " << k << " at " << i;
            }
        }
    }

    // All recipes and variants, with the initial configuration, one that takes the threaded and streamed paths,
    // and one that takes pieces of rows without streaming them.
    void check(const Builder& b, const std::vector<Dimensions>& shapes, size_t at_least = 3) {
        Recipes recipes = emit_loops(b.problem, b.graph, machine);
        ASSERT_EQ(recipes.lacks, "");
        ASSERT_GE(recipes.recipes.size(), at_least);
        for (const Recipe& recipe : recipes.recipes) {
            check_one(b, recipe, shapes);
            for (const Recipe& variant : recipe.variants) {
                EXPECT_NE(variant.source, recipe.source);
                EXPECT_NE(variant.suffix, "");
                check_one(b, variant, shapes);
            }
        }
    }

    void check_one(const Builder& b, const Recipe& recipe, const std::vector<Dimensions>& shapes) {
        Configuration threaded = recipe.initial;
        for (std::pair<const std::string, Value>& tunable : threaded) {
            if (tunable.first == "PARALLEL_MIN" || tunable.first == "STREAM_MIN") tunable.second = int64_t{0};
            if (tunable.first == "BLOCK" || tunable.first == "TILE") tunable.second = int64_t{48};
            if (tunable.first == "UNROLL") tunable.second = int64_t{2};
        }
        std::vector<Configuration> configurations = {threaded};
        if (recipe.suffix.empty()) configurations.push_back(recipe.initial);
        if (threaded.contains("TILE") && threaded.contains("STREAM_MIN")) {
            configurations.push_back(threaded);
            configurations.back()["STREAM_MIN"] = recipe.initial.at("STREAM_MIN");
        }
        for (const Configuration& configuration : configurations) {
            std::string what =
                recipe.strategy.id + "+" + recipe.suffix + " " + strop::describe(configuration);
            Compiled kernel(b.problem, recipe, configuration);
            ASSERT_NE(kernel.call, nullptr) << what << "\n" << kernel.errors << recipe.source;
            EXPECT_EQ(kernel.errors, "") << what;
            for (const Dimensions& dims : shapes) {
                compare(b, kernel, dims, what + " " + strop::describe(dims));
                if (HasFatalFailure()) return;
            }
        }
    }

    Machine machine;
    double shift = 0, scale = 1, tolerance = 2e-6;
    bool special = false;
    double special_value = 0;
};

const std::vector<Dimensions> matrix_shapes = {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}},
                                               {{"M", 0}, {"N", 5}},  {{"M", 9}, {"N", 64}},
                                               {{"M", 17}, {"N", 7}}, {{"M", 2}, {"N", 301}}};

TEST_F(Loops, softmax) {
    Builder b("softmax");
    b.output("y", b.softmax(b.input("x", {"M", "N"}), 1));
    check(b, matrix_shapes, 5);
}

TEST_F(Loops, layernorm_with_learned_scale) {
    Builder b("layernorm");
    int x = b.input("x", {"M", "N"}), gamma = b.input("gamma", {"N"}), beta = b.input("beta", {"N"});
    int eps = b.parameter("eps", 1e-5);
    int centred = b.point("subtract", {x, b.mean(x, {1}, "N")});
    int variance = b.mean(b.point("square", {centred}), {1}, "N");
    int root = b.point("sqrt", {b.point("add", {variance, eps})});
    b.output("y", b.point("add", {b.point("multiply", {b.point("divide", {centred, root}), gamma}), beta}));
    tolerance = 2e-5;
    check(b, {{{"M", 3}, {"N", 37}}, {{"M", 0}, {"N", 5}}, {{"M", 9}, {"N", 64}}, {{"M", 2}, {"N", 301}}}, 5);
    shift = 10;
    tolerance = 2e-4;
    check(b, {{{"M", 5}, {"N", 203}}}, 5);
}

TEST_F(Loops, log_sum_exp_and_losses_of_rows) {
    Builder b("loss");
    int x = b.input("x", {"M", "N"}), target = b.input("target", {"M", "N"});
    int largest = b.reduce("max", x, {1});
    int shifted = b.point("subtract", {x, largest});
    int log_sum = b.point("log", {b.reduce("sum", b.point("exp", {shifted}), {1})});
    int log_softmax = b.point("subtract", {shifted, log_sum});
    int loss = b.point("negative", {b.reduce("sum", b.point("multiply", {target, log_softmax}), {1}, false)});
    b.output("loss", loss);
    b.output("lse", b.reshape(b.point("add", {log_sum, largest}), {"M"}));
    tolerance = 2e-5;
    check(b, {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}}, {{"M", 9}, {"N", 64}}, {{"M", 2}, {"N", 301}}}, 3);
}

TEST_F(Loops, gelu_with_bias_and_residual) {
    Builder b("bias_gelu_residual");
    int x = b.input("x", {"M", "N"}), bias = b.input("bias", {"N"}),
        residual = b.input("residual", {"M", "N"});
    int t = b.point("add", {x, bias});
    int erf = b.point("erf", {b.point("multiply", {t, b.constant(0.70710678)})});
    int gelu = b.point("multiply",
                       {b.point("multiply", {b.constant(0.5), t}), b.point("add", {erf, b.constant(1)})});
    b.output("y", b.point("add", {gelu, residual}));
    check(b, matrix_shapes);
}

TEST_F(Loops, sum_of_rows) {
    Builder b("row_sum");
    b.output("y", b.reduce("sum", b.input("x", {"M", "N"}), {1}, false));
    tolerance = 2e-5;
    check(b, matrix_shapes);
}

TEST_F(Loops, sum_of_columns) {
    Builder b("column_sum");
    b.output("y", b.reduce("sum", b.input("x", {"M", "N"}), {0}, false));
    tolerance = 2e-5;
    check(b, matrix_shapes);
}

TEST_F(Loops, standard_score_of_columns_and_a_middle_axis) {
    Builder b("score");
    int x = b.input("x", {"B", "M", "N"}), weight = b.input("weight", {"N"});
    int centred = b.point("subtract", {x, b.mean(x, {1}, "M")});
    int deviation = b.point("sqrt", {b.mean(b.point("square", {centred}), {1}, "M")});
    int shifted = b.point("add", {deviation, b.constant(0.1)});
    b.output("y", b.point("multiply", {b.point("divide", {centred, shifted}), weight}));
    b.output("spread", b.reshape(deviation, {"B", "N"}));
    tolerance = 2e-5;
    check(
        b,
        {{{"B", 2}, {"M", 5}, {"N", 37}}, {{"B", 1}, {"M", 60}, {"N", 130}}, {{"B", 3}, {"M", 1}, {"N", 1}}});
}

TEST_F(Loops, softmax_over_the_first_axis) {
    Builder b("softmax0");
    b.output("y", b.softmax(b.input("x", {"M", "N"}), 0));
    check(b, matrix_shapes);
}

TEST_F(Loops, special_values_behave_as_in_numpy) {
    for (double value : {-double(INFINITY), double(INFINITY), double(NAN)}) {
        special = true;
        special_value = value;
        Builder softmax("softmax");
        softmax.output("y", softmax.softmax(softmax.input("x", {"M", "N"}), 1));
        check(softmax, {{{"M", 3}, {"N", 70}}}, 5);
        Builder largest("largest");
        largest.output("y", largest.reduce("max", largest.input("x", {"M", "N"}), {1}, false));
        check(largest, {{{"M", 4}, {"N", 21}}}, 3);
    }
}

TEST_F(Loops, a_row_that_begins_masked) {
    Builder b("masked");
    int x = b.input("x", {"B", "H", "N"}), mask = b.input("mask", {"B", "1", "N"}, DType::boolean);
    int factor = b.input("scale", {"H", "1"});
    int masked = b.point("where", {mask, b.point("multiply", {x, factor}), b.constant(-1e30)});
    b.output("y", b.softmax(masked, 2));
    check(b, {{{"B", 2}, {"H", 3}, {"N", 45}}, {{"B", 1}, {"H", 2}, {"N", 300}}}, 4);
}

TEST_F(Loops, everything_to_one_number) {
    Builder b("total");
    b.output("y", b.reduce("sum", b.input("x", {"M", "N"}), {0, 1}, false));
    tolerance = 1e-4;
    check(b, {{{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 3}}, {{"M", 37}, {"N", 101}}});
}

TEST_F(Loops, several_outputs_truth_values_and_names_that_would_hide_helpers) {
    Builder b("compare");
    int x = b.input("load", {"rows", "N"}), y = b.input("vec", {"N"});
    int less = b.point("less", {x, y});
    b.output("sum", less);
    b.output("j", b.point("where", {less, b.point("negative", {x}), b.point("maximum", {x, y})}));
    check(b, {{{"rows", 3}, {"N", 37}},
              {{"rows", 1}, {"N", 1}},
              {{"rows", 0}, {"N", 4}},
              {{"rows", 5}, {"N", 64}}});
}

TEST_F(Loops, one_dimension) {
    Builder b("flat");
    b.output("y", b.point("exp", {b.point("tanh", {b.input("x", {"N"})})}));
    check(b, {{{"N", 0}}, {{"N", 1}}, {{"N", 1000}}});
}

TEST_F(Loops, products_and_minima_of_columns) {
    Builder b("extremes");
    int x = b.input("x", {"M", "N"});
    b.output("least", b.reduce("min", x, {0}, false));
    b.output("all", b.reduce("prod", b.point("sigmoid", {x}), {0}, false));
    check(b, {{{"M", 7}, {"N", 37}}, {{"M", 1}, {"N", 3}}});
}

TEST_F(Loops, layernorm_has_an_online_strategy) {
    Builder b("layernorm");
    int x = b.input("x", {"M", "N"});
    int centred = b.point("subtract", {x, b.mean(x, {1}, "N")});
    b.output("y",
             b.point("divide", {centred, b.point("sqrt", {b.mean(b.point("square", {centred}), {1}, "N")})}));
    std::set<std::string> ids;
    for (const Recipe& recipe : emit_loops(b.problem, b.graph, machine).recipes) {
        ids.insert(recipe.strategy.id);
        EXPECT_EQ(recipe.strategy.excludes.size(), 4u);
        for (const std::pair<const std::string, Value>& tunable : recipe.initial)
            EXPECT_NE(recipe.source.find(" " + tunable.first + " = "), std::string::npos);
    }
    EXPECT_TRUE(ids.contains("online_single_read"));
    EXPECT_TRUE(ids.contains("resident_passes"));
}

TEST_F(Loops, says_what_is_missing) {
    auto lacks = [&](const Builder& b) {
        Recipes recipes = emit_loops(b.problem, b.graph, machine);
        EXPECT_TRUE(recipes.recipes.empty());
        return recipes.lacks;
    };
    Builder argmax("argmax");
    argmax.output("y", argmax.reduce("argmax", argmax.input("x", {"M", "N"}), {1}));
    EXPECT_EQ(lacks(argmax), "reduction 'argmax'");
    Builder gamma("gamma");
    gamma.output("y", gamma.point("gamma", {gamma.input("x", {"M"})}));
    EXPECT_EQ(lacks(gamma), "pointwise 'gamma'");
    Builder wide("wide");
    wide.output("y", wide.point("exp", {wide.input("x", {"M"}, DType::float64)}));
    EXPECT_EQ(lacks(wide), "inputs of type float64");
    Builder both("both");
    int x = both.input("x", {"M", "N"});
    both.output("y", both.point("add", {both.reduce("sum", x, {0}), both.reduce("sum", x, {1})}));
    EXPECT_NE(lacks(both), "");
    Builder scalar("scalar");
    scalar.output("y", scalar.point("square", {scalar.input("x", {})}));
    EXPECT_EQ(lacks(scalar), "an axis to loop over");
    Builder reshaped("reshaped");
    reshaped.output("y", reshaped.reshape(reshaped.input("x", {"M", "N"}), {"N", "M"}));
    EXPECT_EQ(lacks(reshaped), "layout 'reshape' inside the loops");
}

}  // namespace
}  // namespace strop::playbook
