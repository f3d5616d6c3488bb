#include "run/result_folder.h"

#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "fakes/sample_record.h"
#include "language/bundle.h"
#include "sandbox/process.h"

namespace strop {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Tensor tensor(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    Tensor result;
    result.name = name;
    result.dtype = dtype;
    for (const std::string& extent : shape) result.shape.push_back(Expression::parse(extent));
    return result;
}

RunRecord record() {
    RunRecord record = fakes::sample_record({2, 2});
    record.compiler = "g++ 12.2.0 -std=c++17 -O3";
    return record;
}

const std::string usual_flags = "-std=c++17 -O3 -march=native -fopenmp -ffp-contract=fast -fno-math-errno";

// ---- one elementwise problem with a parameter
// --------------------------------------------------------------

Problem scale_shift() {
    Problem problem;
    problem.name = "scale_shift";
    problem.inputs = {tensor("x", DType::float32, {"M", "N"}), tensor("shift", DType::float32, {"N"})};
    problem.outputs = {tensor("y", DType::float32, {"M", "N"})};
    problem.parameters = {{"factor", DType::float32, 0.1}};
    problem.dimensions = {"M", "N"};
    problem.range = {{"M", {1, 64}}, {"N", {1, 64}}};
    return problem;
}

ResultFiles scale_shift_files() {
    ResultFiles files;
    files.compiler_flags = usual_flags;
    files.source = R"text(#include <cstdint>

extern "C" void scale_shift(const float* x, const float* shift, float* y, float factor, int64_t M,
                            int64_t N) {
#pragma omp parallel for
    for (int64_t m = 0; m < M; ++m)
        for (int64_t n = 0; n < N; ++n) y[m * N + n] = factor * x[m * N + n] + shift[n];
}
)text";
    // y = 0.1 x + shift
    files.vectors = {{{"small", {{"M", 2}, {"N", 3}}},
                      {{1, -2, 1e-40, 30, 1e10, 1.0 / 3}, {0.5, -0.25, 8}},
                      {{0.6, -0.45, 8, 3.5, 1e9 - 0.25, 8.0 + 1.0 / 30}},
                      {1e-6},
                      {1e-6}},
                     {{"one", {{"M", 1}, {"N", 1}}}, {{-4}, {1}}, {{0.6}}, {1e-6}, {0}}};
    return files;
}

// ---- two outputs, an int64 input
// ----------------------------------------------------------------------------

Problem gather() {
    Problem problem;
    problem.name = "gather_rows";
    problem.inputs = {tensor("table", DType::float64, {"N"}), tensor("index", DType::int64, {"M"})};
    problem.outputs = {tensor("picked", DType::float64, {"M"}), tensor("positive", DType::boolean, {"M"})};
    problem.dimensions = {"N", "M"};
    return problem;
}

ResultFiles gather_files() {
    ResultFiles files;
    files.compiler_flags = "-O2 -mllvm -inline-threshold=100 -fno-such-option";
    files.source = R"text(#include <cstdint>

extern "C" void gather_rows(const double* table, const int64_t* index, double* picked, bool* positive,
                            int64_t N, int64_t M) {
    (void)N;
    for (int64_t m = 0; m < M; ++m) {
        picked[m] = table[index[m]];
        positive[m] = picked[m] > 0;
    }
}
)text";
    const double infinity = std::numeric_limits<double>::infinity();
    files.vectors = {{{"small", {{"N", 3}, {"M", 4}}},
                      {{0.1, -infinity, 3}, {2, 0, 1, 2}},
                      {{3, 0.1, -infinity, 3}, {1, 1, 0, 1}},
                      {0, 0},
                      {0, 0}}};
    return files;
}

// ---- expression shapes over integer parameters
// --------------------------------------------------------------

Problem window_sum() {
    Problem problem;
    problem.name = "window_sum";
    problem.inputs = {tensor("x", DType::float32, {"C", "L"}),
                      tensor("w", DType::float32, {"K", "C//groups", "R"})};
    problem.outputs = {tensor("y", DType::float32, {"K", "(L + 2*padding - R)//stride + 1"})};
    problem.parameters = {
        {"stride", DType::int64, 1}, {"padding", DType::int64, 1}, {"groups", DType::int64, 1}};
    problem.dimensions = {"C", "L", "K", "R"};
    problem.range = {{"C", {1, 64}}, {"L", {1, 64}}, {"K", {1, 64}}, {"R", {1, 7}}};
    problem.require = {Expression::parse("C % groups == 0 and K % groups == 0"),
                       Expression::parse("stride >= 1 and groups >= 1"),
                       Expression::parse("L + 2*padding >= R")};
    return problem;
}

ResultFiles window_files() {
    ResultFiles files;
    files.compiler_flags = usual_flags;
    files.source = R"text(#include <cstdint>

extern "C" void window_sum(const float* x, const float* w, float* y, int64_t stride, int64_t padding,
                           int64_t groups, int64_t C, int64_t L, int64_t K, int64_t R) {
    const int64_t width = (L + 2 * padding - R) / stride + 1, channels = C / groups;
    for (int64_t k = 0; k < K; ++k)
        for (int64_t o = 0; o < width; ++o) {
            float sum = 0;
            for (int64_t c = 0; c < channels; ++c)
                for (int64_t r = 0; r < R; ++r) {
                    const int64_t at = o * stride + r - padding, row = k / (K / groups) * channels + c;
                    if (at >= 0 && at < L) sum += x[row * L + at] * w[(k * channels + c) * R + r];
                }
            y[k * width + o] = sum;
        }
}
)text";
    return files;
}

// ---- helpers
// ------------------------------------------------------------------------------------------------

class ResultFolder : public testing::Test {
protected:
    std::string write(const Problem& problem, const ResultFiles& files) {
        write_result(folder_.path(), problem, record(), files);
        return read_file(folder_.path() / (problem.name + ".py"));
    }
    std::string text(const std::string& name) const { return read_file(folder_.path() / name); }

    sandbox::Finished run(const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& environment = {}) const {
        sandbox::Command command;
        command.argv = argv;
        command.environment = environment;
        command.working_folder = folder_.path().string();
        command.limits.wall = Seconds(240);
        return sandbox::run(command);
    }

    // Runs a script in the folder; its assertions decide.
    void expect_python(const std::string& script) const {
        std::string python;
        try {
            python = reference_python();
        } catch (const EnvironmentError& error) {
            GTEST_SKIP() << error.what();
        }
        write_file(folder_.path() / "script.py", prelude + script);
        sandbox::Finished finished = run({python, "script.py"}, {{"CXX", ""}});
        EXPECT_TRUE(finished.ok()) << finished.describe() << "\n" << finished.out << finished.err;
    }

    static inline const std::string prelude = R"py(
import sys
import numpy as np

def refused(kind, words, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        for word in words:
            assert word in str(error), f"{word!r} is not in {str(error)!r}"
    else:
        raise AssertionError(f"accepted: {words}")

)py";

    TemporaryFolder folder_;
};

// ---- texts
// --------------------------------------------------------------------------------------------------

TEST_F(ResultFolder, HoldsEveryFile) {
    write(scale_shift(), scale_shift_files());
    for (const char* name : {"scale_shift.cpp", "scale_shift.h", "scale_shift_test.cpp", "scale_shift.py",
                             "scale_shift_python.cpp", "CMakeLists.txt", "report.html", "report.md", "report.json"})
        EXPECT_FALSE(text(name).empty()) << name;
    EXPECT_EQ(text("scale_shift.cpp"), scale_shift_files().source);
}

TEST_F(ResultFolder, LeavesNoPlaceholder) {
    for (const auto& [problem, files] :
         {std::pair{scale_shift(), scale_shift_files()}, std::pair{gather(), gather_files()},
          std::pair{window_sum(), window_files()}}) {
        write(problem, files);
        for (const char* ending : {".h", "_test.cpp", ".py", "_python.cpp"})
            EXPECT_THAT(text(problem.name + ending), Not(HasSubstr("@"))) << problem.name << ending;
        EXPECT_THAT(text("CMakeLists.txt"), Not(HasSubstr("@")));
    }
}

TEST_F(ResultFolder, HeaderDeclaresTheFunctionForBothLanguages) {
    write(scale_shift(), scale_shift_files());
    const std::string header = text("scale_shift.h");
    EXPECT_THAT(header, HasSubstr("#ifndef SCALE_SHIFT_H\n#define SCALE_SHIFT_H\n"));
    EXPECT_THAT(header,
                HasSubstr("\nvoid scale_shift(const float* x, const float* shift, float* y, float factor, "
                          "int64_t M, int64_t N);\n"));
    EXPECT_THAT(header, HasSubstr("[M, N]"));
    EXPECT_THAT(header, HasSubstr("1 to 64"));
    EXPECT_THAT(header, Not(HasSubstr("stdbool")));
    write(gather(), gather_files());
    EXPECT_THAT(text("gather_rows.h"), HasSubstr("#include <stdbool.h>"));
}

TEST_F(ResultFolder, HeaderCompilesAsC) {
    for (const auto& [problem, files] :
         {std::pair{gather(), gather_files()}, std::pair{window_sum(), window_files()}}) {
        write(problem, files);
        write_file(folder_.path() / "use.c", "#include \"" + problem.name + ".h\"\n#include \"" +
                                                 problem.name + ".h\"\nint main(void) { return 0; }\n");
        sandbox::Finished finished = run({"gcc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", "use.c"});
        if (finished.not_found) GTEST_SKIP() << "no C compiler";
        EXPECT_TRUE(finished.ok()) << finished.err;
    }
}

TEST_F(ResultFolder, FlagsOfOneCompilerAreKeptFromOthers) {
    RunRecord clang = record();
    clang.compiler = "clang 19.1.7 -std=c++17 -O3";
    write_result(folder_.path(), gather(), clang, gather_files());
    const std::string cmake = text("CMakeLists.txt"), python = text("gather_rows.py");
    EXPECT_THAT(cmake, HasSubstr("target_compile_options(gather_rows PRIVATE -O2)\n"));
    EXPECT_THAT(cmake,
                HasSubstr("\"$<$<CXX_COMPILER_ID:Clang,AppleClang>:SHELL:-mllvm -inline-threshold=100>\""));
    EXPECT_THAT(cmake, Not(HasSubstr("OpenMP")));
    EXPECT_THAT(python, HasSubstr("_FLAGS = [\"-std=c++17\", \"-O2\"]"));
    EXPECT_THAT(python, HasSubstr("_MORE_FLAGS = [\"-mllvm\", \"-inline-threshold=100\", "));
    EXPECT_THAT(python, HasSubstr("_COMPILERS = [\"clang++-19\", \"clang++\", \"c++\", \"g++\"]"));
}

TEST_F(ResultFolder, CMakeSetsStandardAndOpenMPByItself) {
    write(scale_shift(), scale_shift_files());
    const std::string cmake = text("CMakeLists.txt");
    EXPECT_THAT(cmake, HasSubstr("PRIVATE -O3 -march=native -ffp-contract=fast -fno-math-errno)"));
    EXPECT_THAT(cmake, HasSubstr("find_package(OpenMP REQUIRED"));
    EXPECT_THAT(cmake, Not(HasSubstr("-fopenmp")));
    EXPECT_THAT(cmake, Not(HasSubstr("-std=")));
}

TEST_F(ResultFolder, ReservedTargetNamesAreAvoided) {
    Problem problem = scale_shift();
    problem.name = "test";
    write(problem, scale_shift_files());
    EXPECT_THAT(text("CMakeLists.txt"), HasSubstr("add_library(test_kernel SHARED test.cpp)"));
    EXPECT_THAT(text("CMakeLists.txt"), HasSubstr("OUTPUT_NAME test)"));
}

TEST_F(ResultFolder, TestValuesReadBackExactly) {
    write(scale_shift(), scale_shift_files());
    const std::string test = text("scale_shift_test.cpp");
    EXPECT_THAT(test,
                HasSubstr("const float x[] = {1.0f, -2.0f, 1e-40f, 30.0f, 10000000000.0f, 0.33333334f};"));
    EXPECT_THAT(test,
                HasSubstr("const double y[] = {0.6, -0.45, 8.0, 3.5, 999999999.75, 8.033333333333333};"));
    EXPECT_THAT(test, HasSubstr("::scale_shift(in_x.data(), in_shift.data(), out_y.data(), 0.1f, 2, 3);"));
    write(gather(), gather_files());
    EXPECT_THAT(text("gather_rows_test.cpp"), HasSubstr("{3.0, 0.1, -INFINITY, 3.0}"));
    EXPECT_THAT(text("gather_rows_test.cpp"),
                HasSubstr("const bool positive[] = {true, true, false, true};"));
    EXPECT_THAT(text("gather_rows_test.cpp"), HasSubstr("const int64_t index[] = {2, 0, 1, 2};"));
}

TEST_F(ResultFolder, UnwritableFolderIsAnEnvironmentError) {
    write_file(folder_.path() / "file", "");
    EXPECT_THROW(
        write_result(folder_.path() / "file" / "below", scale_shift(), record(), scale_shift_files()),
        EnvironmentError);
}

// ---- building
// -----------------------------------------------------------------------------------------------

TEST_F(ResultFolder, CMakeBuildsAndTestsIt) {
    write(scale_shift(), scale_shift_files());
    sandbox::Finished configured = run({"cmake", "-S", ".", "-B", "build"});
    if (configured.not_found) GTEST_SKIP() << "no cmake";
    ASSERT_TRUE(configured.ok()) << configured.out << configured.err;
    sandbox::Finished built = run({"cmake", "--build", "build"});
    ASSERT_TRUE(built.ok()) << built.out << built.err;
    sandbox::Finished tested = run({"ctest", "--test-dir", "build", "--output-on-failure"});
    EXPECT_TRUE(tested.ok()) << tested.out;
    sandbox::Finished direct = run({"build/scale_shift_test"});
    EXPECT_EQ(direct.out, "ok      M=2, N=3\nok      M=1, N=1\n2 passed, 0 failed\n");
    EXPECT_TRUE(fs::exists(folder_.path() / "build" / "libscale_shift.so"));
}

// The playbook's kernels bring their threads with them.
TEST_F(ResultFolder, WhatHasATeamNeedsNoOpenMP) {
    ResultFiles files = scale_shift_files();
    Kernel kernel;
    kernel.id = "rows";
    kernel.source = R"text(// strop:team
#include <stdint.h>

extern "C" void scale_shift(const float* x, const float* shift, float* y, float factor, int64_t M,
                            int64_t N) {
    team::parallel(team::size(), [=](team::Member me) {
        for (int64_t m = me.begin(M); m < me.end(M); ++m)
            for (int64_t n = 0; n < N; ++n) y[m * N + n] = factor * x[m * N + n] + shift[n];
    });
}
)text";
    files.source = bundle(scale_shift(), {{kernel, {}}}, {{{0, {}, 0, -1, -1}}, 0}, {});
    write(scale_shift(), files);
    EXPECT_THAT(text("scale_shift.h"), HasSubstr("void scale_shift_set_parallel(void (*run)("));
    write_file(folder_.path() / "use.c", "#include \"scale_shift.h\"\nint main(void) { return 0; }\n");
    const sandbox::Finished header = run({"gcc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", "use.c"});
    EXPECT_TRUE(header.not_found || header.ok()) << header.err;
    const sandbox::Finished configured =
        run({"cmake", "-S", ".", "-B", "build", "-DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON"});
    if (configured.not_found) GTEST_SKIP() << "no cmake";
    ASSERT_TRUE(configured.ok()) << configured.out << configured.err;
    const sandbox::Finished built = run({"cmake", "--build", "build"});
    ASSERT_TRUE(built.ok()) << built.out << built.err;
    EXPECT_EQ(run({"build/scale_shift_test"}).out, "ok      M=2, N=3\nok      M=1, N=1\n2 passed, 0 failed\n");
    EXPECT_THAT(run({"readelf", "-d", "build/libscale_shift.so"}).out, Not(ContainsRegex("lib(g|i)?omp")));
}

// Each defect is one replacement in a right kernel, with words that the test program says about it.
TEST_F(ResultFolder, TestProgramFindsDefects) {
    struct Defect {
        std::string from, to, words;
    };
    const std::vector<Defect> defects = {
        {"+ shift[n]", "- shift[n]", "y[0] is -0.4"},
        {"m < M", "m + 1 < M", "FAILED  M=1, N=1"},
        {"int64_t n = 0", "int64_t n = -1", "outside its bounds"},
        {"y[m * N + n] =", "const_cast<float*>(x)[0] = y[m * N + n] =", "x is an input"},
        {"factor * x", "m * N + n == 4 ? 0.0f / 0.0f : factor * x", "y[4] is "},
    };
    const std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty()) GTEST_SKIP() << "no compiler";
    for (const Defect& defect : defects) {
        ResultFiles files = scale_shift_files();
        files.source = replace_all(files.source, defect.from, defect.to);
        write(scale_shift(), files);
        sandbox::Finished built =
            run({compilers[0].path, "-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-o", "program",
                 "scale_shift.cpp", "scale_shift_test.cpp"});
        ASSERT_TRUE(built.ok()) << built.err;
        sandbox::Finished tested = run({"./program"});
        EXPECT_EQ(tested.exit_code, 1) << defect.to << "\n" << tested.out;
        EXPECT_THAT(tested.out, HasSubstr(defect.words));
    }
}

TEST_F(ResultFolder, TestProgramReadsBooleansIntegersAndInfinities) {
    const std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty()) GTEST_SKIP() << "no compiler";
    write(gather(), gather_files());
    sandbox::Finished built =
        run({compilers[0].path, "-std=c++17", "-Wall", "-Wextra", "-fsanitize=undefined",
             "-fno-sanitize-recover=all", "-o", "program", "gather_rows.cpp", "gather_rows_test.cpp"});
    ASSERT_TRUE(built.ok()) << built.err;
    EXPECT_EQ(built.err, "");
    sandbox::Finished tested = run({"./program"});
    EXPECT_TRUE(tested.ok()) << tested.out << tested.err;
    EXPECT_THAT(tested.out, HasSubstr("1 passed, 0 failed"));
}

// ---- the Python module
// --------------------------------------------------------------------------------------

TEST_F(ResultFolder, PythonComputesOverArraysWithoutCopies) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
from scale_shift import scale_shift
assert "torch" not in sys.modules
x, shift = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
y = scale_shift(x, shift, 2)
assert y.dtype == np.float32 and (y == 2 * x + shift).all()
assert np.allclose(scale_shift(x, shift), np.float32(0.1) * x + shift)
out = np.empty((2, 3), np.float32)
assert scale_shift(x, shift, factor=3.0, out=out) is out and (out == 3 * x + shift).all()
x.flags.writeable = False
assert (scale_shift(x, shift, 2) == y).all()
)py");
}

TEST_F(ResultFolder, PythonRefusesWhatTheKernelCannotRead) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
from scale_shift import scale_shift
x, shift = np.ones((4, 3), np.float32), np.ones(3, np.float32)
scale_shift(x, shift)  # compiles: what follows meets the binding first
bad = lambda kind, words, *a, **k: refused(kind, ["scale_shift: "] + words, scale_shift, *a, **k)
bad(TypeError, ["x has dtype float64", "float32"], x.astype(np.float64), shift)
bad(TypeError, ["x has dtype >f4"], x.astype(">f4"), shift)
bad(TypeError, ["x is of type list", "NumPy array"], [[1.0]], shift)
bad(ValueError, ["x has shape (3,)", "2 dimensions, [M, N]"], shift, shift)
bad(ValueError, ["shift has shape (4,)", "(3,)", "[N]"], x, np.ones(4, np.float32))
bad(ValueError, ["x is not contiguous"], np.ones((3, 4), np.float32).T, shift)
bad(ValueError, ["x is not contiguous"], np.ones((4, 6), np.float32)[:, ::2], shift)
bad(ValueError, ["shift is not contiguous"], x, np.zeros(13, np.uint8)[1:].view(np.float32))
bad(ValueError, ["M >= 1", "M = 0"], np.ones((0, 3), np.float32), shift)
bad(TypeError, ["factor is 'two'", "number"], x, shift, "two")
bad(ValueError, ["out has shape (3, 4)", "(4, 3)"], x, shift, out=np.ones((3, 4), np.float32))
bad(TypeError, ["out has dtype int32"], x, shift, out=np.ones((4, 3), np.int32))
bad(ValueError, ["out overlaps x"], x, shift, out=x)
memory = np.ones(20, np.float32)
bad(ValueError, ["out overlaps shift"], x, memory[11:14], out=memory[:12].reshape(4, 3))
scale_shift(x, memory[12:15], out=memory[:12].reshape(4, 3))
frozen = np.ones((4, 3), np.float32)
frozen.flags.writeable = False
bad(ValueError, ["out is read-only"], x, shift, out=frozen)
)py");
}

TEST_F(ResultFolder, PythonTakesAndReturnsTensors) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
try:
    import torch
except ImportError:
    sys.exit(0)
from scale_shift import scale_shift
x, shift = torch.arange(6, dtype=torch.float32).reshape(2, 3), torch.ones(3)
y = scale_shift(x, shift, 2.0)
assert isinstance(y, torch.Tensor) and torch.equal(y, 2 * x + 1)
assert torch.equal(scale_shift(x, shift, 2.0), y)
out = torch.empty(2, 3)
assert scale_shift(x, shift, 2.0, out=out) is out and torch.equal(out, y)
refused(TypeError, ["x has dtype float64"], scale_shift, x.double(), shift)
refused(ValueError, ["x is on device meta", "CPU"], scale_shift, x.to("meta"), shift)
refused(ValueError, ["x is not contiguous", "contiguous()"], scale_shift, torch.ones(3, 2).T, shift)
refused(ValueError, ["dense"], scale_shift, x.to_sparse(), shift)
refused(ValueError, ["out overlaps x"], scale_shift, x, shift, out=x)
leaf = torch.ones(2, 3, requires_grad=True)
refused(ValueError, ["x requires a gradient", "x.detach()"], scale_shift, leaf, shift)
with torch.no_grad():
    assert torch.equal(scale_shift(leaf, shift, 2.0), 2 * leaf + 1)
)py");
}

TEST_F(ResultFolder, PythonReturnsSeveralOutputs) {
    write(gather(), gather_files());
    expect_python(R"py(
from gather_rows import gather_rows
table, index = np.array([0.5, -1, 3]), np.array([2, 0, 1, 2])
picked, positive = gather_rows(table, index)
assert (picked == table[index]).all() and positive.dtype == bool and (positive == (picked > 0)).all()
out = np.empty(4), np.empty(4, bool)
result = gather_rows(table, index, out=out)
assert result[0] is out[0] and result[1] is out[1] and (out[0] == picked).all()
refused(TypeError, ["out is of type ndarray", "tuple of 2"], gather_rows, table, index, out=out[0])
refused(TypeError, ["out is of type tuple", "tuple of 2"], gather_rows, table, index, out=(out[0],))
refused(TypeError, ["out[1] has dtype float64", "bool"], gather_rows, table, index, out=(out[0], np.empty(4)))
refused(ValueError, ["out[0] overlaps table"], gather_rows, out[0][:3], index, out=out)
refused(TypeError, ["index has dtype int32", "int64"], gather_rows, table, index.astype(np.int32))
)py");
}

TEST_F(ResultFolder, PythonReadsDimensionsOutOfExpressions) {
    write(window_sum(), window_files());
    expect_python(R"py(
from window_sum import window_sum
x, w = np.arange(8, dtype=np.float32).reshape(2, 4), np.ones((4, 2, 3), np.float32)
assert window_sum(x, w).tolist() == [[10, 18, 24, 18]] * 4
assert window_sum(x, w, stride=2, padding=0).tolist() == [[18]] * 4
assert window_sum(x, w[:, :1].copy(), groups=2, padding=0).tolist() == [[3, 6], [3, 6], [15, 18], [15, 18]]
refused(ValueError, ["w has shape (4, 2, 3)", "(4, 1, 3)", "[K, C//groups, R]"], window_sum, x, w, groups=2)
refused(ValueError, ["stride >= 1 and groups >= 1", "groups = 0"], window_sum, x, w, groups=0)
refused(ValueError, ["C%groups == 0", "groups = 3"], window_sum, x, w[:, :0].copy(), groups=3)
refused(ValueError, ["L + 2*padding >= R", "padding = -1"], window_sum, x, w, padding=-1)
refused(TypeError, ["stride is 1.5", "integer"], window_sum, x, w, stride=1.5)
refused(ValueError, ["stride is 9223372036854775808"], window_sum, x, w, stride=2**63)
)py");
}

TEST_F(ResultFolder, PythonInvertsSimpleExtentsAndAsksForTheRest) {
    Problem problem;
    problem.name = "spread_out";
    problem.inputs = {tensor("steps", DType::int32, {"N - 1"}), tensor("pairs", DType::int32, {"2*M + N"}),
                      tensor("halves", DType::int32, {"H//2"})};
    problem.outputs = {tensor("out", DType::int32, {"4"})};
    problem.dimensions = {"N", "M", "H"};
    ResultFiles files;
    files.source = R"text(#include <cstdint>

extern "C" void spread_out(const int32_t*, const int32_t*, const int32_t*, int32_t* out, int64_t N, int64_t M,
                           int64_t H) {
    out[0] = static_cast<int32_t>(N);
    out[1] = static_cast<int32_t>(M);
    out[2] = static_cast<int32_t>(H);
    out[3] = 0;
}
)text";
    write(problem, files);
    expect_python(R"py(
from spread_out import spread_out
ints = lambda n: np.zeros(n, np.int32)
assert spread_out(ints(4), ints(19), ints(3), H=7).tolist() == [5, 7, 7, 0]
out = ints(4)
assert spread_out(ints(4), ints(19), ints(3), H=6, out=out) is out and out.tolist() == [5, 7, 6, 0]
refused(ValueError, ["pairs has shape (20,)", "(19,)"], spread_out, ints(4), ints(20), ints(3), H=7)
refused(ValueError, ["halves has shape (3,)", "(4,)"], spread_out, ints(4), ints(19), ints(3), H=8)
refused(TypeError, ["H"], spread_out, ints(4), ints(19), ints(3))
)py");
}

// Without _shape the careful way cannot be gone.
TEST_F(ResultFolder, PythonCallsThroughTheBinding) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import scale_shift as module
x, shift = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
module.scale_shift(x, shift)
refused(TypeError, ["x has dtype float64"], module.scale_shift, x.astype(np.float64), shift)
assert module._call is not module._checked
shape, module._shape = module._shape, None
y = module.scale_shift(x, shift, 2.0)
assert (y == 2 * x + shift).all() and y.dtype == np.float32
out = np.empty((2, 3), np.float32)
assert module.scale_shift(x, shift, factor=3.0, out=out) is out and (out == 3 * x + shift).all()
rows = np.ones((3, 3), np.float32)[1:]
assert (module.scale_shift(rows, rows[0], 1.0) == 2).all()
large = np.ones((2000, 64), np.float32)
assert (module.scale_shift(large, large[0], 1.0) == 2).all()
try:
    import torch
except ImportError:
    sys.exit(0)
module._shape = shape
x, shift = torch.from_numpy(x), torch.from_numpy(shift)
module.scale_shift(x, shift)  # PyTorch is new to the binding
module._shape = None
y = module.scale_shift(x, shift, 2.0)
assert type(y) is torch.Tensor and torch.equal(y, 2 * x + shift)
out = torch.empty(2, 3)
assert module.scale_shift(x, torch.nn.Parameter(shift, requires_grad=False), 3.0, out=out) is out
assert torch.equal(out, 3 * x + shift)
)py");
}

TEST_F(ResultFolder, BindingFloorsAsPythonDoes) {
    write(window_sum(), window_files());
    Problem loose = window_sum();
    loose.name = "loose_sum";
    loose.require.clear();
    ResultFiles files = window_files();
    files.source = replace_all(files.source, "window_sum", "loose_sum");
    write(loose, files);
    expect_python(R"py(
import loose_sum, window_sum
x, w = np.arange(8, dtype=np.float32).reshape(2, 4), np.ones((4, 2, 3), np.float32)
for module, function in (window_sum, window_sum.window_sum), (loose_sum, loose_sum.loose_sum):
    function(x, w)
    shape, module._shape = module._shape, None
    assert function(x, w).tolist() == [[10, 18, 24, 18]] * 4
    assert function(x, w, stride=2, padding=0).tolist() == [[18]] * 4
    grouped = function(x, w[:, :1].copy(), groups=2, padding=0)
    assert grouped.tolist() == [[3, 6], [3, 6], [15, 18], [15, 18]]
    module._shape = shape
refused(ZeroDivisionError, [""], loose_sum.loose_sum, x, w, groups=0)
assert loose_sum.loose_sum(x[:, :2].copy(), w, padding=0, stride=3).shape == (4, 0)  # (2 - 3)//3 + 1
refused(ValueError, ["out has shape (4, 1)", "(4, 0)"], loose_sum.loose_sum, x[:, :2].copy(), w, padding=0, stride=3,
        out=np.empty((4, 1), np.float32))
refused(ValueError, ["padding is 9223372036854775808"], window_sum.window_sum, x, w, padding=2**63)
refused(ValueError, ["L + 2*padding >= R"], window_sum.window_sum, x, w, padding=-2**62 - 2**61)
)py");
}

TEST_F(ResultFolder, BindingCompilesWithoutWarnings) {
    const std::vector<Compiler> compilers = kernel_compilers();
    if (compilers.empty()) GTEST_SKIP() << "no compiler";
    for (const auto& [problem, files] :
         {std::pair{scale_shift(), scale_shift_files()}, std::pair{gather(), gather_files()},
          std::pair{window_sum(), window_files()}}) {
        write(problem, files);
        expect_python(fmt::format(R"py(
import os, subprocess, sysconfig
include = sysconfig.get_path("include")
if os.path.exists(include + "/Python.h"):
    subprocess.run(["{}", "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-fsyntax-only", "-isystem", include,
                    "{}_python.cpp"], check=True)
)py",
                                  compilers[0].path, problem.name));
    }
}

TEST_F(ResultFolder, PythonSaysOnceThatItHasNoBinding) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import contextlib, io, os, sysconfig
sysconfig.get_path = lambda name: "/nowhere"
from scale_shift import scale_shift
x, shift, said = np.ones((2, 3), np.float32), np.ones(3, np.float32), io.StringIO()
with contextlib.redirect_stderr(said):
    assert (scale_shift(x, shift, 2) == 3).all() and (scale_shift(x, shift, 3) == 4).all()
assert said.getvalue().count("no Python.h in /nowhere") == 1 and said.getvalue().count("ctypes") == 1, said.getvalue()
assert os.listdir("build") == ["libscale_shift.so"]
refused(TypeError, ["x has dtype float64"], scale_shift, x.astype(np.float64), shift)
)py");
}

TEST_F(ResultFolder, PythonRebuildsAStaleLibraryAndNamesAMissingCompiler) {
    write(scale_shift(), scale_shift_files());
    expect_python(R"py(
import os, subprocess
program = """
import numpy as np, scale_shift
one = np.ones((1, 1), np.float32)
print(scale_shift.scale_shift(one, one[0], 1)[0, 0])
"""
def result(**environment):
    return subprocess.run([sys.executable, "-c", program], env={**os.environ, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)

failed = result(CXX="no-such-compiler")
assert "no C++ compiler was found (tried no-such-compiler)" in failed.stderr, failed.stderr
assert result().stdout == "2.0\n"
assert result(CXX="no-such-compiler").stdout == "2.0\n"
text = open("scale_shift.cpp").read()
open("scale_shift.cpp", "w").write(text.replace("+ shift[n]", "- shift[n]"))
later = os.path.getmtime("build/libscale_shift.so") + 10
os.utime("scale_shift.cpp", (later, later))
assert result().stdout == "0.0\n"
open("scale_shift.cpp", "w").write("nonsense")
os.utime("scale_shift.cpp", (later + 10, later + 10))
failed = result()
assert "could not be compiled" in failed.stderr and "nonsense" in failed.stderr, failed.stderr
import sysconfig
names = ["libscale_shift.so", "scale_shift_python" + sysconfig.get_config_var("EXT_SUFFIX")]
assert sorted(os.listdir("build")) == names, os.listdir("build")
)py");
}

}  // namespace
}  // namespace strop
