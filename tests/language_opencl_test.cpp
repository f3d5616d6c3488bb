#include "language/opencl.h"

#include <dlfcn.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "language/bundle.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "language/opencl_host.h"
#include "sandbox/process.h"

namespace strop {
namespace {

using testing::HasSubstr;

Problem row_sum() {
    Problem problem;
    problem.name = "row_sum";
    problem.inputs = {{.name = "x", .shape = {Expression::symbol("M"), Expression::symbol("N")}}};
    problem.outputs = {{.name = "y", .shape = {Expression::symbol("M")}}};
    problem.parameters = {{.name = "scale"}};
    problem.dimensions = {"M", "N"};
    return problem;
}

// Two launches, a buffer between them, barriers around local memory, two dimensions, an option of the compiler.
constexpr const char* two_launches = R"(// strop:tune LOCAL = 16 | 64
// strop:late PARTS = 3 | 4
// strop:flags OPT = -cl-mad-enable | -cl-fast-relaxed-math
// strop:buffer partial float M * PARTS
// strop:launch partial_sums global PARTS * LOCAL, M local LOCAL, 1
// strop:launch finish global M
__kernel void partial_sums(__global const float* x, __global float* partial, long M, long N) {
    __local float sums[LOCAL];
    const int me = get_local_id(0);
    const long row = get_global_id(1), part = get_group_id(0);
    float sum = 0;
    for (long j = part * LOCAL + me; j < N; j += PARTS * LOCAL) sum += x[row * N + j];
    sums[me] = sum;
    for (int width = LOCAL / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < width) sums[me] += sums[me + width];
    }
    if (me == 0) partial[row * PARTS + part] = sums[0];
}
__kernel void finish(__global const float* partial, __global float* y, long M, float scale) {
    const long row = get_global_id(0);
    if (row >= M) return;
    float sum = 0;
    for (int part = 0; part < PARTS; ++part) sum += partial[row * PARTS + part];
    y[row] = scale * sum;
}
)";

std::string failure(const std::string& source) {
    try {
        read_opencl(source, row_sum(), "k.cl");
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

std::string with(const std::string& from, const std::string& to) { return replace_all(two_launches, from, to); }

TEST(OpenCl, ReadsLaunchesBuffersAndArguments) {
    const OpenClSource source = read_opencl(two_launches, row_sum(), "k.cl");
    ASSERT_EQ(source.launches.size(), 2u);
    EXPECT_EQ(source.launches[0].global.at(0).text(), "PARTS*LOCAL");
    EXPECT_EQ(source.launches[0].local.size(), 2u);
    EXPECT_TRUE(source.launches[1].local.empty());
    EXPECT_EQ(source.buffers.at(0).elements.text(), "M*PARTS");
    EXPECT_EQ(source.kernels.at(1).arguments.at(3).kind, OpenClArgument::Kind::parameter);
    EXPECT_EQ(source.space.tunables.size(), 3u);
    for (const Tunable& tunable : source.space.tunables) EXPECT_EQ(tunable.kind, Tunable::Kind::constant);
    EXPECT_EQ(split(source.program, '\n').size(), split(two_launches, '\n').size());  // lines of messages stay
}

TEST(OpenCl, NamesWhatIsNotInTheContract) {
    EXPECT_EQ(failure(two_launches), "no error");
    EXPECT_THAT(failure("__kernel void k() {}\n"), HasSubstr("k.cl:1: no launch"));
    EXPECT_THAT(failure(with("strop:launch finish", "strop:launch absent")), HasSubstr("k.cl:6: no kernel 'absent'"));
    EXPECT_THAT(failure(with("global M\n", "global K\n")),
                HasSubstr("k.cl:6: 'K' is not a dimension, integer parameter or tunable"));
    EXPECT_THAT(failure(with("M * PARTS", "M *")), HasSubstr("k.cl:4: "));
    EXPECT_THAT(failure(with("float M * PARTS", "half M")), HasSubstr("k.cl:4: 'partial half M' is not a buffer"));
    EXPECT_THAT(failure(with("buffer partial", "buffer x")), HasSubstr("k.cl:4: 'x' is a name already"));
    EXPECT_THAT(failure(with("local LOCAL, 1", "local LOCAL")), HasSubstr("k.cl:5: 2 global and 1 local sizes"));
    EXPECT_THAT(failure(with("PARTS * LOCAL, M local LOCAL, 1", "1, 1, 1, M")), HasSubstr("is not one to 3 sizes"));
    EXPECT_THAT(failure(with("-cl-mad-enable", "-I/etc")),
                HasSubstr("k.cl:3: '-I/etc' is not an option of clBuildProgram"));
    EXPECT_THAT(failure(with("strop:late", "strop:team")), HasSubstr("k.cl:2: unknown comment 'strop:team'"));
    EXPECT_THAT(failure(with("const float* x", "float* x")),
                HasSubstr("k.cl:7: argument '__global float* x' does not fit"));
    EXPECT_THAT(failure(with("float* y", "double* y")), HasSubstr("does not fit"));
    EXPECT_THAT(failure(with("long M, float", "int M, float")), HasSubstr("k.cl:20: argument 'int M' does not fit"));
    EXPECT_THAT(failure(with("float scale", "float factor")), HasSubstr("'factor' is not a tensor"));
    EXPECT_THAT(failure(with("long M, long N", "long M, long M")), HasSubstr("argument 'M' appears twice"));
    EXPECT_THAT(failure("#include <x>\n"), HasSubstr("k.cl:1: #include"));
}

TEST(OpenCl, SizesMayNameIntegerParameters) {
    const std::string strided = with("global M\n", "global (M + stride - 1) // stride\n");
    EXPECT_THAT(failure(strided), HasSubstr("'stride' is not a dimension, integer parameter or tunable"));
    Problem problem = row_sum();
    problem.parameters.push_back({"stride", DType::int64, 2});
    EXPECT_NO_THROW(read_opencl(strided, problem, "k.cl"));
    EXPECT_THAT(failure(with("global M\n", "global M * scale\n")), HasSubstr("'scale' is not a dimension"));
}

// A text that looks like code is none: it comes out of a bundle as it went in.
TEST(OpenCl, ItsTextIsLeftAloneInABundle) {
    const Problem problem = row_sum();
    const std::string program = with("__kernel void finish", "#define EACH(i) \"extern\"\n__kernel void finish");
    Kernel kernel;
    kernel.id = "first";
    kernel.language = Language::opencl;
    kernel.source = opencl_host(problem, read_opencl(program, problem, "k.cl"));
    kernel.space = parse_tunables(kernel.source, "k.cl");
    const Configuration chosen = default_configuration(kernel.space);
    const std::string text = bundle(problem, {{kernel, chosen}}, {}, {});
    EXPECT_THAT(text, HasSubstr("#define EACH(i) \"extern\"\n"));
    EXPECT_EQ(text.find("#undef EACH"), std::string::npos);
    EXPECT_EQ(bundled_kernel(text, {{kernel, chosen}}).language, Language::opencl);
    EXPECT_EQ(code_only(R"-(f(R"x(a ) " b)x", "c") + R"(d)";)-"), "f(R" + std::string(13, ' ') + ",    ) + R     ;");
}

bool has_device() {
    void* library = ::dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!library) return false;
    auto platforms = reinterpret_cast<int (*)(unsigned, void**, unsigned*)>(::dlsym(library, "clGetPlatformIDs"));
    unsigned count = 0;
    return platforms && platforms(0, nullptr, &count) == 0 && count > 0;
}

// In a process of its own for each configuration and shape: a first call and one that finds all made.
TEST(OpenCl, HostRunsLaunchesInOrder) {
    if (!has_device()) GTEST_SKIP() << "no OpenCL device (apt-get install pocl-opencl-icd)";
    TemporaryFolder folder("strop-opencl");
    const Problem problem = row_sum();
    const std::string main_text =
        "\n#include <vector>\nint main() {\n"
        "    for (int64_t M : {5, 1, 0}) for (int64_t N : {1001, 1}) {\n"
        "        std::vector<float> x(M * N), y(M + 1, -1);\n"
        "        for (int64_t i = 0; i < M * N; ++i) x[i] = float(i % 7);\n"
        "        row_sum(x.data(), y.data(), 0.5f, M, N);\n"
        "        for (int64_t i = 0; i < M; ++i) {\n"
        "            float sum = 0;\n            for (int64_t j = 0; j < N; ++j) sum += x[i * N + j];\n"
        "            if (y[i] != 0.5f * sum) return 1;\n        }\n"
        "        if (y[M] != -1) return 2;\n    }\n}\n";
    for (const auto& [local, parts] : std::vector<std::pair<std::string, std::string>>{{"16", "3"}, {"64", "4"}}) {
        const std::string rounded = local == "64" ? with("global M\n", "global M local 4\n") : two_launches;
        write_file(folder.path() / "host.cpp", opencl_host(problem, read_opencl(rounded, problem, "k.cl")) + main_text);
        sandbox::Command command;
        const std::string program = folder.path() / "host";
        command.argv = {"c++",
                        "-std=c++17",
                        "-DLOCAL=" + local,
                        "-DPARTS=" + parts,
                        "-DOPT=-cl-mad-enable",
                        "-o",
                        program,
                        folder.path() / "host.cpp",
                        "-ldl"};
        sandbox::Finished built = sandbox::run(command);
        ASSERT_TRUE(built.ok()) << built.err;
        command.argv = {program};
        command.environment["POCL_CACHE_DIR"] = folder.path() / "cache";
        sandbox::Finished ran = sandbox::run(command);
        EXPECT_TRUE(ran.ok()) << ran.describe() << ran.err;
    }
}

}  // namespace
}  // namespace strop
