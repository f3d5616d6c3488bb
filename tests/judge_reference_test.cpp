// What is expected of kernels: the reference's values, the distributions of its inputs, buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "device/machine.h"
#include "judge/memory_folder.h"
#include "judge/referee.h"
#include "judge_scale_fixture.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

namespace fs = std::filesystem;

Problem scale_problem(const TemporaryFolder& folder, const std::string& python) {
    write_file(folder.path() / "scale/problem.yaml", problem_yaml);
    write_file(folder.path() / "scale/reference.py", python);
    return load_problem((folder.path() / "scale").string());
}

TEST(Reference, a_reference_that_fails_is_one_phrase) {
    TemporaryFolder folder("strop-test");
    auto judge_with = [&](const std::string& python) -> std::string {
        Problem problem = scale_problem(folder, python);
        RefereeOptions options;
        options.reference_limit = Seconds(3);
        EvaluationRequest request;
        request.kernel.source = kernel_source(right_body);
        request.points = problem.points;
        try {
            Referee referee(problem, detect_machine(), options);
            referee.evaluate({request});
        } catch (const UsageError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_NE(judge_with("def scale(x, factor):\n    raise ValueError('no luck')\n").find("ValueError: no luck"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    return x, x\n").find("returns shape [8, 33] for 'total'"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    return x.astype('int32'), x.sum(-1)\n").find("returns dtype"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    return x * float('nan'), x.sum(-1)\n").find("nan or infinity"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    while True: pass\n").find("did not return within 3 s"),
              std::string::npos);
}

// A reference that refuses NaNs, infinities and what is too large is judged as one that does not.
TEST(Reference, inputs_that_nobody_declared_may_be_refused) {
    TemporaryFolder folder("strop-test");
    Problem problem = scale_problem(folder,
                                    "def scale(x, factor):\n    if not abs(x).max() < 100: raise ValueError('no')\n"
                                    "    return x * factor, x.sum(axis=-1)\n");
    Expectation expectation(problem, 5, Seconds(60));
    std::set<Distribution> met;
    for (const InputSet& set : expectation.at(problem.points[0]).sets()) met.insert(set.distribution);
    EXPECT_EQ(met.count(Distribution::scaled_up) + met.count(Distribution::masked), 0u);
    EXPECT_EQ(met.count(Distribution::sparse), 1u);
}

// Small shapes get every distribution that suits the reference, and larger ones share them out without replacement.
TEST(Reference, every_distribution_is_met_before_one_is_met_twice) {
    TemporaryFolder folder("strop-test");
    Problem problem = scale_problem(folder, reference_py);
    for (int64_t i = 0; i < 6; ++i) problem.points.push_back({std::to_string(i), {{"M", 250 + i}, {"N", 1000}}});
    Expectation expectation(problem, 5, Seconds(60));
    std::multiset<Distribution> at_small, at_large;
    for (const ShapePoint& point : problem.points) {
        Buffers& buffers = expectation.at(point);
        bool small = point.dims.at("N") == 33;
        for (const InputSet& set : buffers.sets()) {
            if (set.distribution == Distribution::declared) continue;
            if (small) at_small.insert(set.distribution);
            if (point.dims.at("N") == 1000) at_large.insert(set.distribution);
        }
    }
    EXPECT_GE(at_small.size(), 8u);
    EXPECT_EQ(at_large.size(), 12u);
    for (Distribution distribution : at_small) {
        EXPECT_EQ(at_small.count(distribution), 1u) << name_of(distribution);
        EXPECT_GE(at_large.count(distribution), 1u) << name_of(distribution);
        EXPECT_LE(at_large.count(distribution), 2u) << name_of(distribution);
    }
}

// A reference that takes its time is asked for two a shape, and a smaller shape tells which it can be asked for.
TEST(Reference, small_shapes_of_a_slow_reference_share_the_distributions) {
    TemporaryFolder folder("strop-test");
    Problem problem =
        scale_problem(folder,
                      "import time\n\n\ndef scale(x, factor):\n    time.sleep(x.size * 3.2e-6)\n"
                      "    if x.size < 100: raise ValueError('too small')\n    return x * factor, x.sum(axis=-1)\n");
    problem.points.clear();
    for (int64_t i = 0; i < 4; ++i) problem.points.push_back({std::to_string(i), {{"M", 35 + i}, {"N", 100}}});
    Expectation expectation(problem, 5, Seconds(60));
    std::set<Distribution> met;
    for (const ShapePoint& point : problem.points) {
        const Buffers& buffers = expectation.at(point);
        EXPECT_EQ(buffers.sets().size(), 4u);
        for (const InputSet& set : buffers.sets()) met.insert(set.distribution);
    }
    EXPECT_EQ(met.size(), 9u);
}

TEST(Reference, every_other_shape_outside_the_sweep_meets_an_unusual_distribution) {
    TemporaryFolder folder("strop-test");
    const Problem problem = scale_problem(folder, reference_py);
    Expectation expectation(problem, 5, Seconds(60));
    std::set<Distribution> met;
    int unusual = 0;
    for (int64_t i = 0; i < 12; ++i) {
        const Buffers& buffers = expectation.at({std::to_string(i), {{"M", 20 + i}, {"N", 100}}});
        unusual += buffers.sets().size() == 3;
        for (const InputSet& set : buffers.sets()) met.insert(set.distribution);
    }
    EXPECT_EQ(unusual, 6);
    EXPECT_EQ(met.size(), 7u);
}

// Of the mapping that begins there (proc_pid_smaps(5)).
int64_t bytes_in_huge_pages(const void* at) {
    std::istringstream lines(read_file("/proc/self/smaps"));
    const std::string begin = fmt::format("{:x}-", reinterpret_cast<uintptr_t>(at));
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
        found = found || line.starts_with(begin);
        if (found && line.starts_with("ShmemPmdMapped:")) return 1024 * std::stoll(line.substr(15));
    }
    return 0;
}

int64_t huge_bytes_under(const Problem& problem) {
    Buffers buffers(problem, {"large", {{"M", 4096}, {"N", 1024}}}, {Distribution::declared}, 0, 1);
    return bytes_in_huge_pages(buffers.inputs().data());
}

bool huge_pages_come_unasked() {
    return read_file("/sys/kernel/mm/transparent_hugepage/enabled").find("[always]") != std::string::npos;
}

// NumPy asks the system for huge pages, PyTorch and C++ do not.
TEST(Buffers, tensors_lie_in_the_pages_that_their_users_have) {
    TemporaryFolder folder("strop-test");
    const int64_t torch = huge_bytes_under(scale_problem(folder, "import torch\n\n\n" + std::string(reference_py)));
    const int64_t numpy = huge_bytes_under(scale_problem(folder, reference_py));
    if (huge_pages_come_unasked()) EXPECT_EQ(torch, numpy);
    else EXPECT_EQ(torch, 0);
    if (memory_folder() < 0 || numpy == 0) GTEST_SKIP() << "this system gives no huge pages to files in memory";
    EXPECT_GT(numpy, int64_t{2} << 20);
}

// As STROP_PYTHON: the Python of references, in which PyTorch seems to be installed.
class PythonWithTorch {
public:
    explicit PythonWithTorch(const TemporaryFolder& folder) {
        const fs::path packages = folder.path() / "packages", python = folder.path() / "python";
        write_file(packages / "torch-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 1.0\n");
        write_file(python,
                   fmt::format("#!/bin/sh\nPYTHONPATH={} exec {} \"$@\"\n", packages.string(), reference_python()));
        fs::permissions(python, fs::perms::owner_all);
        setenv("STROP_PYTHON", python.c_str(), 1);
    }
    ~PythonWithTorch() { unsetenv("STROP_PYTHON"); }
};

// A result is called beside its baseline in PyTorch, with tensors of PyTorch's.
TEST(Buffers, tensors_lie_in_the_pages_of_a_baseline_that_is_installed) {
    if (huge_pages_come_unasked()) GTEST_SKIP() << "this system gives huge pages to everybody";
    TemporaryFolder folder("strop-test");
    Problem problem = scale_problem(folder, reference_py);
    problem.baselines = {folder.path() / "scale/pytorch.py"};
    const PythonWithTorch python(folder);
    EXPECT_EQ(huge_bytes_under(problem), 0);
    problem.baselines = {folder.path() / "scale/fast.cpp"};
    if (memory_folder() >= 0) EXPECT_GT(huge_bytes_under(problem), int64_t{2} << 20);
}

TEST(Buffers, outputs_are_wiped_for_each_process) {
    TemporaryFolder folder("strop-test");
    const Problem problem = scale_problem(folder, reference_py);
    Buffers buffers(problem, problem.points[0], {Distribution::declared}, 16, 1);
    std::memset(buffers.outputs().data(), 7, static_cast<size_t>(buffers.outputs().bytes()));
    buffers.wipe_outputs();
    const char* at = buffers.outputs().data();
    EXPECT_EQ(std::count(at, at + buffers.outputs().bytes(), 0), buffers.outputs().bytes());
}

}  // namespace
}  // namespace strop::judge
