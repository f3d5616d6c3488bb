// Schedules as text. That the text computes the right values is tested with the playbook's strategies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda.h"
#include "backend/opencl.h"
#include "fakes/graph_builder.h"
#include "language/opencl.h"
#include "schedule/graph_terms.h"

namespace strop::backend {
namespace {

using namespace schedule;
using testing::HasSubstr;

Expression at(const std::string& text) { return Expression::parse(text); }

// y[i, j] = x[i, j] / the sum over j of x[i, j]; the input may have another name.
struct Shares {
    GraphBuilder builder{"shares"};
    Schedule schedule;

    explicit Shares(Share share, const std::string& input = "x") {
        const int x = builder.input(input, {"M", "N"});
        builder.output("y", builder.point("divide", {x, builder.reduce("sum", x, {1})}));
        Launch launch{"rows", share, {{"i", at("M")}}, {}, {}};
        GraphTerms terms(builder.graph, launch.terms);
        const int element = terms.at(x, {at("i"), at("j")});
        launch.steps.push_back({{{"j", at("N")}}, FoldStep{{{{"sum"}, fold_law("sum", DType::float32), {element}}}}});
        const int shared = terms.pointwise("divide", {element, terms.result("sum", DType::float32)}, DType::float32);
        launch.steps.push_back({{{"j", at("N")}}, StoreStep{{{"y", {at("i"), at("j")}, shared}}}});
        schedule.launches = {launch};
        schedule.hypothesis = "to be read";
    }
};

TEST(OpenClText, ABlockSharesARow) {
    const Shares shares(Share::blocks);
    const std::string text = write_opencl(shares.builder.problem, shares.schedule).source;
    EXPECT_THAT(text, HasSubstr("// shares: to be read\n// strop:tune LOCAL = 128 | 64 | 256\n"
                                "// strop:launch rows global M*LOCAL local LOCAL\n"));
    EXPECT_THAT(
        text,
        HasSubstr("__kernel void rows(__global const float* restrict x, __global float* restrict y, long M, long N) {\n"
                  "    __local float float_room_1[LOCAL];\n"
                  "    const long thread = get_local_id(0);\n"
                  "    const long i = get_group_id(0);\n"
                  "    float sum = 0.0f;\n"
                  "    for (long j = thread; j < N; j += LOCAL) {\n"
                  "        sum += x[i * N + j];\n"
                  "    }\n"
                  "    sum_float_of_block(&sum, float_room_1, thread);\n"
                  "    for (long j = thread; j < N; j += LOCAL) {\n"
                  "        y[i * N + j] = x[i * N + j] / sum;\n"
                  "    }\n"
                  "}\n"));
    EXPECT_EQ(read_opencl(text, shares.builder.problem, "shares.cl").launches.size(), 1u);
}

TEST(OpenClText, AThreadAddsInShortPieces) {
    const Shares shares(Share::threads);
    const std::string text = write_opencl(shares.builder.problem, shares.schedule).source;
    EXPECT_THAT(text, HasSubstr("// strop:launch rows global ceildiv(M, LOCAL)*LOCAL local LOCAL\n"));
    EXPECT_THAT(text, HasSubstr("    if (i >= M) return;\n"));
    EXPECT_THAT(text, HasSubstr("part_of_sum += x[i * N + j];\n"));
    EXPECT_THAT(text, testing::Not(HasSubstr("barrier")));
}

TEST(OpenClText, NamesOfTheLanguageAreRefusedByName) {
    const Shares shares(Share::blocks, "half");
    EXPECT_EQ(write_opencl(shares.builder.problem, shares.schedule).lacks,
              "the name 'half', which is a word of OpenCL");
    EXPECT_EQ(write_cuda(shares.builder.problem, shares.schedule).lacks, "");
}

TEST(CudaText, LaunchesOnTheCallersStream) {
    const Shares shares(Share::blocks);
    const std::string text = write_cuda(shares.builder.problem, shares.schedule).source;
    EXPECT_THAT(text, HasSubstr("template <class Index>\nstatic __global__ void rows(const float* __restrict__ x, "
                                "float* __restrict__ y, Index M, Index N) {\n"));
    EXPECT_THAT(
        text,
        HasSubstr("extern \"C\" void shares(const float* x, float* y, int64_t M, int64_t N, cudaStream_t stream) {\n"
                  "    if (M * N < most_of_int)\n        launch(rows<int>, M, LOCAL, 0, stream, x, y, M, N);\n"
                  "    else\n        launch(rows<int64_t>, M, LOCAL, 0, stream, x, y, M, N);\n}\n"));
}

}  // namespace
}  // namespace strop::backend
