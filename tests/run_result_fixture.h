// Three problems with their kernels, and a folder that their results are written to and tried in.
#pragma once

#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "device/machine.h"
#include "fakes/sample_record.h"
#include "run/result_folder.h"
#include "sandbox/process.h"

namespace strop::result_fixture {

inline Tensor tensor(const std::string& name, DType dtype, const std::vector<std::string>& shape) {
    Tensor result;
    result.name = name;
    result.dtype = dtype;
    for (const std::string& extent : shape) result.shape.push_back(Expression::parse(extent));
    return result;
}

inline RunRecord record() {
    RunRecord record = fakes::sample_record({2, 2});
    record.compiler = "g++ 12.2.0 -std=c++17 -O3";
    return record;
}

inline const std::string usual_flags = "-std=c++17 -O3 -march=native -fopenmp -ffp-contract=fast -fno-math-errno";

// ---- one elementwise problem with a parameter
// --------------------------------------------------------------

inline Problem scale_shift() {
    Problem problem;
    problem.name = "scale_shift";
    problem.inputs = {tensor("x", DType::float32, {"M", "N"}), tensor("shift", DType::float32, {"N"})};
    problem.outputs = {tensor("y", DType::float32, {"M", "N"})};
    problem.parameters = {{"factor", DType::float32, 0.1}};
    problem.dimensions = {"M", "N"};
    problem.range = {{"M", {1, 64}}, {"N", {1, 64}}};
    return problem;
}

inline ResultFiles scale_shift_files() {
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

inline Problem gather() {
    Problem problem;
    problem.name = "gather_rows";
    problem.inputs = {tensor("table", DType::float64, {"N"}), tensor("index", DType::int64, {"M"})};
    problem.outputs = {tensor("picked", DType::float64, {"M"}), tensor("positive", DType::boolean, {"M"})};
    problem.dimensions = {"N", "M"};
    return problem;
}

inline ResultFiles gather_files() {
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

inline Problem window_sum() {
    Problem problem;
    problem.name = "window_sum";
    problem.inputs = {tensor("x", DType::float32, {"C", "L"}), tensor("w", DType::float32, {"K", "C//groups", "R"})};
    problem.outputs = {tensor("y", DType::float32, {"K", "(L + 2*padding - R)//stride + 1"})};
    problem.parameters = {{"stride", DType::int64, 1}, {"padding", DType::int64, 1}, {"groups", DType::int64, 1}};
    problem.dimensions = {"C", "L", "K", "R"};
    problem.range = {{"C", {1, 64}}, {"L", {1, 64}}, {"K", {1, 64}}, {"R", {1, 7}}};
    problem.require = {Expression::parse("C % groups == 0 and K % groups == 0"),
                       Expression::parse("stride >= 1 and groups >= 1"), Expression::parse("L + 2*padding >= R")};
    return problem;
}

inline ResultFiles window_files() {
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

}  // namespace strop::result_fixture
