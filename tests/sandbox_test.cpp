#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "base/file.h"
#include "sandbox/line_process.h"
#include "sandbox/process.h"

namespace strop::sandbox {
namespace {

Finished shell(const std::string& script, Trust trust = Trust::tool, double seconds = 20) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.trust = trust;
    command.limits.wall = Seconds(seconds);
    return run(command);
}

TEST(Sandbox, gives_output_error_and_exit_code) {
    Finished finished = shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(finished.out, "out\n");
    EXPECT_EQ(finished.err, "err\n");
    EXPECT_EQ(finished.exit_code, 3);
    EXPECT_FALSE(finished.ok());
}

TEST(Sandbox, feeds_input_larger_than_a_pipe) {
    Command command;
    command.argv = {"wc", "-c"};
    EXPECT_EQ(run(command, std::string(1 << 20, 'x')).out, "1048576\n");
}

TEST(Sandbox, names_the_signal_that_ended_it) {
    Finished finished = shell("kill -SEGV $$");
    EXPECT_EQ(finished.signal, SIGSEGV);
    EXPECT_EQ(finished.describe(), "killed by SIGSEGV");
}

TEST(Sandbox, ends_what_takes_too_long_with_its_whole_tree) {
    Finished finished = shell("sleep 1000 & echo $!; wait", Trust::tool, 0.3);
    EXPECT_TRUE(finished.timed_out);
    // Gone, or a zombie where nobody collects orphans.
    fs::path status = "/proc/" + finished.out.substr(0, finished.out.find('\n')) + "/status";
    auto alive = [&] { return fs::exists(status) && read_file(status).find("State:\tZ") == std::string::npos; };
    for (int i = 0; i < 100 && alive(); ++i) ::usleep(10000);
    EXPECT_FALSE(alive());
}

TEST(Sandbox, ends_a_tree_when_asked_to) {
    Command command;
    command.argv = {"/bin/sh", "-c", "sleep 1000 & echo $!; wait"};
    int asked = 0;
    Finished finished = run(command, "input", [&] { return ++asked == 3; });
    EXPECT_TRUE(finished.stopped);
    EXPECT_FALSE(finished.ok());
    EXPECT_FALSE(finished.timed_out);
    EXPECT_EQ(finished.describe(), "stopped");
}

TEST(Sandbox, cuts_endless_output) {
    Command command;
    command.argv = {"/bin/sh", "-c", "yes"};
    command.limits.wall = Seconds(0.5);
    command.limits.output_bytes = 1000;
    Finished finished = run(command);
    EXPECT_TRUE(finished.timed_out);
    EXPECT_EQ(finished.out.size(), 1000u);
}

TEST(Sandbox, says_when_there_is_no_such_program) {
    Command command;
    command.argv = {"/nonexistent/program"};
    EXPECT_TRUE(run(command).not_found);
}

TEST(Sandbox, passes_no_environment_but_the_named_one) {
    ::setenv("STROP_TEST_SECRET", "1", 1);
    Command command;
    command.argv = {"env"};
    command.environment = {{"GIVEN", "yes"}};
    std::string out = run(command).out;
    EXPECT_EQ(out.find("STROP_TEST_SECRET"), std::string::npos);
    EXPECT_NE(out.find("GIVEN=yes"), std::string::npos);
}

TEST(Sandbox, runs_commands_side_by_side_in_order) {
    std::vector<Command> commands;
    for (int i = 0; i < 5; ++i) {
        Command command;
        command.argv = {"/bin/sh", "-c", "echo " + std::to_string(i)};
        commands.push_back(command);
    }
    std::vector<Finished> finished = run_all(commands, 2);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(finished[static_cast<size_t>(i)].out, std::to_string(i) + "\n");
}

TEST(Sandbox, a_reference_writes_into_its_scratch_folder_only) {
    TemporaryFolder scratch("strop-test"), elsewhere("strop-test");
    Command command;
    command.trust = Trust::reference;
    command.scratch = scratch.path().string();
    command.argv = {"/bin/sh", "-c",
                    "echo x > " + (scratch.path() / "in").string() + "; echo x > " +
                        (elsewhere.path() / "out").string()};
    run(command);
    EXPECT_TRUE(fs::exists(scratch.path() / "in"));
    bool confined = weaker_protections().empty();
    EXPECT_EQ(fs::exists(elsewhere.path() / "out"), !confined);
}

TEST(Sandbox, a_reference_starts_no_process) {
    // The shell must fork to run two external commands.
    Finished finished = shell("/bin/true; /bin/echo forked; :", Trust::reference);
    EXPECT_EQ(finished.out.find("forked"), std::string::npos);
}

TEST(Sandbox, a_candidate_cannot_open_a_file_for_writing) {
    TemporaryFolder folder("strop-test");
    fs::path target = folder.path() / "written";
    Finished finished = shell("echo x > " + target.string(), Trust::candidate);
    EXPECT_FALSE(finished.ok());
    EXPECT_FALSE(fs::exists(target));
}

TEST(Sandbox, a_candidate_has_no_network_and_signals_nobody) {
    Finished finished = shell("kill -0 $PPID", Trust::candidate);
    EXPECT_FALSE(finished.ok());
    Command python;
    python.argv = {"python3", "-S", "-c", "import socket; socket.socket()"};
    python.trust = Trust::candidate;
    EXPECT_FALSE(run(python).ok());
}

TEST(Child, talks_over_its_pipes) {
    Command command;
    command.argv = {"/bin/sh", "-c", "cat <&3 >&4"};
    Child child(command);
    ASSERT_TRUE(child.send("hello", 5));
    char reply[5];
    ASSERT_EQ(child.receive(reply, 5, Seconds(10)), Child::Wait::ready);
    EXPECT_EQ(std::memcmp(reply, "hello", 5), 0);
    EXPECT_EQ(child.receive(reply, 1, Seconds(0.05)), Child::Wait::timed_out);
}

TEST(Child, tells_how_a_child_ended_and_what_it_said) {
    Command command;
    command.argv = {"/bin/sh", "-c", "echo last words >&2; kill -ABRT $$"};
    Child child(command);
    char byte;
    EXPECT_EQ(child.receive(&byte, 1, Seconds(10)), Child::Wait::closed);
    Finished finished = child.kill();
    EXPECT_EQ(finished.signal, SIGABRT);
    EXPECT_EQ(finished.err, "last words\n");
}

TEST(Child, stands_still_while_paused) {
    Command command;
    command.argv = {"/bin/sh", "-c", "cat <&3 >&4"};
    Child child(command);
    child.pause();
    child.send("x", 1);
    char byte;
    EXPECT_EQ(child.receive(&byte, 1, Seconds(0.2)), Child::Wait::timed_out);
    child.resume();
    EXPECT_EQ(child.receive(&byte, 1, Seconds(10)), Child::Wait::ready);
}

TEST(LineProcess, answers_line_by_line_and_says_how_it_ended) {
    LineProcess process({"/bin/sh", "-c", "read a; echo got $a; exit 7"});
    ASSERT_TRUE(process.write_line("one"));
    std::string line;
    ASSERT_TRUE(process.read_line(line, [] {}));
    EXPECT_EQ(line, "got one");
    EXPECT_FALSE(process.read_line(line, [] {}));
    EXPECT_EQ(process.end(), "exit 7");
}

}  // namespace
}  // namespace strop::sandbox
