// Kernels that choose their compiler, and the order in which they are compiled.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"
#include "language/cpp.h"
#include "language/runtime_libraries.h"

namespace strop {
namespace {

// Does not compile with any other.
std::string only_with(const std::string& compiler) {
    const std::string test = compiler == "clang" ? "#ifndef __clang__" : "#ifdef __clang__";
    return test +
           "\n#error\n#endif\n#include <stdint.h>\n"
           "extern \"C\" void row_sum(const float* x, float* y, int64_t M, int64_t N) { y[0] = x[0] + M + N; }\n";
}

Build build(const std::string& source, const std::string& compiler) {
    return {source, {{"CXX", compiler}}, {{{"CXX", {"clang", "g++"}, Tunable::Kind::compiler}}, {}}, {}, false};
}

class CompilerTest : public testing::Test {
protected:
    std::vector<Built> built(CppToolchain& toolchain, const std::vector<Build>& builds) {
        return toolchain.build(problem_, builds, folder_.path(), 1);
    }
    static Problem row_sum() {
        Problem problem;
        problem.name = "row_sum";
        problem.dimensions = {"M", "N"};
        problem.inputs = {{"x", DType::float32, {Expression::parse("M"), Expression::parse("N")}}};
        problem.outputs = {{"y", DType::float32, {Expression::parse("M")}}};
        return problem;
    }
    Problem problem_ = row_sum();
    TemporaryFolder folder_{"strop-test"};
};

TEST_F(CompilerTest, the_one_that_is_asked_for_is_taken) {
    CppToolchain toolchain(detect_machine());
    for (const char* name : {"clang", "g++"}) {
        const Built result = built(toolchain, {build(only_with(name), name)}).front();
        EXPECT_EQ(result.ok, toolchain.find(name) != nullptr) << result.message;
        EXPECT_FALSE(
            built(toolchain, {build(only_with(name), name == std::string("clang") ? "g++" : "clang")}).front().ok);
    }
}

TEST_F(CompilerTest, a_build_finds_no_other) {
    CppToolchain toolchain(detect_machine());
    const std::string own =
        "#include <stdint.h>\n"
        "extern \"C\" void row_sum(const float* x, float* y, int64_t M, int64_t N) { y[0] = x[0] + M + N; }\n";
    ASSERT_TRUE(built(toolchain, {{own, {}, {}, {}, false}}).front().ok);
    for (const char* path : {"kernel0.cpp", "../kernel0/kernel0.cpp", "../call.cpp", "call.cpp", "late.h"}) {
        const std::string source =
            std::string("#include \"") + path + "\"\n" + (std::string(path).ends_with("kernel0.cpp") ? "" : own);
        EXPECT_FALSE(built(toolchain, {{source, {}, {}, {}, false}}).front().ok) << path;
    }
}

TEST_F(CompilerTest, libraries_of_kernels_are_those_of_languages) {
    CppToolchain toolchain(detect_machine());
    const Built result = built(toolchain, {build(only_with("g++"), "g++")}).front();
    if (!result.ok) GTEST_SKIP() << result.message;
    bool c = false, another = false;
    for (const std::string& library : result.needed) {
        c = c || library.find("/libc.so") != std::string::npos;
        another = another || library.find("dnnl") != std::string::npos || library.find("blas") != std::string::npos;
    }
    EXPECT_TRUE(c);
    EXPECT_FALSE(another);
}

TEST_F(CompilerTest, a_kernel_is_linked_with_what_it_uses_alone) {
    CppToolchain toolchain(detect_machine());
    if (!toolchain.find("clang")) GTEST_SKIP() << "clang is not installed";
    const auto loads_the_cpp_library = [&](const std::string& statement) {
        const std::string source =
            "#include <stdint.h>\n#include <string>\n"
            "extern \"C\" void row_sum(const float* x, float* y, int64_t M, int64_t N) { " +
            statement + " }\n";
        const Built result = built(toolchain, {build(source, "clang")}).front();
        EXPECT_TRUE(result.ok) << result.message;
        const std::vector<std::string> needed = needed_libraries(result.library);
        return std::any_of(needed.begin(), needed.end(),
                           [](const std::string& library) { return library.find("libstdc++") != std::string::npos; });
    };
    EXPECT_FALSE(loads_the_cpp_library("y[0] = x[0] + M + N;"));
    EXPECT_TRUE(loads_the_cpp_library("y[0] = std::stof(std::string(static_cast<size_t>(N) + 99, '1')) + x[0];"));
}

TEST_F(CompilerTest, one_that_is_missing_is_named) {
    const std::vector<Compiler> all = kernel_compilers();
    ASSERT_FALSE(all.empty());
    const std::string other = all.front().name == "clang" ? "g++" : "clang";
    CppToolchain toolchain({all.front()}, detect_machine());
    const std::vector<Built> results =
        built(toolchain, {build(only_with(other), other), build(only_with(all.front().name), all.front().name)});
    EXPECT_EQ(results[0].message, other + " is not installed");
    EXPECT_TRUE(results[1].ok) << results[1].message;
    EXPECT_EQ(toolchain.descriptions().size(), 1u);
    EXPECT_EQ(toolchain.descriptions().begin()->second, toolchain.description());
}

// A script that takes half a second where SLOW is 1, and writes down what it was asked for.
class OrderTest : public CompilerTest {
protected:
    OrderTest() : toolchain_({{"clang", script(), "1"}}, Machine{}) {}

    std::string script() {
        const std::filesystem::path path = home_.path() / "bin" / "compiler";
        std::filesystem::create_directories(path.parent_path());
        write_file(path,
                   "#!/bin/sh\n"
                   "while [ $# -gt 0 ]; do\n"
                   "    case $1 in\n"
                   "        -DSLOW=*) slow=${1#*=} ;;\n"
                   "        -DUNROLL=*) unroll=${1#*=} ;;\n"
                   "        -o) out=$2 ;;\n"
                   "    esac\n"
                   "    shift\n"
                   "done\n"
                   "[ \"$slow\" = 1 ] && sleep 0.5\n"
                   "printf '%s%s %s' \"$slow\" \"$unroll\" $(date +%s%N) > \"$out\"\n");
        std::filesystem::permissions(path, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
        return path;
    }
    static Build asked(int64_t slow, int64_t unroll, const std::string& source = "a kernel") {
        return {source,
                {{"SLOW", slow}, {"UNROLL", unroll}},
                {{{"SLOW", {int64_t{0}, int64_t{1}}, Tunable::Kind::constant},
                  {"UNROLL", {int64_t{1}, int64_t{2}}, Tunable::Kind::constant}},
                 {}},
                {},
                false};
    }
    // As they were compiled: SLOW and UNROLL of each.
    std::string order_of(const std::vector<Build>& builds) {
        libraries_.clear();
        std::map<std::string, std::string> written;  // by the clock, which is finer than a file system's
        for (const Built& result : built(toolchain_, builds)) {
            const std::string text = read_file(result.library);
            libraries_.push_back(text.substr(0, 2));
            written[text.substr(3)] = libraries_.back();
        }
        std::string order;
        for (const auto& [time, library] : written) order += library;
        return order;
    }

    TemporaryFolder home_{"strop-test"};
    CppToolchain toolchain_;
    std::vector<std::string> libraries_;
};

TEST_F(OrderTest, what_took_long_before_is_begun_first) {
    EXPECT_EQ(order_of({asked(0, 1), asked(1, 1)}), "0111");  // nothing is known: as asked
    EXPECT_EQ(order_of({asked(0, 2), asked(1, 2)}), "1202");
    EXPECT_EQ(libraries_, (std::vector<std::string>{"02", "12"}));
}

TEST_F(OrderTest, an_unknown_source_is_begun_first) {
    (void)order_of({asked(0, 1), asked(1, 1)});
    EXPECT_EQ(order_of({asked(1, 2), asked(0, 1, "another")}), "0112");
}

}  // namespace
}  // namespace strop
