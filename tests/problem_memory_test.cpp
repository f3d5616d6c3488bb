#include "problem/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "problem/loader.h"

namespace strop {
namespace {

using testing::HasSubstr;

Problem copy_problem(int64_t size) {
    Problem problem;
    problem.name = "copy";
    problem.folder = "/home/user/copy";
    problem.inputs = {{"x", DType::float32, {Expression::symbol("N")}}};
    problem.outputs = {{"y", DType::float32, {Expression::symbol("N")}}};
    problem.dimensions = {"N"};
    problem.points = {{"tiny", {{"N", 1}}}, {"huge", {{"N", size}}}};
    return problem;
}

constexpr double mebibyte = 1 << 20;

TEST(NeededBytes, CountsInputSetsExpectedValuesAndOutputs) {
    // three sets of float32 inputs, three of float64 expected values, one float32 output
    EXPECT_DOUBLE_EQ(needed_bytes(copy_problem(1), {{"N", 1000}}), 1000 * (3 * 4 + 3 * 8 + 4));
}

TEST(CheckMemory, NamesShapeAndBytes) {
    check_memory(copy_problem(1000));
    try {
        check_memory(copy_problem(int64_t{1} << 50));
        FAIL() << "an exabyte was accepted";
    } catch (const EnvironmentError& error) {
        EXPECT_THAT(error.what(), HasSubstr("/home/user/copy/problem.yaml"));
        EXPECT_THAT(error.what(), HasSubstr("shape 'huge' (N=1125899906842624) needs 4.1e+04 TiB"));
        EXPECT_THAT(error.what(), HasSubstr("are available"));
        EXPECT_FALSE(error.hint().empty());
    }
}

class AvailableBytes : public testing::Test {
protected:
    void write(const std::string& path, const std::string& text) { write_file(root_.path() / path, text); }
    double available() const { return available_bytes(root_.path()).value_or(-1); }
    TemporaryFolder root_;
};

TEST_F(AvailableBytes, IsNothingWithoutFiles) { EXPECT_EQ(available_bytes(root_.path()), std::nullopt); }

TEST_F(AvailableBytes, ReadsMemAvailable) {
    write("proc/meminfo", "MemTotal:       4096 kB\nMemFree:          10 kB\nMemAvailable:   2048 kB\n");
    EXPECT_DOUBLE_EQ(available(), 2 * mebibyte);
}

TEST_F(AvailableBytes, ALimitOfAnyAncestorHolds) {
    write("proc/meminfo", "MemAvailable:   1048576 kB\n");
    write("proc/self/cgroup", "0::/user/job\n");
    write("sys/fs/cgroup/user/job/memory.max", "max\n");
    write("sys/fs/cgroup/user/job/memory.current", "1048576\n");
    EXPECT_DOUBLE_EQ(available(), 1024 * mebibyte);
    write("sys/fs/cgroup/user/memory.max", "104857600\n");
    write("sys/fs/cgroup/user/memory.current", "62914560\n");
    EXPECT_DOUBLE_EQ(available(), 40 * mebibyte);
    write("sys/fs/cgroup/user/memory.stat", "anon 5\nfile 99\ninactive_file 10485760\n");
    EXPECT_DOUBLE_EQ(available(), 50 * mebibyte);
}

TEST_F(AvailableBytes, AContainersOwnGroupIsTheTopFolder) {
    write("proc/meminfo", "MemAvailable:   1048576 kB\n");
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "104857600\n");
    write("sys/fs/cgroup/memory.current", "0\n");
    EXPECT_DOUBLE_EQ(available(), 100 * mebibyte);
}

TEST_F(AvailableBytes, FirstVersionGroupsCountToo) {
    write("proc/meminfo", "MemAvailable:   1048576 kB\n");
    write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n");
    write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "104857600\n");
    write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "52428800\n");
    EXPECT_DOUBLE_EQ(available(), 50 * mebibyte);
}

TEST_F(AvailableBytes, GarbageIsIgnored) {
    write("proc/meminfo", "MemAvailable:   2048 kB\n");
    write("proc/self/cgroup", "\n::\nnonsense\n0::/../..\n");
    EXPECT_DOUBLE_EQ(available(), 2 * mebibyte);
}

}  // namespace
}  // namespace strop
