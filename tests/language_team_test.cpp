// The threads of kernels: a small library that has them is called by programs that fork, nest, narrow their affinity,
// call from several threads, have a run-time of OpenMP or an executor of their own.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/strings.h"
#include "language/contract.h"
#include "language/cpp_source.h"
#include "language/team_text.h"

namespace strop {
namespace {

// Every thing of `count` is marked `rounds` times, by shares, from a queue and behind a barrier.
const char* const library_text = R"(
extern "C" int marks_shares(int64_t count, int* marks, int64_t least) {
    std::atomic<int> threads{0};
    team::parallel(count > least ? team::size() : 1, [=, &threads](team::Member me) {
        for (int64_t i = me.begin(count); i < me.end(count); ++i) ++marks[i];
        threads = me.threads;
    });
    return threads;
}

extern "C" int marks_queue(int64_t count, int* marks) {
    team::Queue queue{count, 7};
    std::atomic<int> threads{0};
    team::parallel(team::size(), [=, &queue, &threads](team::Member me) {
        for (int64_t begin, end; queue.take(begin, end);)
            for (int64_t i = begin; i < end; ++i) ++marks[i];
        threads = me.threads;
    });
    return threads;
}

// Each round reads what the others wrote in the round before.
extern "C" int wrong_after_barriers(int64_t rounds) {
    int64_t slots[2][team::most_threads] = {};
    std::atomic<int> wrong{0};
    team::parallel(team::size(), [=, &slots, &wrong](team::Member me) {
        for (int64_t round = 0; round < rounds; ++round) {
            slots[round & 1][me.thread] = round;
            me.barrier();
            for (int i = 0; i < me.threads; ++i) wrong += slots[round & 1][i] != round;
        }
    });
    return wrong;
}

extern "C" int threads_inside(int64_t) {
    std::atomic<int> most{0};
    team::parallel(team::size(), [&](team::Member) {
        team::parallel(team::size(), [&](team::Member me) { most = me.threads; });
    });
    return most;
}

// Has the team from when `begun` is set until `ended` is.
extern "C" void hold(int* begun, const int* ended) {
    team::parallel(team::size(), [&](team::Member me) {
        if (me.thread != 0) return;
        __atomic_store_n(begun, 1, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(ended, __ATOMIC_SEQ_CST)) sched_yield();
    });
}

// Whether the bodies' threads are those of the OpenMP run-time that has this function.
extern "C" int runs_on(int (*thread_number)()) {
    std::atomic<int> same{1};
    team::parallel(team::size(), [&](team::Member me) {
        if (me.threads == 1 || thread_number() != me.thread) same = 0;
    });
    return same;
}

// Whether all threads are on processors of their own.
extern "C" int apart() {
    int cpu[team::most_threads] = {}, threads = 0;
    team::parallel(team::size(), [&](team::Member me) {
        me.barrier();
        cpu[me.thread] = sched_getcpu();
        threads = me.threads;
        me.barrier();
    });
    for (int i = 0; i < threads; ++i)
        for (int k = 0; k < i; ++k)
            if (cpu[i] == cpu[k]) return 0;
    return threads > 1;
}

extern "C" int looks_before_sleeping() { return team::looks; }
)";

const char* const program_text = R"(
#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <thread>
#include <vector>

extern "C" {
int marks_shares(int64_t count, int* marks, int64_t least);
int marks_queue(int64_t count, int* marks);
int wrong_after_barriers(int64_t rounds);
int threads_inside(int64_t);
void hold(int* begun, const int* ended);
int runs_on(int (*thread_number)());
int apart();
int looks_before_sleeping();
void library_set_parallel(void (*run)(void*, int, void (*)(void*, int, int), void*), void* context, int threads);
}

// The number of threads that marked each of `count` things once; 0: some were left out or marked twice.
static int shares(int64_t count, int64_t least = 0) {
    std::vector<int> marks(count, 0);
    const int threads = marks_shares(count, marks.data(), least);
    return std::count(marks.begin(), marks.end(), 1) == count ? threads : 0;
}

static int queue(int64_t count) {
    std::vector<int> marks(count, 0);
    const int threads = marks_queue(count, marks.data());
    return std::count(marks.begin(), marks.end(), 1) == count ? threads : 0;
}

static int in_a_copy(int (*what)()) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);   // which a copy does not inherit
        _exit(what());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void keep_to(int cpus) {
    static cpu_set_t all;
    if (cpus == 1) sched_getaffinity(0, sizeof all, &all);
    cpu_set_t mask = all;
    for (int cpu = 0, kept = 0; cpus == 1 && cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &all) && kept++ > 0) CPU_CLR(cpu, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
}

// All threads on the caller's processor.
static void crowd() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(sched_getcpu(), &mask);
    DIR* tasks = opendir("/proc/self/task");
    while (const dirent* task = readdir(tasks))
        if (const int id = atoi(task->d_name); id > 0) sched_setaffinity(id, sizeof mask, &mask);
    closedir(tasks);
}

static void* load_openmp() {
    void* library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) _exit(77);
    return dlsym(library, "omp_get_thread_num");
}

static void executor(void* context, int threads, void (*body)(void*, int, int), void* job) {
    ++*(int*)context;
    const int taken = threads - 1;   // fewer than it may take
    std::vector<std::thread> others;
    for (int i = 1; i < taken; ++i) others.emplace_back(body, job, i, taken);
    body(job, 0, taken);
    for (std::thread& other : others) other.join();
}

int main(int, char** arguments) {
    alarm(60);
    const char* what = arguments[1];
    if (!strcmp(what, "covers"))
        for (int64_t count : {1, 2, 3, 5, 1000, 4096}) printf("%d %d ", shares(count), queue(count));
    if (!strcmp(what, "small")) printf("%d", shares(100, 100));
    if (!strcmp(what, "barrier")) printf("%d", wrong_after_barriers(2000));
    if (!strcmp(what, "nested")) printf("%d", threads_inside(0));
    if (!strcmp(what, "at once")) {
        std::vector<std::thread> callers;
        std::vector<int> wrong(4, 0);
        for (int caller = 0; caller < 4; ++caller)
            callers.emplace_back([&wrong, caller] {
                for (int i = 0; i < 500; ++i) wrong[caller] += shares(1000) == 0 || wrong_after_barriers(3) > 0;
            });
        for (std::thread& caller : callers) caller.join();
        for (int each : wrong) printf("%d", each);
    }
    if (!strcmp(what, "crowded")) {
        int begun = 0, ended = 0;
        std::thread other([&] { hold(&begun, &ended); });
        while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST)) sched_yield();
        printf("%d ", shares(1000));    // meets the other one
        __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
        other.join();
        printf("%d ", shares(1000));    // and the calls after it
        for (int i = 0; i < 64; ++i) shares(1000);
        printf("%d", shares(1000));
    }
    if (!strcmp(what, "falling asleep")) {   // there are calls while it does
        alarm(20);
        for (int i = 0; i < 20; ++i) {
            shares(1000);
            usleep(300 + 150 * i);
        }
        usleep(10000);
        printf("%d", wrong_after_barriers(3));
    }
    if (!strcmp(what, "one core")) {
        int together = 0;
        shares(1000);
        for (int i = 0; i < 10; ++i) {
            usleep(2000);
            crowd();
            apart();   // wakes it, where it is now
            together += !apart();
        }
        printf("%d", together);
    }
    if (!strcmp(what, "nested often")) {
        for (int i = 0; i < 10; ++i) threads_inside(0);
        printf("%d", shares(1000));
    }
    if (!strcmp(what, "fork")) {
        printf("%d ", shares(1000));
        printf("%d ", in_a_copy([] { return shares(1000); }));
        printf("%d", shares(1000));
    }
    if (!strcmp(what, "affinity")) {
        keep_to(1);
        printf("%d ", shares(1000));
        keep_to(2);
        for (int i = 0; i < 64; ++i) shares(10);
        printf("%d", shares(1000) > 1);
    }
    if (!strcmp(what, "openmp")) printf("%d", runs_on((int (*)())load_openmp()));
    if (!strcmp(what, "openmp barrier")) {
        load_openmp();
        printf("%d ", wrong_after_barriers(100));
        printf("%d", looks_before_sleeping() > 0);
    }
    if (!strcmp(what, "openmp later")) {
        printf("%d ", shares(1000));
        int (*thread_number)() = (int (*)())load_openmp();
        for (int i = 0; i < 64; ++i) shares(10);
        printf("%d %d", runs_on(thread_number), wrong_after_barriers(100));
    }
    if (!strcmp(what, "openmp set")) {
        load_openmp();
        ((void (*)(int))dlsym(dlopen("libgomp.so.1", RTLD_NOW), "omp_set_num_threads"))(2);
        printf("%d", shares(1000));
    }
    if (!strcmp(what, "openmp fork")) {
        printf("%d ", runs_on((int (*)())load_openmp()));
        printf("%d", in_a_copy([] { return shares(1000); }));
    }
    if (!strcmp(what, "executor")) {
        int calls = 0;
        library_set_parallel(executor, &calls, 5);
        printf("%d %d %d ", shares(1000), queue(1000), wrong_after_barriers(100));
        if (looks_before_sleeping() == 0) printf("sleeps at once ");
        library_set_parallel(nullptr, nullptr, 0);
        printf("%d %d", shares(1000), calls);
    }
    return 0;
}
)";

class Team : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = std::make_unique<TemporaryFolder>();
        write_file(path("program.cpp"), program_text);
        const std::string team = team_text().includes + team_text().body;
        built = build("", team) && build("slow_", replaced(team, "syscall(SYS_futex, &wakes_, FUTEX_WAIT",
                                                           "usleep(2000), syscall(SYS_futex, &wakes_, FUTEX_WAIT"));
    }
    static bool build(const std::string& kind, const std::string& team) {
        const std::string library = path(kind + "library"), flags = " -std=c++17 -O1 -Wall -Wextra -Werror -pthread ";
        write_file(library + ".cpp", team + library_text + set_parallel_definition("library"));
        return compiles("g++" + flags + "-shared -fPIC -o " + library + ".so " + library + ".cpp") &&
               compiles("g++" + flags + "-o " + path(kind + "program") + " " + path("program.cpp") + " " + library +
                        ".so -Wl,-rpath," + folder->path().string() + " -ldl");
    }
    static std::string replaced(std::string text, const std::string& what, const std::string& by) {
        const size_t at = text.find(what);
        EXPECT_NE(at, std::string::npos) << what;
        return at == std::string::npos ? text : text.replace(at, what.size(), by);
    }
    static void TearDownTestSuite() { folder.reset(); }
    void SetUp() override { ASSERT_TRUE(built); }

    static std::string path(const std::string& name) { return (folder->path() / name).string(); }
    static bool compiles(const std::string& command) { return std::system((command + " 2>&1").c_str()) == 0; }

    // What the program prints; "skip" where it finds no OpenMP.
    static std::string said(const std::string& what, const std::string& environment,
                            const std::string& program = "program") {
        const std::string command =
            fmt::format("env -u OMP_NUM_THREADS -u OMP_PROC_BIND {} {} '{}' 2>&1", environment, path(program), what);
        std::string text;
        std::FILE* pipe = popen(command.c_str(), "r");
        for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
        const int status = pclose(pipe);
        if (WEXITSTATUS(status) == 77) return "skip";
        return std::string(trim(text)) + (status == 0 ? "" : fmt::format(" (status {})", status));
    }

    static inline std::unique_ptr<TemporaryFolder> folder;
    static inline bool built = false;
};

TEST_F(Team, DoesEverythingOnceOnAsManyThreadsAsAreNamed) {
    for (int threads : {1, 2, 3, 7}) {
        std::string each;
        for (int i = 0; i < 12; ++i) each += fmt::format("{} ", threads);
        EXPECT_EQ(said("covers", fmt::format("OMP_NUM_THREADS={}", threads)), trim(each));
    }
}

TEST_F(Team, SmallWorkIsTheCallersOwn) { EXPECT_EQ(said("small", "OMP_NUM_THREADS=4"), "1"); }

TEST_F(Team, NobodyPassesABarrierBeforeTheOthers) {
    for (int threads : {1, 2, 3}) EXPECT_EQ(said("barrier", fmt::format("OMP_NUM_THREADS={}", threads)), "0");
}

TEST_F(Team, CallsFromWithinRunInLine) { EXPECT_EQ(said("nested", "OMP_NUM_THREADS=3"), "1"); }

TEST_F(Team, CallsFromSeveralThreadsAtOnceAreRight) {
    EXPECT_EQ(said("at once", "OMP_NUM_THREADS=3"), "0000");
    EXPECT_EQ(said("at once", ""), "0000");
}

TEST_F(Team, CallsThatMeetWorkAloneAndSoDoTheNextOnes) { EXPECT_EQ(said("crowded", "OMP_NUM_THREADS=3"), "1 1 3"); }

// Its value may be as it was again before a thread that has looked is asleep.
TEST_F(Team, AThreadThatIsFallingAsleepIsNotForgotten) {
    for (int threads : {2, 3})
        EXPECT_EQ(said("falling asleep", fmt::format("OMP_NUM_THREADS={}", threads), "slow_program"), "0");
}

TEST_F(Team, CallsFromWithinAreNoMeeting) { EXPECT_EQ(said("nested often", "OMP_NUM_THREADS=3"), "3"); }

TEST_F(Team, ACopyOfTheProcessStartsATeamOfItsOwn) { EXPECT_EQ(said("fork", "OMP_NUM_THREADS=3"), "3 3 3"); }

TEST_F(Team, FollowsTheAffinityOfItsCaller) {
    EXPECT_EQ(said("affinity", ""), sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "1 1" : "1 0");
}

TEST_F(Team, AThreadThatWakesUpOnTheCallersCoreLeavesIt) {
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "one core";
    EXPECT_EQ(said("one core", "OMP_NUM_THREADS=2"), "0");
}

TEST_F(Team, BindsItsThreadsWhereThatIsAsked) {
    EXPECT_EQ(said("barrier", "OMP_NUM_THREADS=2 OMP_PROC_BIND=close"), "0");
    EXPECT_EQ(said("fork", "OMP_NUM_THREADS=2 OMP_PROC_BIND=close"), "2 2 2");
}

TEST_F(Team, TakesTheThreadsOfARuntimeThatIsThere) {
    const std::string first = said("openmp", "OMP_NUM_THREADS=3");
    if (first == "skip") GTEST_SKIP() << "no libgomp";
    EXPECT_EQ(first, "1");
    EXPECT_EQ(said("openmp barrier", "OMP_NUM_THREADS=2"), sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "0 1" : "0 0");
    EXPECT_EQ(said("openmp later", "OMP_NUM_THREADS=3"), "3 1 0");
    EXPECT_EQ(said("openmp set", "OMP_NUM_THREADS=3"), "2");
    EXPECT_EQ(said("openmp fork", "OMP_NUM_THREADS=3"), "1 3");
}

// A library may be loaded by a processor that does not execute what it was compiled for.
TEST_F(Team, ItsVariablesAreConstantsBeforeTheFirstCall) {
    std::string team = team_text().includes + team_text().body;
    for (const char* variable : {"Surroundings around;", "Team own;", "Executor executor;"})
        team = replaced(team, std::string("\n") + variable, std::string("\nconstinit ") + variable);
    write_file(path("constants.cpp"), team);
    EXPECT_TRUE(compiles("g++ -std=c++20 -fsyntax-only " + path("constants.cpp")));
}

TEST_F(Team, AnExecutorOfTheHostMayTakeFewer) { EXPECT_EQ(said("executor", "OMP_NUM_THREADS=3"), "4 4 0 3 3"); }

TEST(TeamText, IsNoOpenMP) {
    EXPECT_FALSE(uses_openmp(team_text().includes + team_text().body));
    EXPECT_FALSE(uses_openmp("float comp_omp_x; // #pragma omp parallel\nconst char* text = \"omp_get_max_threads\";"));
    for (const char* text : {"#pragma omp parallel for\n", "#  pragma   omp simd\n", "#include <omp.h>\n",
                             "#include \"omp.h\"\n", "_Pragma(\"omp parallel\")", "int n = omp_get_max_threads();"})
        EXPECT_TRUE(uses_openmp(text)) << text;
}

TEST(TeamText, IsAskedForByAComment) {
    EXPECT_TRUE(asks_for_team("// strop:tune A = 1\n// strop:team\n"));
    EXPECT_FALSE(asks_for_team("// the team of strop:team\nint strop_team;\n"));
    EXPECT_TRUE(parse_tunables("// strop:team\n", "k.cpp").tunables.empty());
}

}  // namespace
}  // namespace strop
