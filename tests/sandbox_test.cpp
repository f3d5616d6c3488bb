#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "base/file.h"
#include "sandbox/control_group.h"
#include "sandbox/line_process.h"
#include "sandbox/process.h"

namespace strop::sandbox {
namespace {

// The one in PATH may be a script that starts others.
const std::string python_program = "/usr/bin/python3";

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

TEST(Sandbox, removes_control_groups_of_dead_processes_in_its_own_name_space_only) {
    const TemporaryFolder folder;
    constexpr int nobody = 0x7fffffff;
    const std::string mine = prefix_of_groups();
    const std::string dead = mine + std::to_string(nobody) + "-1", alive = mine + std::to_string(::getpid()) + "-1";
    const std::string elsewhere = "strop-17-" + std::to_string(nobody) + "-1";
    for (const std::string& name : {dead, alive, elsewhere}) fs::create_directory(folder.path() / name);
    remove_abandoned_groups(folder.path());
    EXPECT_FALSE(fs::exists(folder.path() / dead));
    EXPECT_TRUE(fs::exists(folder.path() / alive));
    EXPECT_TRUE(fs::exists(folder.path() / elsewhere));
}

TEST(Sandbox, reads_long_lines_in_parts_and_short_ones_whole) {
    LineProcess process({"/bin/sh", "-c", "printf 'ab\\ncdefgh\\nij\\n'; head -c 300000 /dev/zero | tr '\\0' x"});
    std::vector<std::string> lines;
    for (std::string line; lines.size() < 6 && process.read_line(line, [] {}, 4);) lines.push_back(line);
    EXPECT_EQ(lines, (std::vector<std::string>{"ab", "cdef", "gh", "ij", "xxxx", "xxxx"}));
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
    command.argv = {
        "/bin/sh", "-c",
        "echo x > " + (scratch.path() / "in").string() + "; echo x > " + (elsewhere.path() / "out").string()};
    run(command);
    EXPECT_TRUE(fs::exists(scratch.path() / "in"));
    EXPECT_EQ(fs::exists(elsewhere.path() / "out"), offered().landlock == 0);
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
    python.argv = {python_program, "-S", "-c", "import socket; socket.socket()"};
    python.trust = Trust::candidate;
    EXPECT_NE(run(python).err.find("PermissionError"), std::string::npos);
}

// What a candidate reads of the file; its error otherwise.
std::string text_of(const std::string& file, const std::vector<std::string>& readable = {},
                    const Protections& protections = offered()) {
    Command command;
    command.argv = {"cat", file};
    command.trust = Trust::candidate;
    command.readable = readable;
    command.only = &protections;
    Finished finished = run(command);
    return finished.out + finished.err;
}

TEST(Candidate, reads_no_file_but_what_it_was_given) {
    if (offered().landlock == 0) GTEST_SKIP() << "no Landlock";
    TemporaryFolder folder("strop-test");
    std::string given = (folder.path() / "given").string(), secret = (folder.path() / "secret").string();
    write_file(given, "text\n");
    write_file(secret, "text\n");
    EXPECT_EQ(text_of(given, {given}), "text\n");
    EXPECT_EQ(text_of(secret, {folder.path().string()}), "text\n");
    for (const std::string& file : {secret, std::string("/etc/passwd"), folder.path().string() + "/../../etc/passwd"})
        EXPECT_NE(text_of(file, {given}).find("ermission denied"), std::string::npos) << file;
}

TEST(Candidate, lists_no_folder_of_others) {
    if (offered().landlock == 0) GTEST_SKIP() << "no Landlock";
    TemporaryFolder folder("strop-test");
    write_file(folder.path() / "secret", "");
    for (const std::string& place : {folder.path().string(), std::string("/proc"), std::string("/etc")})
        EXPECT_EQ(shell("echo " + place + "/*", Trust::candidate).out, place + "/*\n");
}

TEST(Candidate, reads_about_the_machine_and_itself_but_of_no_other_process) {
    if (offered().landlock == 0) GTEST_SKIP() << "no Landlock";
    EXPECT_NE(text_of("/proc/cpuinfo").find("processor"), std::string::npos);
    EXPECT_NE(text_of("/sys/devices/system/cpu/online").find("0"), std::string::npos);
    EXPECT_TRUE(text_of("/proc/self/status").starts_with("Name:\tcat\n"));
    EXPECT_EQ(text_of("/dev/null"), "");
    for (const char* file : {"status", "cmdline", "environ", "maps"})
        EXPECT_NE(text_of("/proc/" + std::to_string(::getpid()) + "/" + file).find("cat: "), std::string::npos) << file;
}

TEST(Candidate, has_no_capability) {
    std::string status = text_of("/proc/self/status");
    for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"})
        EXPECT_NE(status.find(std::string(set) + "\t0000000000000000"), std::string::npos) << status;
}

TEST(Candidate, ends_by_the_signals_that_it_raises) {
    for (const char* name : {"TERM", "ABRT", "SEGV", "INT"}) {
        Command command;
        command.argv = {"/bin/sh", "-c", std::string("kill -") + name + " $$; sleep 20"};
        command.trust = Trust::candidate;
        Protections protections = offered();
        protections.seccomp = false;
        command.only = &protections;
        EXPECT_EQ(run(command).describe(), std::string("killed by SIG") + name);
    }
}

TEST(Candidate, lives_in_name_spaces_of_its_own_as_a_child_of_ours) {
    if (!offered().name_spaces) GTEST_SKIP() << "no name spaces";
    auto spaces = [](const std::string& process) {
        std::vector<std::string> links;
        for (const char* kind : {"mnt", "pid", "ipc"})
            links.push_back(fs::read_symlink("/proc/" + process + "/ns/" + kind));
        return links;
    };
    Command command;
    command.argv = {"/bin/sh", "-c", "echo >&4; read line <&3"};
    command.trust = Trust::candidate;
    Protections protections = offered();
    protections.seccomp = false;  // the shell moves its descriptors
    command.only = &protections;
    Child child(command);
    char started;
    ASSERT_EQ(child.receive(&started, 1, Seconds(10)), Child::Wait::ready);
    std::string status = read_file("/proc/" + std::to_string(child.pid()) + "/status");
    EXPECT_NE(status.find("PPid:\t" + std::to_string(::getpid()) + "\n"), std::string::npos);
    std::vector<std::string> ours = spaces("self"), its = spaces(std::to_string(child.pid()));
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_NE(ours[i], its[i]);
    ::kill(child.pid(), SIGTERM);
    EXPECT_EQ(child.kill().signal, SIGTERM);
}

TEST(Candidate, can_name_no_other_candidate) {
    if (!offered().name_spaces) GTEST_SKIP() << "no name spaces";
    Command command;
    command.argv = {"/bin/sh", "-c", "set -- /proc/[0-9]*; echo $# >&4; read line <&3"};
    command.trust = Trust::candidate;
    Protections protections = offered();
    protections.seccomp = false;  // the shell moves its descriptors
    protections.landlock = 0;     // and would see no folder
    command.only = &protections;
    Child first(command), second(command);
    for (Child* child : {&first, &second}) {
        char said[2];
        ASSERT_EQ(child->receive(said, sizeof said, Seconds(10)), Child::Wait::ready);
        EXPECT_EQ(said[0], '2');  // itself and the first process
    }
}

TEST(Candidate, starts_no_more_threads_than_it_may) {
    if (!offered().thread_limit) GTEST_SKIP() << "no limit of threads";
    Command command;
    command.argv = {python_program, "-S", "-c",
                    "import _thread, time\n"
                    "count = 0\n"
                    "try:\n"
                    "    while count < 1000: _thread.start_new_thread(time.sleep, (20,)); count += 1\n"
                    "except RuntimeError: pass\n"
                    "print(count, flush=True)\n"
                    "import os; os._exit(0)"};
    command.trust = Trust::candidate;
    command.limits.threads = 40;
    Protections protections = offered();
    protections.landlock = 0;  // wherever Python may be
    command.only = &protections;
    Finished finished = run(command);
    EXPECT_EQ(finished.out, "39\n") << finished.describe() << ": " << finished.err;
}

TEST(Compiler, reads_and_writes_its_own_folders_only) {
    if (offered().landlock == 0) GTEST_SKIP() << "no Landlock";
    TemporaryFolder scratch("strop-test"), given("strop-test"), elsewhere("strop-test");
    for (const TemporaryFolder* folder : {&scratch, &given, &elsewhere}) write_file(folder->path() / "file", "text\n");
    auto compile = [&](const std::string& script) {
        Command command;
        command.argv = {"/bin/sh", "-c", script};
        command.trust = Trust::compiler;
        command.scratch = scratch.path().string();
        command.readable = {given.path().string()};
        return run(command);
    };
    EXPECT_EQ(compile("cat $TMPDIR/file " + (given.path() / "file").string()).out, "text\ntext\n");
    for (const std::string& file : {(elsewhere.path() / "file").string(), std::string("/etc/passwd"),
                                    std::string("/dev/zero"), std::string("/proc/self/environ")})
        EXPECT_FALSE(compile("head -c 1 " + file).ok()) << file;
    EXPECT_TRUE(compile("echo x > $TMPDIR/new").ok());
    for (const TemporaryFolder* folder : {&given, &elsewhere})
        EXPECT_FALSE(compile("echo x > " + (folder->path() / "new").string()).ok());
    Finished connected = compile(python_program + " -S -c 'import socket; socket.socket(socket.AF_UNIX)'");
    EXPECT_NE(connected.err.find("PermissionError"), std::string::npos) << connected.err;
}

TEST(Compiler, meets_its_limits) {
    Command command;
    command.argv = {"/bin/sh", "-c", "while :; do :; done"};
    command.trust = Trust::compiler;
    command.limits.processor = Seconds(1);
    EXPECT_EQ(run(command).describe(), "killed by SIGKILL");
    TemporaryFolder scratch("strop-test");
    command.scratch = scratch.path().string();
    command.argv = {"dd", "if=/usr/bin/env", "of=" + (scratch.path() / "copy").string(), "bs=4096", "count=2"};
    command.limits.file_bytes = 4096;
    EXPECT_EQ(run(command).describe(), "killed by SIGXFSZ");
}

TEST(Protections, run_a_candidate_where_the_system_has_none_and_are_named) {
    TemporaryFolder folder("strop-test");
    std::string file = (folder.path() / "secret").string();
    write_file(file, "text\n");
    EXPECT_EQ(text_of(file, {}, Protections{}), "text\n");
    auto named = [](const Protections& protections, const std::string& what) {
        for (const std::string& phrase : weaker_protections(protections))
            if (phrase.find(what) != std::string::npos) return true;
        return false;
    };
    EXPECT_TRUE(named({}, "no Landlock"));
    EXPECT_TRUE(named({}, "no seccomp"));
    EXPECT_TRUE(named({.landlock = 5, .seccomp = true}, "an old Landlock"));
    EXPECT_FALSE(named({.landlock = 6, .seccomp = true}, "Landlock"));
    EXPECT_TRUE(named({.landlock = 6, .seccomp = true}, "no name spaces"));
    EXPECT_TRUE(named({.landlock = 6, .seccomp = true, .name_spaces = true}, "no name space for the network"));
    EXPECT_TRUE(named({6, true, true, true, false}, "no limit of threads"));
    EXPECT_TRUE(weaker_protections({6, true, true, true, true}).empty());
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

TEST(Child, all_of_its_threads_stand_still_when_a_pause_returns) {
    Command command;
    command.argv = {python_program, "-S", "-c",
                    "import _thread, os\n"
                    "def spin():\n"
                    "    while True: pass\n"
                    "for i in range(8): _thread.start_new_thread(spin, ())\n"
                    "os.write(4, b'x')\n"
                    "spin()"};
    Child child(command);
    char byte;
    ASSERT_EQ(child.receive(&byte, 1, Seconds(10)), Child::Wait::ready);
    for (int round = 0; round < 5; ++round) {
        EXPECT_TRUE(child.pause());
        size_t threads = 0;
        for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(child.pid()) + "/task")) {
            std::string stat = read_file(thread.path() / "stat");
            EXPECT_EQ(stat[stat.rfind(')') + 2], 'T');
            ++threads;
        }
        EXPECT_EQ(threads, 9u);
        child.resume();
    }
}

TEST(Child, who_has_replied_is_seen_before_the_reply_is_read) {
    Command command;
    command.argv = {"/bin/sh", "-c", "read line <&3; echo xy >&4; read line <&3"};
    Child child(command);
    EXPECT_FALSE(child.has_replied());
    child.send("\n", 1);
    char byte;
    ASSERT_EQ(child.receive(&byte, 1, Seconds(10)), Child::Wait::ready);
    EXPECT_TRUE(child.has_replied());
    ASSERT_EQ(child.receive(&byte, 1, Seconds(10)), Child::Wait::ready);
    ASSERT_EQ(child.receive(&byte, 1, Seconds(10)), Child::Wait::ready);
    EXPECT_FALSE(child.has_replied());
}

TEST(Sandbox, memory_of_all_processes_together_is_bounded) {
    const std::string part =
        std::string(python_program) + " -S -c 'x = b\"1\" * (100 << 20); import time; time.sleep(20)'";
    Command command;
    command.argv = {"/bin/sh", "-c", part + " & " + part + " & wait"};
    command.limits.resident_bytes = 150 << 20;
    command.limits.wall = Seconds(30);
    EXPECT_TRUE(run(command).over_memory);
    command.argv = {"/bin/sh", "-c", "exit 3"};
    EXPECT_EQ(run(command).exit_code, 3);
    Child child([&] {
        command.argv = {python_program, "-S", "-c", "x = b'1' * (200 << 20); import time; time.sleep(20)"};
        return command;
    }());
    char byte;
    EXPECT_EQ(child.receive(&byte, 1, Seconds(20)), Child::Wait::over_memory);
}

TEST(LineProcess, answers_line_by_line_and_says_how_it_ended) {
    LineProcess process({"/bin/sh", "-c", "read a; echo got $a; exit 7"});
    ASSERT_TRUE(process.write_line("one"));
    std::string line;
    ASSERT_TRUE(process.read_line(line, [] {}));
    EXPECT_EQ(line, "got one");
    EXPECT_FALSE(process.read_line(line, [] {}));
    EXPECT_EQ(process.end().exit_code, 7);
}

TEST(LineProcess, is_interrupted_and_heard_until_its_end) {
    LineProcess process(
        {"/bin/sh", "-c", "trap 'echo saved >&2; exit 3' INT; echo ready; while :; do sleep 0.01; done"},
        LineProcess::Errors::among_output);
    std::string line;
    ASSERT_TRUE(process.read_line(line, [] {}));
    process.interrupt();
    ASSERT_TRUE(process.read_line(line, [] {}));
    EXPECT_EQ(line, "saved");
    EXPECT_FALSE(process.read_line(line, [] {}));
    EXPECT_EQ(process.end().exit_code, 3);
}

}  // namespace
}  // namespace strop::sandbox
