#include "language/team_text.h"

#include <fmt/format.h>

#include "language/cpp_source.h"

namespace strop {

namespace {

const char* const interface_includes = "#include <stdint.h>\n";

const char* const interface_text = R"(
inline constexpr int most_threads = 256;

struct Job;
void wait_for_all(Job& job, int threads);

// One of `threads` that run a body; they may be fewer than were asked for.
struct Member {
    int thread, threads;
    Job* job;

    // This thread's share of `count` things.
    int64_t begin(int64_t count) const { return thread == 0 ? 0 : count * thread / threads; }
    int64_t end(int64_t count) const { return thread + 1 == threads ? count : count * (thread + 1) / threads; }
    // Nobody goes on before everybody is here.
    void barrier() const {
        if (threads > 1) wait_for_all(*job, threads);
    }
};

// Hands out `count` things, a chunk at a time, to whoever comes for more.
struct Queue {
    int64_t count, chunk, next = 0;
    bool take(int64_t& begin, int64_t& end) {
        begin = __atomic_fetch_add(&next, chunk, __ATOMIC_RELAXED);
        end = count - begin < chunk ? count : begin + chunk;
        return begin < count;
    }
};

// The number of threads that a body may be given to.
int size();

using Body = void (*)(const void* captured, Member me);
void run(int threads, Body body, const void* captured);

template <class Lambda>
void body_of(const void* captured, Member me) {
    const Lambda lambda = *(const Lambda*)captured;   // a copy can stay in registers
    lambda(me);
}

// lambda(me) by up to `threads` threads; by the caller alone where that is 1.
template <class Lambda>
inline void parallel(int threads, const Lambda& lambda) {
    if (threads == 1) body_of<Lambda>(&lambda, Member{0, 1, nullptr});
    else run(threads, body_of<Lambda>, &lambda);
}
)";

const char* const source_includes = R"(#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <atomic>
)";

const char* const waiting_text = R"(
// ---- waiting

std::atomic<int> looks{0};   // at a number that another thread will change, before going to sleep

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

// How many take a tenth of a millisecond: a program that calls from Python again and again is back by then, and waking
// a thread of a virtual machine takes about as long. A pause is 10 to 140 cycles.
int looks_of_a_tenth() {
    constexpr int tried = 200;
    timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < tried; ++i) relax();
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double ns = 1e9 * (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec);
    const double looks_of_it = 1e5 * tried / (ns < 1 ? 1 : ns);
    return looks_of_it < 500 ? 500 : looks_of_it < 20000 ? (int)looks_of_it : 20000;   // an interruption is no pause
}

// A number that threads wait for (futex(2)).
class Signal {
public:
    uint32_t get() const { return value_.load(std::memory_order_acquire); }
    void set(uint32_t value) {
        value_.store(value);
        wake();
    }
    bool change(uint32_t from, uint32_t to) { return get() == from && value_.compare_exchange_strong(from, to); }
    void count_down() {
        if (value_.fetch_sub(1) == 1) wake();
    }
    // Who wakes up too late, and finds nothing changed any more, looks for a while again: the next change is near.
    void wait_while(uint32_t value) {
        for (;;) {
            for (int i = looks; i > 0; --i) {
                if (get() != value) return;
                relax();
            }
            const uint32_t wakes = wakes_;
            asleep_ = 1;
            if (value_.load() != value) return;
            syscall(SYS_futex, &wakes_, FUTEX_WAIT_PRIVATE, wakes, nullptr, nullptr, 0);
        }
    }
    void reset() { value_ = asleep_ = wakes_ = 0; }

private:
    // Once for each sleep: waking up may take many calls' time.
    void wake() {
        if (asleep_.load() == 0 || asleep_.exchange(0) == 0) return;
        ++wakes_;
        syscall(SYS_futex, &wakes_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    std::atomic<uint32_t> value_{0}, asleep_{0};   // asleep: somebody who was not woken yet may be
    std::atomic<uint32_t> wakes_{0};   // slept on: the value may be as it was again before somebody is asleep
};

thread_local bool within = false;   // a body: its own calls run in line

// A body that is being run.
struct Job {
    Body body;
    const void* captured;
    int threads;
    std::atomic<int> arrived{0};   // at the barrier
    Signal round{};

    void on(int thread, int of) {
        const bool before = within;
        within = true;
        body(captured, Member{thread, of, this});
        within = before;
    }
};

void wait_for_all(Job& job, int threads) {
    const uint32_t round = job.round.get();
    if (job.arrived.fetch_add(1) + 1 < threads) return job.round.wait_while(round);
    job.arrived = 0;
    job.round.set(round + 1);
}
)";

const char* const cores_text = R"(
// ---- the cores

struct Cores {
    int count = 0, cpu[most_threads] = {};   // constants: a library that is loaded must not run code of this file yet
};

// One processor of each core among those that this thread may run on.
Cores cores_of(const cpu_set_t& allowed) {
    Cores cores;
    for (int cpu = 0; cpu < CPU_SETSIZE && cores.count < most_threads; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        char path[96];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        int first = cpu;
        if (FILE* file = fopen(path, "re")) {
            if (fscanf(file, "%d", &first) != 1) first = cpu;
            fclose(file);
        }
        if (first >= cpu || !CPU_ISSET(first, &allowed)) cores.cpu[cores.count++] = cpu;
    }
    return cores;
}

double number_in(const char* folder, const char* name, const char* format) {
    char path[2 * PATH_MAX];
    double number = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (FILE* file = fopen(path, "re")) {
        if (fscanf(file, format, &number) != 1) number = -1;
        fclose(file);
    }
    return number;
}

// So many cores' time the control groups of this process allow.
int cores_of_groups() {
    double least = most_threads;
    FILE* file = fopen("/proc/self/cgroup", "re");
    for (char line[PATH_MAX]; file && fgets(line, sizeof line, file);) {   // "0::/a/b", or "4:cpu,cpuacct:/a/b"
        char* kind = strchr(line, ':');
        char* group = kind ? strchr(kind + 1, ':') : nullptr;
        if (!group) continue;
        group[strcspn(group, "\n")] = 0;
        *group++ = 0;
        const bool unified = *++kind == 0;
        for (char* end = group + strlen(group); end; end = strrchr(group, '/')) {   // and of those around it
            *end = 0;
            char folder[PATH_MAX + 32];
            snprintf(folder, sizeof folder, "/sys/fs/cgroup/%s%s", kind, group);
            const double quota = number_in(folder, unified ? "cpu.max" : "cpu.cfs_quota_us", "%lf");
            const double period = number_in(folder, unified ? "cpu.max" : "cpu.cfs_period_us", unified ? "%*s %lf" : "%lf");
            if (quota > 0 && period > 0 && quota / period < least) least = quota / period;
        }
    }
    if (file) fclose(file);
    return (int)least < least ? (int)least + 1 : (int)least;
}
)";

const char* const surroundings_text = R"(
// ---- who else has threads

// Somebody's own executor: run(context, threads, body, job) calls body(job, i, n) for all i < n at the same time, n
// being from 1 to `threads` as it likes, and returns when they have returned.
struct Executor {
    void (*run)(void* context, int threads, void (*body)(void* job, int thread, int threads), void* job) = nullptr;
    void* context = nullptr;
    int threads = 1;
};
Executor executor;

// An OpenMP run-time that somebody has loaded.
struct Runtime {
    void (*parallel)(void (*body)(void*), void* job, unsigned threads, unsigned flags);
    int (*most)();
    int (*thread)();
    int (*threads)();
};

constexpr unsigned look_every = 64;   // questions for the number of threads

struct Surroundings {
    std::atomic<unsigned> asked{0};
    std::atomic<bool> looking{false};
    std::atomic<const Runtime*> runtime{nullptr};
    std::atomic<int> cores{0}, named{0};   // named: OMP_NUM_THREADS
    bool forked = false, bound = false;    // bound: OMP_PROC_BIND
    Cores allowed;
    cpu_set_t mask{};   // the same, as the system has it
};
Surroundings around;

struct Loaded {
    unsigned long long ever = 0;   // how many libraries
    bool count_only = true;
    char runtime[PATH_MAX] = "";
};

int look_at_library(dl_phdr_info* library, size_t, void* result) {
    Loaded& loaded = *(Loaded*)result;
    loaded.ever = library->dlpi_adds;
    const char* slash = strrchr(library->dlpi_name, '/');
    const char* name = slash ? slash + 1 : library->dlpi_name;
    const bool known = !strncmp(name, "libgomp", 7) || !strncmp(name, "libomp", 6) || !strncmp(name, "libiomp", 7);
    if (known) snprintf(loaded.runtime, sizeof loaded.runtime, "%s", library->dlpi_name);
    return known || loaded.count_only;
}

// The first one; nothing where no library was added since the last question.
const Runtime* loaded_runtime() {
    static Runtime runtime;
    static unsigned long long before = 0;
    Loaded loaded;
    dl_iterate_phdr(look_at_library, &loaded);
    if (loaded.ever == before) return nullptr;
    before = loaded.ever;
    loaded.count_only = false;
    dl_iterate_phdr(look_at_library, &loaded);
    void* library = loaded.runtime[0] ? dlopen(loaded.runtime, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (!library) return nullptr;
    *(void**)&runtime.parallel = dlsym(library, "GOMP_parallel");
    *(void**)&runtime.most = dlsym(library, "omp_get_max_threads");
    *(void**)&runtime.thread = dlsym(library, "omp_get_thread_num");
    *(void**)&runtime.threads = dlsym(library, "omp_get_num_threads");
    return runtime.parallel && runtime.most && runtime.thread && runtime.threads ? &runtime : nullptr;
}

// Whether this process is a copy of another one (PF_FORKNOEXEC of proc_pid_stat(5)): a run-time that was loaded before
// lacks its threads.
bool is_copy() {
    char text[1024] = "";
    unsigned flags = 0;
    if (FILE* file = fopen("/proc/self/stat", "re")) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    const char* name_end = strrchr(text, ')');
    return name_end && sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && (flags & 0x40);
}

// What may change while the process runs is looked at again.
void look_around() {
    static int of_groups = 0;
    if (around.looking.exchange(true)) return;
    if (of_groups == 0) {
        const char *number = getenv("OMP_NUM_THREADS"), *bind = getenv("OMP_PROC_BIND");
        around.bound = bind && strcasecmp(bind, "false") != 0;
        around.forked = around.forked || is_copy();
        around.named = number ? atoi(number) : 0;
        of_groups = cores_of_groups();
    }
    cpu_set_t mask;
    const bool settled = around.bound && around.cores > 0;   // a thread that is bound sees one processor
    if (!settled && sched_getaffinity(0, sizeof mask, &mask) == 0 && !CPU_EQUAL(&mask, &around.mask)) {
        around.mask = mask;
        around.allowed = cores_of(mask);
        around.cores = around.allowed.count < of_groups ? around.allowed.count : of_groups;
    }
    if (!around.runtime) around.runtime = loaded_runtime();
    around.looking = false;
}

int size() {
    if (executor.run) return executor.threads;
    const unsigned asked = around.asked.load(std::memory_order_relaxed);
    around.asked.store(asked + 1, std::memory_order_relaxed);
    if (asked % look_every == 0) look_around();
    const Runtime* runtime = around.runtime;
    const int named = around.named, cores = around.cores;
    const int wanted = runtime ? runtime->most() : named > 0 ? named : cores;
    const int threads = named > 0 || wanted < cores ? wanted : cores;
    return threads < 1 ? 1 : threads < most_threads ? threads : most_threads;
}
)";

const char* const own_text = R"(
// ---- a team of its own

struct alignas(64) Place {
    Signal work;   // 1: a part of the job that nobody has begun
};

constexpr int alone_when_crowded = 64;   // calls

struct Team {
    std::atomic<bool> busy{false};
    std::atomic<int> caller_cpu{-1};   // at its last call
    std::atomic<int> crowded{0};   // calls that are still to work alone
    std::atomic<int> started{1};   // threads, the caller's included
    Job* job = nullptr;
    Signal left;       // parts of the job that are not done, the caller's own left out
    Place places[most_threads];
};
Team own;

// The system may wake a thread on the core of its caller, where they slow each other down for milliseconds: it leaves.
void leave_callers_core(int threads) {
    const int cpu = sched_getcpu();
    if (around.bound || threads > around.cores || cpu < 0 || cpu != own.caller_cpu.load(std::memory_order_relaxed)) return;
    cpu_set_t others = around.mask;
    CPU_CLR(cpu, &others);
    if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
}

void* work(void* number) {
    const int thread = (int)(intptr_t)number;
    for (;;) {
        own.places[thread].work.wait_while(0);
        leave_callers_core(own.started);
        if (!own.places[thread].work.change(1, 0)) continue;
        own.job->on(thread, own.job->threads);
        own.left.count_down();
    }
}

void bind(pthread_t thread, int place) {
    if (!around.bound || around.allowed.count == 0) return;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(around.allowed.cpu[place % around.allowed.count], &mask);
    pthread_setaffinity_np(thread, sizeof mask, &mask);
}

// They run the code of this library until the process ends: it stays loaded. Signals are not their business.
int start(int threads) {
    if (own.started >= threads) return threads;
    Dl_info library;
    if (own.started == 1 && dladdr((void*)work, &library)) dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pthread_t thread; own.started < threads; ++own.started) {
        if (pthread_create(&thread, nullptr, work, (void*)(intptr_t)own.started) != 0) break;
        bind(thread, own.started);
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    bind(pthread_self(), 0);
    return own.started;
}

void run_on_own(Job& job) {
    job.threads = start(job.threads);
    own.job = &job;
    own.caller_cpu.store(sched_getcpu(), std::memory_order_relaxed);
    own.left.set((uint32_t)job.threads - 1);
    for (int i = 1; i < job.threads; ++i) own.places[i].work.set(1);
    job.on(0, job.threads);
    for (int i = job.threads - 1; i > 0; --i)   // who has not woken up need not be waited for
        if (own.places[i].work.change(1, 0)) {
            job.on(i, job.threads);
            own.left.count_down();
        }
    while (const uint32_t left = own.left.get()) own.left.wait_while(left);
}

// A copy of the process has neither its threads nor a run-time's.
void after_fork() {
    around.forked = true;
    around.looking = own.busy = false;
    own.crowded = 0;
    own.started = 1;
    for (Place& place : own.places) place.work.reset();
}
[[maybe_unused]] const int forks_are_noticed = pthread_atfork(nullptr, nullptr, after_fork);

// Whether this call has the team now. Where several threads call at once the cores have work without it, and a run-time
// keeps a team for each of them: then the next calls work alone, too.
bool take_team() {
    if (within) return false;
    if (const int left = own.crowded.load(std::memory_order_relaxed); left > 0) {
        own.crowded.store(left - 1, std::memory_order_relaxed);
        return false;
    }
    if (!own.busy.exchange(true)) return true;
    own.crowded.store(alone_when_crowded, std::memory_order_relaxed);
    return false;
}

void run(int threads, Body body, const void* captured) {
    Job job{body, captured, threads};
    static const int most_looks = looks_of_a_tenth();
    if (executor.run) {
        looks = most_looks;
        return executor.run(executor.context, threads,
                            [](void* of, int thread, int n) { ((Job*)of)->on(thread, n); }, &job);
    }
    if (!take_team()) return job.on(0, 1);
    looks = threads > around.cores ? 0 : most_looks;   // none where threads have to share cores
    const Runtime* runtime = around.runtime;
    if (runtime && !around.forked)
        runtime->parallel([](void* of) { ((Job*)of)->on(around.runtime.load()->thread(), around.runtime.load()->threads()); },
                          &job, (unsigned)threads, 0);
    else
        run_on_own(job);
    own.busy = false;
}
)";

const char* const about_text =
    R"(// Threads. A kernel runs a lambda on several of them by team::parallel. In a process that has loaded an OpenMP run-time
// (PyTorch brings one) they are that run-time's, and as many as it would take itself: two teams would fight for the
// same cores. Elsewhere a team of its own starts when it is first needed; who has nothing to do sleeps after a tenth
// of a millisecond, and who wakes up on the caller's core leaves it. Who calls from within it, or while another thread
// has it, works alone; so do the calls after such a meeting, for a while.
)";

std::string named(const std::string& body) { return "namespace team {\n" + body + "\n}  // namespace team\n"; }

std::string everything() {
    return std::string(interface_text) + waiting_text + cores_text + surroundings_text + own_text;
}

}  // namespace

std::string team_interface() { return interface_includes + named(interface_text); }

std::string team_source() { return source_includes + named(everything()); }

TeamText team_text() {
    return {source_includes, std::string(about_text) + "namespace {\n" + named(everything()) + "}  // namespace\n"};
}

bool has_team(const std::string& source) { return mentions(code_only(source), "team::parallel"); }

std::string set_parallel_definition(const std::string& problem) {
    return fmt::format(R"(
extern "C" void {}_set_parallel(void (*run)(void* context, int threads,
                                            void (*body)(void* job, int thread, int threads), void* job),
                                void* context, int threads) {{
    team::executor = team::Executor{{run, context, threads}};
}}
)",
                       problem);
}

std::string set_parallel_declaration(const std::string& problem) {
    return fmt::format(R"(
// Hands the work of large calls to an executor of the caller's: run calls body(job, i, n) for all i < n at the same
// time, n being from 1 to `threads` as it likes, and returns when they have returned. A null `run` takes it back. Not
// while {0} runs. Without it the threads are those of an OpenMP run-time in the process, else a team of {0}'s own.
void {0}_set_parallel(void (*run)(void* context, int threads,
                      void (*body)(void* job, int thread, int threads), void* job),
                      void* context, int threads);
)",
                       problem);
}

}  // namespace strop
