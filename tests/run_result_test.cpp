#include "run_result_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/strings.h"
#include "language/bundle.h"

namespace strop {
namespace {

using namespace result_fixture;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

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
    EXPECT_THAT(header, HasSubstr("\nvoid scale_shift(const float* x, const float* shift, float* y, float factor, "
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
        write_file(folder_.path() / "use.c", "#include \"" + problem.name + ".h\"\n#include \"" + problem.name +
                                                 ".h\"\nint main(void) { return 0; }\n");
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
    EXPECT_THAT(cmake, HasSubstr("\"$<$<CXX_COMPILER_ID:Clang,AppleClang>:SHELL:-mllvm -inline-threshold=100>\""));
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
    EXPECT_THAT(test, HasSubstr("const float x[] = {1.0f, -2.0f, 1e-40f, 30.0f, 10000000000.0f, 0.33333334f};"));
    EXPECT_THAT(test, HasSubstr("const double y[] = {0.6, -0.45, 8.0, 3.5, 999999999.75, 8.033333333333333};"));
    EXPECT_THAT(test, HasSubstr("::scale_shift(in_x.data(), in_shift.data(), out_y.data(), 0.1f, 2, 3);"));
    write(gather(), gather_files());
    EXPECT_THAT(text("gather_rows_test.cpp"), HasSubstr("{3.0, 0.1, -INFINITY, 3.0}"));
    EXPECT_THAT(text("gather_rows_test.cpp"), HasSubstr("const bool positive[] = {true, true, false, true};"));
    EXPECT_THAT(text("gather_rows_test.cpp"), HasSubstr("const int64_t index[] = {2, 0, 1, 2};"));
}

TEST_F(ResultFolder, UnwritableFolderIsAnEnvironmentError) {
    write_file(folder_.path() / "file", "");
    EXPECT_THROW(write_result(folder_.path() / "file" / "below", scale_shift(), record(), scale_shift_files()),
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
        sandbox::Finished built = run({compilers[0].path, "-std=c++17", "-Wall", "-Wextra", "-Wno-unknown-pragmas",
                                       "-o", "program", "scale_shift.cpp", "scale_shift_test.cpp"});
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
        run({compilers[0].path, "-std=c++17", "-Wall", "-Wextra", "-fsanitize=undefined", "-fno-sanitize-recover=all",
             "-o", "program", "gather_rows.cpp", "gather_rows_test.cpp"});
    ASSERT_TRUE(built.ok()) << built.err;
    EXPECT_EQ(built.err, "");
    sandbox::Finished tested = run({"./program"});
    EXPECT_TRUE(tested.ok()) << tested.out << tested.err;
    EXPECT_THAT(tested.out, HasSubstr("1 passed, 0 failed"));
}

}  // namespace
}  // namespace strop
