#include "problem/loader.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace strop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* valid = R"(name: scaled
tags: [norm, reduction]
reference: reference.py
inputs:
  x:   {dtype: float32, shape: [M, N], fill: uniform}
  idx: {dtype: int64, shape: [K], fill: integers, limit: M}
parameters: {eps: 1e-5, stride: {dtype: int64, value: 2}}
outputs: {y: {dtype: float32, shape: [K, N//stride]}}
shapes:
  small: {M: 64, N: 128, K: 3}
  large: {M: 4096, N: 8192, K: 100}
range: {M: [0, 16384]}
require: [N % stride == 0]
tolerance: {absolute: 1e-6, relative: 1e-5}
work: {flops: 8*M*N, bytes: 4*M*N}
baselines: [onednn.cpp]
)";

struct Complaint {
    std::string phrase, hint;
};

class Loader : public testing::Test {
protected:
    Loader() {
        write_file(file("reference.py"), "import numpy as np\n\ndef scaled(x, idx, eps, stride):\n    return x\n");
        write_file(file("onednn.cpp"), "void scaled();\n");
        write_file(file("notes.txt"), "no baseline\n");
    }

    fs::path file(const std::string& name) const { return folder_.path() / name; }

    Problem load(const std::string& yaml) const {
        write_file(file("problem.yaml"), yaml);
        return load_problem(folder_.path().string());
    }

    // The valid text with one part replaced.
    static std::string with(const std::string& from, const std::string& to) {
        std::string text = valid;
        EXPECT_NE(text.find(from), std::string::npos) << from;
        return replace_all(text, from, to);
    }

    Complaint complaint(const std::string& yaml) const {
        try {
            load(yaml);
        } catch (const UsageError& error) {
            return {error.what(), error.hint()};
        }
        ADD_FAILURE() << "accepted:\n" << yaml;
        return {};
    }

    void expect_at(int line, const std::string& phrase, const std::string& yaml) const {
        Complaint found = complaint(yaml);
        EXPECT_THAT(found.phrase, HasSubstr(file("problem.yaml").string() + ":" + std::to_string(line) + ": "));
        EXPECT_THAT(found.phrase, HasSubstr(phrase));
    }

    TemporaryFolder folder_;
};

TEST_F(Loader, ReadsEveryKey) {
    Problem problem = load(valid);
    EXPECT_EQ(problem.name, "scaled");
    EXPECT_EQ(problem.function, "scaled");
    EXPECT_TRUE(problem.folder.is_absolute());
    EXPECT_EQ(problem.reference.filename(), "reference.py");
    EXPECT_THAT(problem.tags, ElementsAre("norm", "reduction"));
    ASSERT_EQ(problem.inputs.size(), 2u);
    EXPECT_EQ(problem.inputs[0].fill, Fill::uniform);
    EXPECT_EQ(problem.inputs[1].dtype, DType::int64);
    ASSERT_TRUE(problem.inputs[1].limit);
    EXPECT_EQ(problem.inputs[1].limit->text(), "M");
    EXPECT_EQ(problem.outputs[0].shape[1].text(), "N//stride");
    EXPECT_EQ(problem.parameters[0].dtype, DType::float32);
    EXPECT_DOUBLE_EQ(problem.parameters[0].value, 1e-5);
    EXPECT_EQ(problem.parameters[1].dtype, DType::int64);
    EXPECT_EQ(problem.parameters[1].value, 2);
    EXPECT_THAT(problem.dimensions, ElementsAre("M", "N", "K"));
    ASSERT_EQ(problem.points.size(), 2u);
    EXPECT_EQ(problem.points[0].label, "small");
    EXPECT_EQ(problem.points[1].dims, (Dimensions{{"M", 4096}, {"N", 8192}, {"K", 100}}));
    EXPECT_EQ(problem.range.at("M").low, 0);
    EXPECT_EQ(problem.range.at("M").high, 16384);
    EXPECT_EQ(problem.range.at("N").low, 1);
    EXPECT_EQ(problem.range.at("N").high, 16384);  // twice the largest
    EXPECT_EQ(problem.range.at("K").high, 200);
    ASSERT_TRUE(problem.tolerance && problem.flops && problem.bytes);
    EXPECT_DOUBLE_EQ(problem.tolerance->relative, 1e-5);
    EXPECT_EQ(problem.flops->text(), "8*M*N");
    EXPECT_EQ(problem.baselines.size(), 1u);
    EXPECT_EQ(problem.hash.size(), 32u);
}

TEST_F(Loader, DefaultsAreFilledIn) {
    Problem problem = load(
        "name: scaled\ninputs: {x: {dtype: float32, shape: [M]}, b: {dtype: bool, shape: []}}\n"
        "outputs: {y: {dtype: float32, shape: [M]}}\nshapes: [{M: 3}, {M: 5}]\n");
    EXPECT_EQ(problem.inputs[0].fill, Fill::normal);
    EXPECT_EQ(problem.inputs[1].fill, Fill::zeros_ones);
    EXPECT_TRUE(problem.inputs[1].shape.empty());
    EXPECT_EQ(problem.points[1].label, "M=5");
    EXPECT_EQ(problem.range.at("M").high, 10);
    EXPECT_FALSE(problem.tolerance || problem.flops || problem.bytes);
    EXPECT_TRUE(problem.baselines.empty() && problem.require.empty() && problem.tags.empty());
}

TEST_F(Loader, ToleranceAutoIsNoTolerance) {
    EXPECT_FALSE(load(with("tolerance: {absolute: 1e-6, relative: 1e-5}", "tolerance: auto")).tolerance);
    EXPECT_EQ(load(with("{absolute: 1e-6, relative: 1e-5}", "{relative: 0.01}")).tolerance->absolute, 0);
}

TEST_F(Loader, DimensionsComeInOrderOfAppearanceAlsoInsideExpressions) {
    Problem problem = load(
        "name: scaled\ninputs: {x: {dtype: float32, shape: [2*Z - A, B]}}\n"
        "outputs: {y: {dtype: float32, shape: [A, 'ceildiv(C, 2)']}}\n"
        "shapes: {s: {A: 1, B: 2, C: 3, Z: 4, E: 5}}\nwork: {flops: E*A}\n");
    EXPECT_THAT(problem.dimensions, ElementsAre("Z", "A", "B", "C", "E"));
}

TEST_F(Loader, FunctionMayDifferFromTheName) {
    EXPECT_EQ(load(with("name: scaled", "name: other\nfunction: scaled")).function, "scaled");
    expect_at(2, "no function 'scald'", with("name: scaled", "name: other\nfunction: scald"));
}

TEST_F(Loader, FindsFoldersFilesAndNames) {
    Problem problem = load(valid);
    EXPECT_EQ(load_problem(file("problem.yaml").string()).hash, problem.hash);
    EXPECT_EQ(load_problem("softmax").name, "softmax");  // from STROP_HOME
    EXPECT_EQ(load_problem(folder_.path().string() + "/").folder, problem.folder);
}

TEST_F(Loader, UnknownProblemsNameTheNearest) {
    auto complaint_about = [](const std::string& path) {
        try {
            load_problem(path);
        } catch (const UsageError& error) {
            return Complaint{error.what(), error.hint()};
        }
        return Complaint{};
    };
    Complaint typo = complaint_about("sofmax");
    EXPECT_THAT(typo.phrase, HasSubstr("'sofmax'"));
    EXPECT_THAT(typo.hint, HasSubstr("did you mean 'softmax'"));
    EXPECT_THAT(complaint_about("no/such/folder").phrase, HasSubstr("no such file or folder"));
    EXPECT_THAT(complaint_about("").phrase, HasSubstr("no such file or folder"));
    EXPECT_THAT(complaint_about(folder_.path().string()).phrase, HasSubstr("no problem.yaml"));
    EXPECT_THAT(complaint_about(file("reference.py").string()).phrase, HasSubstr("not a problem"));
}

TEST_F(Loader, MalformedYamlNamesTheLine) {
    expect_at(2, "malformed YAML", "name: scaled\ninputs: [x}\n");
    expect_at(2, "malformed YAML", "name: scaled\n\t- x\n");
    expect_at(1, "has ended before this", ", scaled\nname: scaled\n");
    expect_at(2, "has ended before this", "{name: scaled}\n, tags: []\n");
    expect_at(1, "expected a map", "");
    expect_at(1, "expected a map", "- a\n- b\n");
    expect_at(1, "expected a map", "just text\n");
    expect_at(3, "has ended before this", "name: scaled\ntags: []\n---\nname: other\n");
}

TEST_F(Loader, KeysAreChecked) {
    expect_at(5, "unknown key 'fil' in 'x'", with("fill: uniform", "fil: uniform"));
    expect_at(4, "unknown key 'input'", with("inputs:", "input:"));
    EXPECT_THAT(complaint(with("inputs:", "input:")).hint, HasSubstr("did you mean 'inputs'"));
    expect_at(8, "unknown key 'fill' in 'y'", with("shape: [K, N//stride]", "shape: [K], fill: normal"));
    expect_at(15, "unknown key 'flop' in 'work'", with("flops:", "flop:"));
    expect_at(14, "unknown key 'abs' in 'tolerance'", with("absolute:", "abs:"));
    expect_at(7, "unknown key 'val' in 'stride'", with("value: 2", "val: 2"));
    expect_at(3, "'name' appears twice", with("reference: reference.py", "name: twice"));
    for (const char* key : {"name", "inputs", "outputs", "shapes"}) {
        std::string text = valid;
        size_t begin = text.find(std::string(key) + ":"), end = begin;
        do end = text.find('\n', end) + 1;
        while (text[end] == ' ');
        EXPECT_THAT(complaint(text.erase(begin, end - begin)).phrase,
                    HasSubstr("missing key '" + std::string(key) + "'"));
    }
}

TEST_F(Loader, TypesAreChecked) {
    expect_at(2, "'tags' must be a list", with("tags: [norm, reduction]", "tags: norm"));
    expect_at(5, "'x' must be a map", with("{dtype: float32, shape: [M, N], fill: uniform}", "float32"));
    expect_at(5, "'shape' must be a list", with("shape: [M, N]", "shape: M"));
    expect_at(10, "'small' must be a map", with("{M: 64, N: 128, K: 3}", "64"));
    expect_at(10, "'M' must be a whole number, found '6.5'", with("M: 64", "M: 6.5"));
    expect_at(10, "does not fit into 64 bits", with("M: 64", "M: 99999999999999999999"));
    expect_at(7, "'eps' must be a finite number, found 'tiny'", with("1e-5, stride", "tiny, stride"));
    expect_at(7, "must be a finite number", with("eps: 1e-5", "eps: .inf"));
    expect_at(7, "1.5 is not a value of type int64", with("value: 2", "value: 1.5"));
    expect_at(7, "300 is not a value of type uint8", with("dtype: int64, value: 2", "dtype: uint8, value: 300"));
    expect_at(7, "'stride' has no 'value'", with(", value: 2", ""));
    expect_at(1, "must be a text", with("name: scaled", "name: [a]"));
    expect_at(9, "'shapes' must be a map",
              "name: scaled\ntags: []\n\n\ninputs: {x: {dtype: float32, shape: [M]}}\n"
              "outputs:\n  y: {dtype: float32, shape: [M]}\n\nshapes: 4\n");
}

TEST_F(Loader, DTypesAndFillsAreListed) {
    expect_at(5, "dtype 'float8' of 'x' is not known", with("x:   {dtype: float32", "x:   {dtype: float8"));
    EXPECT_THAT(complaint(with("x:   {dtype: float32", "x:   {dtype: float8")).hint, HasSubstr("float32, float64"));
    expect_at(7, "dtype 'int' of 'stride' is not known", with("dtype: int64, value", "dtype: int, value"));
    expect_at(5, "fill 'gauss' of 'x' is not known", with("fill: uniform", "fill: gauss"));
    EXPECT_THAT(complaint(with("fill: uniform", "fill: gauss")).hint, HasSubstr("zeros_ones"));
    expect_at(6, "int64 input 'idx' cannot be filled with 'normal'", with(", fill: integers, limit: M", ""));
    expect_at(6, "'idx' has no 'limit'", with(", limit: M", ""));
    expect_at(5, "'limit' of 'x' needs 'fill: integers'", with("fill: uniform", "fill: uniform, limit: 4"));
    expect_at(6, "'idx' has no 'dtype'", with("dtype: int64, shape: [K]", "shape: [K]"));
    expect_at(8, "'y' has no 'shape'", with("{dtype: float32, shape: [K, N//stride]}", "{dtype: float32}"));
}

TEST_F(Loader, UndefinedDimensionsAreNamedWhereTheyStand) {
    expect_at(8, "'NN' in the shape of y is not defined", with("N//stride]", "NN//stride]"));
    EXPECT_THAT(complaint(with("N//stride]", "NN//stride]")).hint, HasSubstr("did you mean 'N'"));
    expect_at(15, "'Q' in 'work' is not a dimension", with("flops: 8*M*N", "flops: 8*M*Q"));
    expect_at(15, "'eps' in 'work' is not a dimension", with("flops: 8*M*N", "flops: 8*M*eps"));
    expect_at(12, "'Q' in 'range' is not a dimension", with("range: {M:", "range: {Q:"));
    expect_at(13, "'Q' in 'require' is not a dimension", with("N % stride == 0", "Q % stride == 0"));
    expect_at(6, "'V' in 'limit of idx' is not a dimension", with("limit: M", "limit: V"));
    expect_at(8, "'eps' in the shape of y is a float32 parameter", with("N//stride]", "N//eps]"));
    expect_at(11, "shape 'large' has no value for dimension 'K'", with(", K: 100", ""));
    expect_at(10, "shape 'small' has a value for 'J', which nothing uses", with("K: 3}", "K: 3, J: 1}"));
    expect_at(5, "expected ')'", with("shape: [M, N]", "shape: [(M, N]"));
    expect_at(5, "'M/2' in the shape of x need not be a whole number", with("shape: [M, N]", "shape: [M/2, N]"));
}

TEST_F(Loader, NamesAreChecked) {
    expect_at(1, "'2d' cannot name the problem", with("name: scaled", "name: 2d"));
    expect_at(1, "'a-b' cannot name the problem", with("name: scaled", "name: a-b"));
    for (const char* name : {"tanh", "fdiv", "nextafterf", "truncate", "cabs", "conjf", "send", "error", "environ"})
        expect_at(1, "the C library has that function", with("name: scaled", fmt::format("name: {}", name)));
    for (const char* name : {"std", "vec"})
        expect_at(1, "kernels use it", with("name: scaled", fmt::format("name: {}", name)));
    for (const char* name : {"os", "numpy", "ctypes"})
        expect_at(1, "imports a module of that name", with("name: scaled", fmt::format("name: {}", name)));
    for (const char* word : {"float", "lambda", "register", "None", "min", "__x", "int64_t"})
        expect_at(5, "reserves it", with("  x:  ", "  " + std::string(word) + ": "));
    expect_at(5, "'M' names an input and a dimension", with("  x:  ", "  M:  "));
    expect_at(5, "'scaled' names the problem and an input", with("  x:  ", "  scaled: "));
    expect_at(8, "'x' names an input and an output", with("outputs: {y:", "outputs: {x:"));
    expect_at(5, "'eps' names a parameter and an input", with("  x:  ", "  eps: "));
}

TEST_F(Loader, LimitsAreWholeNumbers) {
    for (const char* limit : {"0", "-7", "3.5"})
        expect_at(6, "no whole number above 0", with("limit: M", fmt::format("limit: {}", limit)));
}

TEST_F(Loader, WholeNumbersMayBeginElsewhere) {
    EXPECT_EQ(load(with("limit: M", "from: -5, limit: 3")).inputs[1].from, -5);
    EXPECT_EQ(load(with("limit: M", "from: -5, limit: -3")).inputs[1].limit->text(), "-3");
    EXPECT_NE(load(with("limit: M", "from: 1, limit: M")).hash, load(valid).hash);
    expect_at(6, "is -5, no whole number above -5", with("limit: M", "from: -5, limit: -5"));
    expect_at(6, "'from' must be a whole number", with("limit: M", "from: a, limit: M"));
    expect_at(
        6, "'from' of 'idx' is -129",
        with("int64, shape: [K], fill: integers, limit: M", "int8, shape: [K], fill: integers, from: -129, limit: M"));
    expect_at(5, "'from' of 'x' needs 'fill: integers'", with("fill: uniform", "fill: uniform, from: 4"));
    expect_at(10, "the limit of 'idx' is below 71", with("limit: M", "from: 70, limit: M"));
}

TEST_F(Loader, EmptySectionsAreErrors) {
    expect_at(8, "'outputs' is empty", with("outputs: {y: {dtype: float32, shape: [K, N//stride]}}", "outputs: {}"));
    expect_at(4, "'inputs' is empty",
              "name: scaled\ntags: []\n\ninputs: {}\noutputs: {y: {dtype: float32, shape: []}}\nshapes: [{}]\n");
    expect_at(4, "'shapes' is empty",
              "name: scaled\ninputs: {x: {dtype: float32, shape: []}}\noutputs: {y: {dtype: float32, shape: "
              "[]}}\nshapes: {}\n");
}

TEST_F(Loader, PointsAreChecked) {
    expect_at(10, "dimension 'M' is 0 at shape 'small'", with("M: 64", "M: 0"));
    expect_at(10, "dimension 'M' is -4", with("M: 64", "M: -4"));
    expect_at(11, "outside its range [0, 1000]", with("range: {M: [0, 16384]}", "range: {M: [0, 1000]}"));
    expect_at(11, "'small' appears twice", with("  large:", "  small:"));
    expect_at(11, "repeats shape 'small'", with("{M: 4096, N: 8192, K: 100}", "{K: 3, M: 64, N: 128}"));
    expect_at(11, "cannot label", with("  large:", "  very large:"));
    expect_at(10, "'N%stride == 0' does not hold", with("N: 128", "N: 127"));
    expect_at(10, "'N//stride' in the shape of y is 0", with("N: 128, K: 3}", "N: 1, K: 3}"));
    expect_at(10, "'N//(K - 3)' in the shape of y: division by zero", with("N//stride]", "N//(K - 3)]"));
    expect_at(10, "the limit of 'idx' is below 1", with("limit: M", "limit: M - 64"));
    expect_at(10, "division by zero", with("limit: M", "limit: M // (K - 3)"));
    expect_at(10, "work 'M - 4096' is no amount", with("flops: 8*M*N", "flops: M - 4096"));
    std::string unbounded = with("range: {M: [0, 16384]}", "");
    expect_at(11, "too many elements", replace_all(unbounded, "M: 4096, N: 8192", "M: 9999999999, N: 9999999998"));
}

TEST_F(Loader, RangesAreChecked) {
    expect_at(12, "has 1 values", with("[0, 16384]", "[16384]"));
    expect_at(12, "must be a list", with("[0, 16384]", "16384"));
    expect_at(12, "is empty or negative", with("[0, 16384]", "[-1, 16384]"));
    expect_at(12, "is empty or negative", with("[0, 16384]", "[16384, 1]"));
    expect_at(12, "is empty or negative", with("[0, 16384]", "[0, 0]"));
}

TEST_F(Loader, TolerancesAreChecked) {
    for (const char* bad : {"tight", "1e-5", "{}", "[1, 2]"})
        expect_at(14, "neither 'auto' nor a map", with("{absolute: 1e-6, relative: 1e-5}", bad));
    expect_at(14, "'relative' of 'tolerance' is negative", with("relative: 1e-5", "relative: -1"));
    expect_at(14, "must be a finite number", with("relative: 1e-5", "relative: .nan"));
}

TEST_F(Loader, FilesAreChecked) {
    expect_at(3, "'refrence.py' does not exist", with("reference: reference.py", "reference: refrence.py"));
    EXPECT_THAT(complaint(with("reference: reference.py", "reference: refrence.py")).hint, HasSubstr("'reference.py'"));
    expect_at(3, "reference.py has no function 'scaling'", with("name: scaled", "name: scaling"));
    EXPECT_THAT(complaint(with("name: scaled", "name: scaling")).hint, HasSubstr("def scaling("));
    expect_at(16, "'cublas.cpp' does not exist", with("[onednn.cpp]", "[cublas.cpp]"));
    expect_at(16, "neither .cpp nor .py", with("[onednn.cpp]", "[notes.txt]"));
    expect_at(16, "listed twice", with("[onednn.cpp]", "[onednn.cpp, ./onednn.cpp]"));
}

TEST_F(Loader, AFunctionInACommentOrLongerNameDoesNotCount) {
    write_file(file("reference.py"), "# def scaled(x)\ndef scaled_twice(x):\n    return x\n");
    expect_at(3, "no function 'scaled'", valid);
}

TEST_F(Loader, HashFollowsContentNotPlace) {
    std::string hash = load(valid).hash;
    EXPECT_EQ(load("# a comment\n" + std::string(valid)).hash, hash);
    EXPECT_NE(load(with("value: 2", "value: 4")).hash, hash);
    EXPECT_NE(load(with("K: 100", "K: 101")).hash, hash);
    EXPECT_NE(load(with("relative: 1e-5", "relative: 1e-4")).hash, hash);
    EXPECT_NE(load(with("fill: uniform", "fill: normal")).hash, hash);
    TemporaryFolder elsewhere;
    fs::copy(folder_.path(), elsewhere.path(), fs::copy_options::recursive);
    write_file(elsewhere.path() / "problem.yaml", valid);
    EXPECT_EQ(load_problem(elsewhere.path().string()).hash, hash);
    write_file(file("onednn.cpp"), "void scaled(int);\n");
    EXPECT_NE(load(valid).hash, hash);
    write_file(file("onednn.cpp"), "void scaled();\n");
    EXPECT_EQ(load(valid).hash, hash);
    write_file(file("reference.py"), "def scaled(x, idx, eps, stride):\n    return 2 * x\n");
    EXPECT_NE(load(valid).hash, hash);
}

TEST_F(Loader, ListHoldsGoodAndBadProblemsByName) {
    fs::create_directories(file("b"));
    fs::create_directories(file("a"));
    fs::create_directories(file("empty"));
    write_file(file("b/problem.yaml"), "name: b\n");
    write_file(file("a/problem.yaml"), valid);
    write_file(file("a/reference.py"), "def scaled():\n    pass\n");
    write_file(file("a/onednn.cpp"), "");
    std::vector<ProblemSummary> all = list_problems(folder_.path());
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "a");
    EXPECT_EQ(all[0].points, 2u);
    EXPECT_EQ(all[0].error, "");
    EXPECT_EQ(all[1].name, "b");
    EXPECT_THAT(all[1].error, HasSubstr("missing key 'inputs'"));
    EXPECT_TRUE(list_problems(file("no-such-folder")).empty());
}

TEST(OwnProblems, AllLoadAndCoverTheirShapes) {
    std::vector<ProblemSummary> all = list_problems(fs::path(STROP_SOURCE_DIR) / "problems");
    EXPECT_GE(all.size(), 9u);
    for (const ProblemSummary& summary : all) {
        ASSERT_EQ(summary.error, "");
        EXPECT_GE(summary.points, 4u) << summary.name;
        Problem problem = load_problem(summary.folder.string());
        EXPECT_EQ(problem.name, summary.name);
        EXPECT_FALSE(problem.baselines.empty()) << summary.name;
        for (const ShapePoint& point : problem.points) EXPECT_TRUE(admits(problem, point.dims)) << summary.name;
    }
}

TEST(OwnProblems, ConvolutionFollowsItsParameters) {
    Problem problem = load_problem((fs::path(STROP_SOURCE_DIR) / "problems" / "conv2d").string());
    EXPECT_THAT(problem.dimensions, ElementsAre("N", "C", "H", "W", "K", "R", "S"));
    Dimensions dims = {{"N", 2}, {"C", 8}, {"H", 15}, {"W", 17}, {"K", 12}, {"R", 3}, {"S", 5}};
    EXPECT_EQ(extents(problem, problem.outputs[0], dims), (std::vector<int64_t>{2, 12, 15, 15}));
    problem.parameters[0].value = 2;  // stride
    problem.parameters[2].value = 2;  // dilation
    problem.parameters[3].value = 4;  // groups
    EXPECT_EQ(extents(problem, problem.outputs[0], dims), (std::vector<int64_t>{2, 12, 7, 6}));
    EXPECT_EQ(extents(problem, problem.inputs[1], dims), (std::vector<int64_t>{12, 2, 3, 5}));
    EXPECT_TRUE(admits(problem, dims));
    dims["C"] = 6;
    EXPECT_FALSE(admits(problem, dims));
}

}  // namespace
}  // namespace strop
