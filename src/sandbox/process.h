// Child processes under limits: compilers, the Python that runs references, candidates.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"

namespace strop::sandbox {

// How far a child is trusted.
enum class Trust {
    tool,       // programs that see nothing of strangers: limits only
    compiler,   // reads a stranger's source: no network, reads and starts what belongs to the system and what is
                // `readable`, writes in its scratch folder only
    reference,  // a user's Python: no network; files are writable only in its scratch folder
    baseline,   // as reference, but may start processes (a compiling framework starts compilers)
    candidate,  // a kernel: no network, no file it could write, none it could read but libraries, what describes
                // the machine and what is `readable`; no new process, no ptrace, no signals to others
};

struct Limits {
    Seconds wall{0};                 // 0: none (the caller ends the child)
    int64_t memory_bytes = 0;        // address space; 0: none
    int64_t resident_bytes = 0;      // of all its processes together, looked at now and then; 0: none
    int64_t file_bytes = 0;          // of each file that it writes; 0: none
    Seconds processor{0};            // time that each of its processes computes; 0: none
    int threads = 0;                 // of a candidate, all together; 0: none
    int64_t output_bytes = 1 << 20;  // of standard output and of standard error each; more is cut off
};

struct Protections;

struct Command {
    std::vector<std::string> argv;                   // argv[0] is looked up in PATH
    std::map<std::string, std::string> environment;  // added to a minimal one (PATH, HOME, LANG, TMPDIR = scratch)
    std::string scratch;                             // private writable folder; empty: none
    std::string working_folder;                      // empty: unchanged
    std::vector<std::string> readable;               // what a compiler or candidate reads beside the system's files
    std::vector<int> keep_fds;  // descriptors of ours that the child inherits under the same numbers
    Trust trust = Trust::tool;
    Limits limits;
    bool reads_system = true;           // a candidate: all of the system's programs and libraries
    bool generates_code = false;        // a candidate that is a library of the user's: compiles while it runs
    bool writes_scratch = false;        // a candidate: makes files, which Landlock keeps in its scratch folder
    bool drives_gpu = false;            // a candidate or baseline: NVIDIA's driver, which talks to devices
    bool same_addresses = false;        // every time, which ThreadSanitizer's shadow memory needs on some systems
    const Protections* only = nullptr;  // as if the system offered no more than this
};

struct Finished {
    int exit_code = -1;        // when it exited
    int signal = 0;            // when a signal ended it
    bool timed_out = false;    // we ended it
    bool over_memory = false;  // we ended it because all of it used more than `resident_bytes`
    bool stopped = false;      // we ended it because the caller asked for that
    bool not_found = false;    // argv[0] does not exist
    std::string out, err;
    double seconds = 0;
    bool ok() const { return exit_code == 0 && signal == 0 && !timed_out && !over_memory && !stopped; }
    std::string describe() const;  // "exit 1", "killed by SIGSEGV", "timed out after 10 s"
};

// Runs to completion, or until `stop` (asked many times a second) says so; the whole process tree is dead on
// return. May be called from several threads at a time.
Finished run(const Command& command, const std::string& input = {}, const std::function<bool()>& stop = {});

// Runs commands side by side, at most `parallel` at a time; results in order.
std::vector<Finished> run_all(const std::vector<Command>& commands, int parallel);

// A child that is talked to over a pair of pipes (its descriptors 3: commands in, 4: replies out).
// Its standard output and error are caught and bounded.
class ControlGroup;
class Keeper;

class Child {
public:
    enum class Wait { ready, timed_out, over_memory, closed };

    explicit Child(const Command& command);
    ~Child();  // kills the tree
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }
    bool send(const void* data, size_t size);              // false when the child is gone
    Wait receive(void* data, size_t size, Seconds limit);  // exactly `size` bytes
    bool has_replied() const;                              // something is there to be received
    // SIGSTOP to the whole tree, so that its spinning threads leave the cores. True when all of the child's threads
    // stand still; false when some have not for seconds, because they are inside a system call that goes on.
    bool pause();
    void resume();
    Finished kill();  // ends the tree; how it had ended by itself if it had; with its output

private:
    void drain();
    pid_t pid_ = -1;
    int to_ = -1, from_ = -1, out_ = -1, err_ = -1;
    bool paused_ = false;
    int64_t output_limit_ = 0, resident_limit_ = 0;
    Clock::time_point looked_at_memory_;
    std::unique_ptr<Keeper> keeper_;
    std::unique_ptr<ControlGroup> group_;
    Finished finished_;
};

// What a system offers to hold children. Tests take parts away.
struct Protections {
    int landlock = 0;  // version of its interface; 0: none
    bool seccomp = false;
    bool name_spaces = false;  // of processes, mounts, inter-process communication
    bool own_network = false;
    bool thread_limit = false;  // that counts a child's threads and nobody else's
};

// By this system.
const Protections& offered();

// What is missing, one phrase each; empty when everything holds.
std::vector<std::string> weaker_protections(const Protections& protections = offered());

}  // namespace strop::sandbox
