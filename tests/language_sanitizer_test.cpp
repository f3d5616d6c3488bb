// What sanitizers write, and the one line that is made of it.
#include <gtest/gtest.h>

#include "device/machine.h"
#include "language/sanitizer.h"

namespace strop {
namespace {

// As they print without symbols; the library does not exist, so that no line is known.
constexpr const char* overflow = R"(=================================================================
==17==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x502000000030 at pc 0x7f3b0c0f1a2b bp 0x7ffd sp 0x7ffc
READ of size 4 at 0x502000000030 thread T0
    #0 0x7f3b0c0f1a2a  (/tmp/judge/kernel0.so+0x1a2a) (BuildId: 0b)
    #1 0x55d0c0de1234  (/opt/strop-candidate+0x1234)

0x502000000030 is located 0 bytes after 32-byte region [0x502000000010,0x502000000030)
allocated by thread T0 here:
    #0 0x55d0c0de9999  (/opt/libclang_rt.asan-x86_64.so+0x9999)
)";
constexpr const char* segv =
    R"(==17==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x7f bp 0x7f sp 0x7f T0)
==17==The signal is caused by a READ memory access.
)";
constexpr const char* undefined =
    "/tmp/judge/kernel3.cpp:7:23: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type "
    "'int'\n";
constexpr const char* race = R"(==================
WARNING: ThreadSanitizer: data race (pid=17)
  Read of size 8 at 0x7f3b0c0f4048 by thread T1:
    #0 <null> <null> (kernel0.so+0x1500) (BuildId: 0b)

  Previous write of size 8 at 0x7f3b0c0f4048 by main thread:
    #0 <null> <null> (kernel0.so+0x1520) (BuildId: 0b)
)";

TEST(Sanitizer, reports_become_a_line) {
    EXPECT_EQ(finding_in(overflow, "/tmp/judge/kernel0.so"), "AddressSanitizer: heap-buffer-overflow: READ of size 4");
    EXPECT_EQ(finding_in(segv, "/tmp/judge/kernel0.so"), "AddressSanitizer: SEGV");
    EXPECT_EQ(
        finding_in(undefined, "/tmp/judge/kernel3.so"),
        "UndefinedBehaviorSanitizer: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int' at "
        "kernel3.cpp:7");
    EXPECT_EQ(finding_in(race, "/tmp/judge/kernel0.so"),
              "ThreadSanitizer: data race: Read of size 8, Previous write of size 8");
    EXPECT_EQ(finding_in("", "/tmp/judge/kernel0.so"), "a sanitizer ended it without a word");
}

TEST(Sanitizer, text_of_a_kernel_commands_no_terminal) {
    EXPECT_EQ(finding_in("k.cpp:1:1: runtime error: \033[2J", "k.so").find('\033'), std::string::npos);
}

TEST(Sanitizer, a_compiler_without_run_times_says_so) {
    for (const Sanitizer& sanitizer : sanitizers_of({"clang", "/bin/false", "1.0"})) {
        EXPECT_EQ(sanitizer.missing, "clang 1.0 has no run-time of it") << sanitizer.name;
        EXPECT_TRUE(sanitizer.flags.empty());
    }
    const std::vector<Sanitizer> of_gcc = sanitizers_of({"g++", "/bin/false", "1.0"});
    EXPECT_EQ(of_gcc.at(1).missing, "g++'s OpenMP cannot tell it what its barriers order");
}

// A kernel writes to the same stream.
TEST(Sanitizer, a_line_without_end_takes_no_stack) {
    const std::string endless(1 << 22, 'a');
    EXPECT_EQ(finding_in("ThreadSanitizer: " + endless + "\n" + endless, "k.so").find("ThreadSanitizer: aaa"), 0u);
}

}  // namespace
}  // namespace strop
