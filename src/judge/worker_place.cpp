#include "judge/worker_place.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include <sys/utsname.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "judge/program_copy.h"
#include "judge/waiting.h"
#include "sandbox/line_process.h"

namespace strop::judge {

namespace {

constexpr Seconds least_limit{60};  // of a step
constexpr Seconds transfer_limit{1200};
constexpr Seconds tidying_limit{10};
constexpr Seconds parting{5};
constexpr size_t longest_quote = 200, most_lines = 100;
constexpr const char* start_instead = "install it there and name the worker by `start:` in workers.yaml";
constexpr const char* another_folder = "`folder:` in workers.yaml names another folder";

using Words = std::vector<std::string>;

// Those who copy to one place at a time, in this process.
struct Site {
    std::timed_mutex copying;
    std::mutex counting;
    int copies = 0;

    int count() {
        const std::lock_guard lock(counting);
        return copies;
    }
    void add() {
        const std::lock_guard lock(counting);
        ++copies;
    }
};

Site& site_of(const WorkerCommand& command) {
    static std::mutex mutex;
    static std::map<std::pair<Words, std::string>, Site> sites;
    const std::lock_guard lock(mutex);
    return sites[{command.place, command.folder}];
}

struct Done {
    sandbox::Finished finished;
    std::vector<std::string> lines;  // of standard output
    std::string why;                 // it failed, with its last words
};

// Programs say last that they failed, and say why before.
bool says_only_that_it_failed(const std::string& line) {
    static const char* const parts[] = {"Exiting with failure status", "Error is not recoverable",
                                        "Child returned status", "command terminated with exit code",
                                        "Exited with exit code"};
    return std::any_of(std::begin(parts), std::end(parts),
                       [&](const char* part) { return line.find(part) != std::string::npos; });
}

std::string last_words(const std::string& errors) {
    std::string last;
    for (const std::string& line : split(errors, '\n'))
        if (!trim(line).empty() && (last.empty() || !says_only_that_it_failed(line))) last = one_line(trim(line));
    return shortened(last, longest_quote);
}

class Place {
public:
    Place(const WorkerCommand& command, const std::function<void()>& idle)
        : command_(command),
          idle_(idle),
          folder_(command.folder + "/" + copy_hash()) {}

    std::unique_ptr<WorkerConnection> start() const {
        WorkerCommand started = command_;
        started.argv = command_.place;
        started.argv.insert(started.argv.end(), {program(), "worker"});
        return std::make_unique<WorkerConnection>(started, idle_);
    }

    bool lacks_program() const { return says_no({"test", "-x", program()}); }

    void check_architecture() const {
        utsname here = {};
        ::uname(&here);
        const Words asked = {"uname", "-m"};
        const Done done = run(asked);
        check(done, asked, "it has to run the words that come after it");
        // A shell there may say more, before and after.
        if (std::find(done.lines.begin(), done.lines.end(), here.machine) == done.lines.end())
            throw EnvironmentError(
                fmt::format("{} cannot be copied to: its machine is {}, this program is for {}", command_.name(),
                            done.lines.empty() ? "unknown" : shortened(one_line(done.lines.back()), longest_quote),
                            here.machine),
                start_instead);
    }

    void put_program(const std::function<void(const std::string&)>& say) const {
        const std::string& archive = copy_archive();
        if (say)
            say(fmt::format("{}: copying Strop there ({})", command_.given,
                            human_bytes(static_cast<double>(archive.size()))));
        const std::string part = fmt::format("{}.{:08x}", folder_, std::random_device{}());
        try {
            const Words make = {"mkdir", "-p", part}, fill = {"tar", "-xzf", "-", "-C", part},
                        name = {"mv", "-T", part, folder_};
            check(run(make), make, another_folder);
            const Done filled = run(fill, archive);
            if (!filled.why.empty()) check_same_machine(part);
            check(filled, fill, fmt::format("tar and gzip have to be there, and room; {}", another_folder));
            const Done named = run(name);
            if (named.why.empty()) return;
            check_same_machine(part);
            if (lacks_program()) check(named, name, fmt::format("remove {} there", folder_));
        } catch (...) {
            remove(part);
            throw;
        }
        remove(part);  // somebody else was first
    }

    // It is there and cannot be executed: a file system may forbid that.
    void check_executable() const {
        if (run({"test", "-f", program()}).finished.ok())
            throw EnvironmentError(fmt::format("{}: {} is there, and may not be executed", command_.name(), program()),
                                   another_folder);
    }

    [[noreturn]] void fail_as_lost() const {
        check_executable();
        throw EnvironmentError(fmt::format("{}: Strop was copied there and is not there", command_.name()),
                               "does each of its commands reach the same machine? `docker run` begins a new one each");
    }

private:
    std::string program() const { return folder_ + "/bin/strop"; }

    bool says_no(const Words& words) const { return run(words).finished.exit_code == 1; }

    void check(const Done& done, const Words& words, const std::string& hint) const {
        if (!done.why.empty())
            throw EnvironmentError(
                fmt::format("{}: `{}` failed there: {}", command_.name(), join(words, " "), done.why), hint);
    }

    void check_same_machine(const std::string& part) const {
        if (says_no({"test", "-d", part})) fail_as_lost();
    }

    // Whatever comes of it; also of one who was interrupted.
    void remove(const std::string& part) const try {
        run({"rm", "-rf", part}, {}, tidying_limit, [] {});
    } catch (const Error&) {
    }

    Done run(const Words& words, const std::string& input = {}) const {
        const Seconds limit = std::max(least_limit, command_.patience);
        return run(words, input, input.empty() ? limit : limit + transfer_limit, idle_);
    }

    Done run(const Words& words, const std::string& input, Seconds limit, const std::function<void()>& idle) const {
        struct TimedOut {};
        Words argv = command_.place;
        argv.insert(argv.end(), words.begin(), words.end());
        sandbox::LineProcess process(argv, sandbox::LineProcess::Errors::kept);
        Waiting waiting;
        auto wait = [&] {
            idle();
            if (waiting.look() >= limit) throw TimedOut();
        };
        Done done;
        try {
            process.write_all(input, wait);
            for (std::string line; process.read_line(line, wait, longest_quote);)
                if (!trim(line).empty() && done.lines.size() < most_lines) done.lines.emplace_back(trim(line));
            done.finished = process.end_within(parting);
            if (done.finished.ok()) return done;
            done.why = done.finished.describe();
        } catch (const TimedOut&) {
            done.finished.timed_out = true;
            done.why = fmt::format("no end after {:g} s", limit.count());
        }
        if (const std::string said = last_words(process.errors()); !said.empty()) done.why += ": " + said;
        return done;
    }

    const WorkerCommand& command_;
    const std::function<void()>& idle_;
    const std::string folder_;
};

// Who comes second waits, and finds it there. False: it was there before, so something else is wrong.
bool bring(const Place& place, Site& site, int copies_before, const std::function<void()>& idle,
           const std::function<void(const std::string&)>& say) {
    while (!site.copying.try_lock_for(std::chrono::milliseconds(100))) idle();
    const std::lock_guard lock(site.copying, std::adopt_lock);
    if (site.count() != copies_before) return true;
    if (!place.lacks_program()) return false;
    place.check_executable();
    place.check_architecture();
    place.put_program(say);
    site.add();
    return true;
}

}  // namespace

std::unique_ptr<WorkerConnection> connect(const WorkerCommand& command, const std::function<void()>& idle,
                                          const std::function<void(const std::string&)>& say) {
    if (command.place.empty()) return std::make_unique<WorkerConnection>(command, idle);
    Site& site = site_of(command);
    const int copies_before = site.count();
    const Place place(command, idle);
    try {
        return place.start();
    } catch (const NoWorkerBegan&) {
        if (!bring(place, site, copies_before, idle, say)) throw;
    }
    try {
        return place.start();
    } catch (const NoWorkerBegan&) {
        if (place.lacks_program()) place.fail_as_lost();
        throw;
    }
}

}  // namespace strop::judge
