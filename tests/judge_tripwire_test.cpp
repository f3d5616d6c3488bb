#include "judge/tripwire.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "language/team_text.h"

namespace strop::judge {
namespace {

class TripwireTest : public testing::Test {
protected:
    std::vector<std::string> found(const std::string& source, const std::string& library =
                                                                  "\x7f"
                                                                  "ELF row_sum memcpy") {
        write_file(folder_.path() / "kernel.so", library);
        return tripwires(source, folder_.path() / "kernel.so");
    }
    TemporaryFolder folder_{"strop-test"};
};

TEST_F(TripwireTest, PlainKernelsAreNotMarked) {
    EXPECT_TRUE(found("static void sum(const float* x) {}\nstatic const float table[4] = {1, 2};\n"
                      "static thread_local std::vector<float> scratch;\nstatic constexpr double pi = 3;\n"
                      "static float scratch[256];\nnot_static float* p;")
                    .empty());
}

TEST_F(TripwireTest, NamesInTheLibraryAreSeenWhateverTheSourceCallsThem) {
    EXPECT_EQ(found("", "dlopen"), std::vector<std::string>{"names dlopen"});
    EXPECT_EQ(found("", std::string("a\0mremap\0b", 10)), std::vector<std::string>{"names mremap"});
    EXPECT_FALSE(found("", "/proc/self/maps").empty());
}

// Every parallel kernel of the playbook has them; a screening that is a full judgement takes ten times as long.
TEST_F(TripwireTest, WhatTheTeamOfThreadsBringsAlongIsNotTheKernels) {
    const std::string with_team = "// strop:team\n", library = team_source();
    EXPECT_EQ(found(with_team, library), std::vector<std::string>{});
    EXPECT_FALSE(found("", library).empty());
    EXPECT_EQ(found(with_team + "dlopen(0, 1)", library), std::vector<std::string>{"names dlopen"});
    EXPECT_EQ(found(with_team + "dl ## open", library), std::vector<std::string>{"has ##"});
    EXPECT_EQ(found(with_team, library + "mremap"), std::vector<std::string>{"names mremap"});
}

TEST_F(TripwireTest, SumsAndPointersBetweenCallsAreSeen) {
    for (const char* source : {"static float sum = 0;", "static double sums;", "static const float* seen;",
                               "    static thread_local float total{};", "static float *last = nullptr;"})
        EXPECT_EQ(found(source).size(), 1u) << source;
}

TEST_F(TripwireTest, WhatBringsDataOfOthersIsSeen) {
    EXPECT_EQ(found("asm(\".incbin \\\"a\\\"\");").size(), 2u);
    EXPECT_EQ(found("#pragma comment(lib, \"dnnl\")").size(), 1u);
}

}  // namespace
}  // namespace strop::judge
