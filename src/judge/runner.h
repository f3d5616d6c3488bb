// A process that is timed: a kernel in strop-candidate, or a baseline in the Python host.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "core/evaluation.h"
#include "judge/answer.h"
#include "judge/buffers.h"
#include "judge/protocol.h"
#include "language/cpp.h"
#include "language/sanitizer.h"
#include "sandbox/process.h"

namespace strop::judge {

// GLIBC_TUNABLES of Python hosts: freed arrays stay mapped.
inline constexpr const char* kept_memory =
    "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=17179869184";

class Runner {
public:
    struct Outcome {
        Verdict verdict = Verdict::ok;
        std::string evidence;
        double outside_ns = 0;  // by the referee's clock, hand-shake included
        int64_t inside_ns = 0;  // by the clock in its own process, which may say anything
        double waited_ns = 0;   // of watched calls: what its threads waited for a core meanwhile, and just before
        double ran_ns = 0;      // likewise: how long the thread that calls the kernel had one
        // Of watched calls, what they took without the waiting. Several threads can wait at once, and one that was put
        // off its core as it answered may have waited long before: nothing takes less than its thread had a core for.
        double awake_ns() const { return std::max(outside_ns - waited_ns, std::min(ran_ns, outside_ns)); }
        bool ok() const { return verdict == Verdict::ok; }
        // What was found afterwards, if it is anything; the times stay.
        void note(const Outcome& found) {
            if (found.ok()) return;
            verdict = found.verdict;
            evidence = found.evidence;
        }
    };

    // A compiled kernel on some points; the points' buffers must outlive it. `sanitizer`: the one that it was built
    // with, which then ends its process with a finding.
    static std::unique_ptr<Runner> kernel(const Built& built, const Problem& problem,
                                          const std::vector<Buffers*>& points, int threads,
                                          const Sanitizer* sanitizer = nullptr);
    // No kernel at all, in a process like one's.
    static std::unique_ptr<Runner> idle(const Problem& problem, const std::vector<Buffers*>& points);
    // A function of a Python file in a framework ("numpy", "pytorch", "torch.compile", "jax"). `on_device`: its tensors
    // lie on the first CUDA device.
    static std::unique_ptr<Runner> python(const std::string& framework, const std::filesystem::path& file,
                                          const Problem& problem, const std::vector<Buffers*>& points, int threads,
                                          bool on_device = false);

    const std::vector<Buffers*>& points() const { return points_; }
    bool is_python() const { return python_; }
    // Of a framework whose arrays cannot be views.
    bool copies_inputs() const { return copies_inputs_; }
    // Its kernels run on a device, whose memory the referee sees before and after a batch only.
    bool on_device() const { return device_ >= 0; }
    // Nothing of a batch can be seen while it runs.
    bool is_opaque() const { return python_ || on_device(); }
    // Of a device: brings outputs to where they are compared. Its guards are looked at; the verdict says so.
    Outcome fetch(size_t point, const std::vector<Place>& outputs);
    // The same later, of parts of large outputs, without the guards.
    Outcome fetch_again(size_t point, const std::vector<Place>& outputs);
    // Of a device: inputs of a set are as they were.
    Outcome check_inputs(size_t point, size_t set);
    // Of a device: none of a point's tensors lies in its L2. False where that cannot be done.
    bool make_cold(size_t point);
    // Of a device: somebody computes there now, so that the referee has to wait.
    bool device_is_busy(size_t point);
    // Ends its process, and says whether the device is busy without it.
    bool end_and_see_others(size_t point);
    // Of a kernel that is only timed: nobody looks at its outputs.
    void ignore_outputs() { ignores_outputs_ = true; }
    bool ignores_outputs() const { return ignores_outputs_; }
    bool alive() const { return child_ != nullptr; }

    // Maps and touches a point's buffers; again after their contents changed.
    Outcome prepare(size_t point, Seconds limit);
    // `meanwhile`: runs so long after the request was sent, whether the batch has ended or not.
    struct Glance {
        Nanoseconds after;
        std::function<void()> look;
    };
    Outcome call(size_t point, uint32_t calls, uint32_t set, uint32_t window, Seconds limit,
                 const Glance* meanwhile = nullptr);
    // Likewise, and says what its threads waited and ran.
    Outcome watched_call(size_t point, uint32_t calls, uint32_t set, uint32_t window, Seconds limit);
    // To a device, what was changed since the last call: also while a batch runs. A call sends it by itself.
    void send_changes(size_t point);
    // How many calls of the present batch have returned, as a kernel's process says.
    int64_t progress() const;
    bool has_replied() const { return child_ && child_->has_replied(); }
    // Python: puts the last call's result into the outputs.
    Outcome publish(Seconds limit);
    // What an empty batch takes at least, measured once: a load at that moment must not make later batches look short.
    double handshake_ns();
    // It takes no longer than this, whatever its process says.
    void bound_handshake(double most_ns) { most_handshake_ns_ = most_ns; }

    // The next usual place of a point's inputs (Buffers::turn_to) that its process has not met.
    std::optional<size_t> unmet_turn(size_t point);

    // In some batch that was long enough to tell.
    bool clocks_agreed() const { return clocks_agreed_; }

    // Nanoseconds so far in which its threads could have run and did not, because somebody else had the core
    // (run_delay of proc_pid_schedstat(5), all threads together). 0 where the system does not count.
    int64_t waited_ns() const;
    // Of the thread that calls the kernel.
    int64_t calling_thread_waited_ns() const;
    // How long its threads have had a core, all together. Unlike those of waiting it counts threads that have ended.
    int64_t ran_ns() const;
    // While a batch runs: whether there are more than the `at_rest` of before it.
    void meet_threads(size_t at_rest) { makes_threads_ = makes_threads_ || threads().size() > at_rest; }
    // For single calls, as far as was seen: what they wait for a core is counted as long as they live.
    bool makes_threads() const { return makes_threads_; }
    // That its first thread may run on, "0-3".
    std::string cores() const;
    pid_t pid() const { return child_ ? child_->pid() : -1; }
    // Its threads, the first included.
    std::vector<pid_t> threads() const;
    // No thread but its first has ever done anything, as far as the system counts: it loses nothing on one core.
    bool works_alone() const;
    // What its threads have left changed (thread_state.h); empty: nothing.
    std::string changed_thread_state() const;

    // On return it stands still. Who does not stop is ended: the next answer says so.
    void pause();
    void resume() {
        if (child_) child_->resume();
    }

private:
    Runner() = default;
    Outcome exchange(const Request& request, Seconds limit, const Glance* meanwhile = nullptr);
    Outcome ended(sandbox::Child::Wait wait, Seconds limit);
    static Outcome unasked();

    std::unique_ptr<TemporaryFolder> scratch_;
    std::vector<SharedMemory> layouts_;
    SharedMemory progress_;
    std::unique_ptr<sandbox::Child> child_;
    std::vector<Buffers*> points_;
    std::map<size_t, size_t> met_turns_;  // by point
    bool interpreted_ = false;            // a kernel in Python
    bool python_ = false, copies_inputs_ = false, ignores_outputs_ = false;
    int device_ = -1;  // of CUDA
    double handshake_ns_ = -1, most_handshake_ns_ = std::numeric_limits<double>::infinity();
    bool answered_ = false;           // a request, ever
    std::string library_, function_;  // of a kernel
    std::optional<Verdict> finding_;  // that its sanitizer ends it with
    bool clocks_agreed_ = false;
    bool makes_threads_ = false;
    bool did_not_stop_ = false;
};

}  // namespace strop::judge
