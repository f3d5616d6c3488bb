// The CUDA emulator: honest kernels compute what they should and are not accused, each defect is found by its name.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/strings.h"
#include "device/machine.h"
#include "fakes/emulated_kernels.h"

namespace strop {
namespace {

using testing::HasSubstr;

Tensor tensor(const std::string& name, const std::vector<std::string>& shape) {
    Tensor made{name, DType::float32, {}, Fill::normal, {}};
    for (const std::string& extent : shape) made.shape.push_back(Expression::parse(extent));
    return made;
}

// y[i] = sum over j of x[i, j], for x of M rows.
Problem row_sums() {
    Problem problem;
    problem.name = "row_sums";
    problem.dimensions = {"M", "N"};
    problem.inputs = {tensor("x", {"M", "N"})};
    problem.outputs = {tensor("y", {"M"})};
    return problem;
}

class Emulator : public testing::Test {
protected:
    static EmulatedKernels& kernels() {
        static EmulatedKernels all(detect_machine());
        return all;
    }

    void SetUp() override {
        if (!EmulatedKernels::can_be_built()) GTEST_SKIP() << "clang is missing";
    }

    static std::vector<double> values(int64_t count) {
        std::vector<double> made;
        for (int64_t i = 0; i < count; ++i) made.push_back(static_cast<double>(i * 37 % 101) / 16 - 3);
        return made;
    }

    // "" for the right sums; what was found otherwise.
    static std::string judged(const Built& built, int64_t M, int64_t N) {
        if (!built.ok) return built.message;
        const std::vector<double> x = values(M * N);
        const EmulatedKernels::Result result = EmulatedKernels::call(row_sums(), built, {{"M", M}, {"N", N}}, {x});
        if (result.finding) return result.finding->evidence;
        if (result.status != 0) return fmt::format("ended with {}: {}", result.status, result.said);
        for (int64_t i = 0; i < M; ++i) {
            double sum = 0;
            for (int64_t j = 0; j < N; ++j) sum += x[static_cast<size_t>(i * N + j)];
            const double found = result.outputs[0][static_cast<size_t>(i)];
            if (!(std::fabs(found - sum) <= 1e-3 * (1 + std::fabs(sum)))) return fmt::format("wrong sum of row {}", i);
        }
        return "";
    }
};

// The files in tests/emulator: in their first line what is found in them, or "honest".
struct Planted {
    std::string name, source, finds;
};

std::vector<Planted> planted_kernels() {
    std::vector<Planted> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(STROP_SOURCE_DIR "/tests/emulator")) {
        Planted one{entry.path().stem(), read_file(entry.path()), ""};
        const std::string first = one.source.substr(0, one.source.find('\n'));
        if (first.starts_with("// finds: ")) one.finds = first.substr(10);
        else EXPECT_EQ(first, "// honest") << one.name;
        all.push_back(std::move(one));
    }
    return all;
}

TEST_F(Emulator, every_defect_is_found_by_its_name_and_nobody_honest_is_accused) {
    std::vector<Planted> all;
    std::vector<std::string> sources;
    for (Planted& one : planted_kernels()) {
        try {
            emulated_cuda(one.source, "kernel.cu");
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), HasSubstr(one.finds)) << one.name;
            EXPECT_NE(one.finds, "") << one.name;
            continue;
        }
        sources.push_back(one.source);
        all.push_back(std::move(one));
    }
    EXPECT_GE(all.size(), 35u);
    const std::vector<Built> built = kernels().build(row_sums(), sources);
    for (size_t i = 0; i < all.size(); ++i) {
        for (int64_t N : all[i].finds.empty() ? std::vector<int64_t>{1, 64, 129, 1000} : std::vector<int64_t>{201}) {
            const std::string found = judged(built[i], 5, N);
            if (all[i].finds.empty()) EXPECT_EQ(found, "") << all[i].name << " at N=" << N;
            else EXPECT_THAT(found, HasSubstr(all[i].finds)) << all[i].name;
        }
    }
}

TEST_F(Emulator, what_the_compiler_refuses_has_the_lines_of_the_source_and_no_path_of_ours) {
    const Built built = kernels()
                            .build(row_sums(), {R"(
__global__ void sums(const float* x, float* y) { y[0] = z[0]; }

extern "C" void row_sums(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {
    sums<<<1, 1>>>(x);
}
)"})
                            .front();
    EXPECT_FALSE(built.ok);
    EXPECT_THAT(built.message, HasSubstr(".cpp:2:"));
    EXPECT_THAT(built.message, HasSubstr("a launch has as many arguments as its kernel"));
    EXPECT_EQ(built.message.find(home_folder().string()), std::string::npos) << built.message;
}

TEST(CudaSource, keeps_lines_and_leaves_comments_and_texts_alone) {
    const std::string source =
        "// __shared__ <<< asm(\n/* asm(\n*/ const char* text = \"asm(<<<\"; char c = '\\''; int n = 1'000;\n"
        "__shared__ float a[2],\n    b;\nint x = a << 3 >> 1;\n";
    const std::string made = emulated_cuda(source, "kernel.cu");
    EXPECT_EQ(std::count(made.begin(), made.end(), '\n'), std::count(source.begin(), source.end(), '\n'));
    EXPECT_TRUE(made.starts_with(source.substr(0, source.find("__shared__ float"))));
    EXPECT_THAT(made, HasSubstr("declare_shared(\"a\""));
    EXPECT_THAT(made, HasSubstr("declare_shared(\"b\""));
    EXPECT_TRUE(made.ends_with("int x = a << 3 >> 1;\n"));
    EXPECT_EQ(emulated_cuda("", "kernel.cu"), "");
    EXPECT_THROW(emulated_cuda("k<<<1, 2(a);", "kernel.cu"), UsageError);
    EXPECT_THROW(emulated_cuda("__shared__ float a[2]", "kernel.cu"), UsageError);
    for (const char* odd :
         {"<<<1>>>", ">", "> <<<1, 1>>>()", "::<<<1, 1>>>()", "extern __shared__ ;", "__shared__ ;", "__shared__",
          "extern __shared__", "#define SHARED __shared__\n", "\"", "R\"(", "/*", "asm("})
        try {
            emulated_cuda(odd, "kernel.cu");
        } catch (const UsageError&) {
        }
    EXPECT_THROW(emulated_cuda("<<<1>>>", "kernel.cu"), UsageError);
    EXPECT_EQ(emulated_cuda("#ifdef __shared__\n#endif\n", "kernel.cu"), "#ifdef __shared__\n#endif\n");
}

}  // namespace
}  // namespace strop
