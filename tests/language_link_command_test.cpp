#include "language/link_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strop {
namespace {

using ::testing::ElementsAre;

constexpr const char* printed =
    "Debian clang version 19.1.7\n"
    "InstalledDir: /usr/lib/llvm-19/bin\n"
    " \"/usr/bin/ld.lld\" \"-shared\" \"-o\" \"/tmp/a b/library.so\" \"-L/lib\" \"/tmp/a b/call.o\" \"-l\\\"odd\\\\\" "
    "\"-lc\"\n";

TEST(LinkCommand, HasTheLibrarysPlaceAndThatOfObjects) {
    const std::optional<LinkCommand> command = read_link_command(printed, "/tmp/a b/library.so", "/tmp/a b/call.o");
    ASSERT_TRUE(command);
    EXPECT_THAT(command->linking("k.so", {"k.o", "call.o"}),
                ElementsAre("/usr/bin/ld.lld", "-shared", "-o", "k.so", "-L/lib", "k.o", "call.o", "-l\"odd\\", "-lc"));
}

TEST(LinkCommand, IsNotKnownWhereAnotherIsPrinted) {
    EXPECT_FALSE(read_link_command(printed, "/tmp/other.so", "/tmp/a b/call.o"));
    EXPECT_FALSE(read_link_command(printed, "/tmp/a b/library.so", "/tmp/other.o"));
    EXPECT_FALSE(read_link_command("", "library.so", "call.o"));
    EXPECT_FALSE(read_link_command("clang: error: no such file\n \"/usr/bin/ld", "library.so", "call.o"));
}

}  // namespace
}  // namespace strop
