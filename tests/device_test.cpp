#include <cstdlib>
#include <optional>

#include <sched.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "core/json.h"
#include "device/machine.h"
#include "device/probe.h"

namespace strop {
namespace {

// Sets an environment variable for a test's life.
class Setting {
public:
    Setting(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~Setting() {
        if (old_) setenv(name_, old_->c_str(), 1);
        else unsetenv(name_);
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

private:
    const char* name_;
    std::optional<std::string> old_;
};

void write_program(const fs::path& path, const std::string& text) {
    write_file(path, text);
    chmod(path.c_str(), 0755);
}

Machine with_flags(const std::string& architecture, const std::set<std::string>& flags) {
    Machine machine;
    machine.architecture = architecture;
    device::set_vectors(machine, flags);
    return machine;
}

TEST(Probe, ReadsFlagsOfX86AndFeaturesOfArm) {
    EXPECT_EQ(device::cpu_flags("processor\t: 0\nflags\t\t: fpu avx2 fma\n\nflags : other\n"),
              (std::set<std::string>{"fpu", "avx2", "fma"}));
    EXPECT_EQ(device::cpu_flags("processor\t: 0\nFeatures\t: fp asimd\n"), (std::set<std::string>{"fp", "asimd"}));
    EXPECT_TRUE(device::cpu_flags("").empty());
    EXPECT_EQ(device::cpuinfo_field("a : 1\nmodel name\t: X  CPU @ 2 GHz\n", "model name"), "X  CPU @ 2 GHz");
    EXPECT_EQ(device::cpuinfo_field("model nameless : 1\n", "model name"), "");
}

TEST(Probe, ChoosesTheWidestUsableVectors) {
    Machine wide = with_flags("x86_64", {"avx512f", "avx2", "fma"});
    EXPECT_EQ(wide.isa, "avx512");
    EXPECT_EQ(wide.vector_bytes, 64);
    EXPECT_EQ(wide.vector_registers, 32);
    Machine middle = with_flags("x86_64", {"avx2", "fma"});
    EXPECT_EQ(middle.isa, "avx2");
    EXPECT_EQ(middle.vector_bytes, 32);
    EXPECT_EQ(middle.vector_registers, 16);
    Machine without_fma = with_flags("x86_64", {"avx2"});
    EXPECT_EQ(without_fma.isa, "sse2");
    EXPECT_EQ(without_fma.vector_bytes, 16);
    Machine arm = with_flags("aarch64", {"asimd"});
    EXPECT_EQ(arm.isa, "neon");
    EXPECT_EQ(arm.vector_bytes, 16);
    EXPECT_EQ(arm.vector_registers, 32);
    EXPECT_EQ(with_flags("riscv64", {}).isa, "riscv64");
}

TEST(Probe, TakesTheStrictestGroupLimitUpToTheRoot) {
    TemporaryFolder mount;
    write_file(mount.path() / "a" / "cpu.max", "400000 100000\n");
    write_file(mount.path() / "a" / "b" / "cpu.max", "max 100000\n");
    write_file(mount.path() / "a" / "memory.max", "max\n");
    write_file(mount.path() / "a" / "b" / "memory.max", "1073741824\n");
    device::GroupLimits limits = device::group_limits("0::/a/b\n", mount.path());
    EXPECT_EQ(limits.cpus, 4.0);
    EXPECT_EQ(limits.memory_bytes, int64_t{1} << 30);
    write_file(mount.path() / "cpu.max", "150000 100000\n");
    EXPECT_EQ(device::group_limits("0::/a/b\n", mount.path()).cpus, 1.5);
}

TEST(Probe, ReadsGroupLimitsOfTheFirstVersion) {
    TemporaryFolder mount;
    write_file(mount.path() / "cpu" / "job" / "cpu.cfs_quota_us", "200000\n");
    write_file(mount.path() / "cpu" / "job" / "cpu.cfs_period_us", "100000\n");
    write_file(mount.path() / "memory" / "job" / "memory.limit_in_bytes", "9223372036854771712\n");
    std::string membership = "4:cpu,cpuacct:/job\n3:memory:/job\n2:devices:/job\n";
    device::GroupLimits limits = device::group_limits(membership, mount.path());
    EXPECT_EQ(limits.cpus, 2.0);
    EXPECT_EQ(limits.memory_bytes, 0);
    write_file(mount.path() / "cpu" / "job" / "cpu.cfs_quota_us", "-1\n");
    EXPECT_EQ(device::group_limits(membership, mount.path()).cpus, 0.0);
}

TEST(Probe, NoGroupIsNoLimit) {
    TemporaryFolder mount;
    for (const char* membership : {"", "0::/not/there\n", "nonsense\n"}) {
        device::GroupLimits limits = device::group_limits(membership, mount.path());
        EXPECT_EQ(limits.cpus, 0.0) << membership;
        EXPECT_EQ(limits.memory_bytes, 0) << membership;
    }
}

TEST(Probe, FingerprintChangesWithWhatCeilingsDependOn) {
    Machine machine = detect_machine();
    Machine other = machine;
    other.memory_bytes += 4096;
    EXPECT_EQ(device::fingerprint_of(machine), device::fingerprint_of(other));
    other.cores += 1;
    EXPECT_NE(device::fingerprint_of(machine), device::fingerprint_of(other));
    other = machine;
    other.caches.back().bytes *= 2;
    EXPECT_NE(device::fingerprint_of(machine), device::fingerprint_of(other));
}

TEST(Machine, DetectionIsComplete) {
    Machine machine = detect_machine();
    EXPECT_FALSE(machine.cpu.empty());
    EXPECT_FALSE(machine.architecture.empty());
    EXPECT_GE(machine.cores, 1);
    EXPECT_GT(machine.memory_bytes, 64 << 20);
    EXPECT_GE(machine.page_bytes, 4096);
    EXPECT_EQ(machine.ceilings.memory_copy, 0);
    ASSERT_FALSE(machine.caches.empty());
    EXPECT_EQ(machine.caches.front().level, 1);
    for (size_t i = 0; i < machine.caches.size(); ++i) {
        EXPECT_GE(machine.caches[i].bytes, 4096);
        EXPECT_GE(machine.caches[i].shared_by, 1);
        if (i > 0) {
            EXPECT_GT(machine.caches[i].level, machine.caches[i - 1].level);
        }
    }
    std::vector<int> cpus = device::pinnable_cpus(machine);
    EXPECT_EQ(cpus.size(), static_cast<size_t>(machine.cores));
    EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), cpus.size());
}

TEST(Machine, DetectionRespectsTheAffinityMask) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int allowed = device::pinnable_cpus(detect_machine()).back();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(allowed), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    Machine machine = detect_machine();
    std::vector<int> cpus = device::pinnable_cpus(machine);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(machine.cores, 1);
    EXPECT_EQ(cpus, std::vector<int>{allowed});
}

TEST(Machine, CeilingsAreMeasuredAndOrdered) {
    Machine machine = detect_machine();
    measure_ceilings(machine);
    EXPECT_GT(machine.ceilings.fma_flops_one_core, 1e8);
    EXPECT_GT(machine.ceilings.fma_flops_all_cores, 0.2 * machine.ceilings.fma_flops_one_core);
    EXPECT_GT(machine.ceilings.memory_read, 1e8);
    EXPECT_GT(machine.ceilings.memory_copy, 1e8);
    EXPECT_GT(machine.ceilings.memory_copy_one_core, 1e8);
    for (const CacheLevel& cache : machine.caches) EXPECT_GT(cache.read_bytes_per_second, 1e8) << cache.level;
}

TEST(Machine, MeasurementsComeFromTheCache) {
    TemporaryFolder folder;
    Setting cache("STROP_CACHE", folder.path().string());
    Machine machine = detect_machine();
    machine.ceilings = {1, 2, 3, 4, 5};
    machine.caches.front().read_bytes_per_second = 6;
    fs::path file = folder.path() / ("machine-" + machine.fingerprint + ".json");
    write_file(file, Json(machine).dump());
    Machine cached = measured_machine();
    EXPECT_EQ(cached.ceilings.fma_flops_one_core, 1);
    EXPECT_EQ(cached.ceilings.memory_copy_one_core, 5);
    EXPECT_EQ(cached.caches.front().read_bytes_per_second, 6);

    write_file(file, "{\"fingerprint\": ");
    Machine fresh = measured_machine();
    EXPECT_GT(fresh.ceilings.memory_copy, 1e8);
    EXPECT_EQ(Json::parse(read_file(file)).get<Machine>().ceilings.memory_copy, fresh.ceilings.memory_copy);
}

TEST(Machine, CeilingsAreRaisedAndNeverLowered) {
    TemporaryFolder folder;
    Setting cache("STROP_CACHE", folder.path().string());
    Machine machine = detect_machine();
    EXPECT_EQ(age_of_ceilings(machine), std::nullopt);
    machine.ceilings = {1, 1e18, 3, 1e18, 5};
    machine.caches.front().read_bytes_per_second = 1e18;
    raise_ceilings(machine);
    EXPECT_GT(machine.ceilings.fma_flops_one_core, 1e8);
    EXPECT_EQ(machine.ceilings.fma_flops_all_cores, 1e18);
    EXPECT_GT(machine.ceilings.memory_read, 1e8);
    EXPECT_EQ(machine.ceilings.memory_copy, 1e18);
    EXPECT_GT(machine.ceilings.memory_copy_one_core, 1e8);
    EXPECT_EQ(machine.caches.front().read_bytes_per_second, 1e18);
    EXPECT_GT(machine.caches.back().read_bytes_per_second, 1e8);
    EXPECT_EQ(measured_machine().ceilings.memory_read, machine.ceilings.memory_read);  // cached
    EXPECT_LT(age_of_ceilings(machine)->count(), 600);

    const fs::path file = folder.path() / ("machine-" + machine.fingerprint + ".json");
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(2));
    EXPECT_GT(age_of_ceilings(machine)->count(), 7000);
}

TEST(Machine, AnUnwritableCacheIsNoError) {
    Setting cache("STROP_CACHE", "/proc/no-folder-can-be-made-here");
    EXPECT_GT(measured_machine().ceilings.memory_copy, 1e8);
}

TEST(Tools, CompilersComeInOrderOfPreferenceAndOnce) {
    TemporaryFolder folder;
    write_program(folder.path() / "g++", "#!/bin/sh\necho 12.2.0\n");
    write_program(folder.path() / "clang++-19", "#!/bin/sh\necho 19.1.7\n");
    fs::create_symlink(folder.path() / "clang++-19", folder.path() / "clang++");
    write_program(folder.path() / "g++-12", "#!/bin/sh\nexit 1\n");
    Setting path("PATH", folder.path().string() + ":/bin");
    std::vector<Compiler> compilers = kernel_compilers();
    ASSERT_GE(compilers.size(), 2u);
    EXPECT_EQ(compilers[0].name, "clang");
    EXPECT_EQ(compilers[0].path, (folder.path() / "clang++-19").string());
    EXPECT_EQ(compilers[0].version, "19.1.7");
    EXPECT_EQ(compilers[1].name, "g++");
    EXPECT_EQ(compilers[1].path, (folder.path() / "g++").string());
    EXPECT_EQ(compilers[1].version, "12.2.0");
}

TEST(Tools, NoCompilerIsAnEmptyList) {
    TemporaryFolder folder;
    Setting path("PATH", folder.path().string());
    EXPECT_TRUE(kernel_compilers().empty());
    Machine machine = detect_machine();
    EXPECT_THROW(measure_ceilings(machine), EnvironmentError);
}

TEST(Tools, TheChosenPythonMustExistAndHaveNumpy) {
    TemporaryFolder folder;
    {
        Setting chosen("STROP_PYTHON", (folder.path() / "absent").string());
        EXPECT_THROW(reference_python(), EnvironmentError);
    }
    write_program(folder.path() / "bare", "#!/bin/sh\nexit 1\n");
    {
        Setting chosen("STROP_PYTHON", (folder.path() / "bare").string());
        EXPECT_THROW(reference_python(), EnvironmentError);
    }
    write_program(folder.path() / "good", "#!/bin/sh\nexit 0\n");
    Setting chosen("STROP_PYTHON", (folder.path() / "good").string());
    EXPECT_EQ(reference_python(), (folder.path() / "good").string());
}

TEST(Tools, TheOwnPythonComesBeforeTheSystems) {
    TemporaryFolder home, bin;
    Setting set_home("STROP_HOME", home.path().string());
    Setting set_python("STROP_PYTHON", "");
    Setting path("PATH", bin.path().string());
    EXPECT_THROW(reference_python(), EnvironmentError);
    write_program(bin.path() / "python3", "#!/bin/sh\nexit 0\n");
    EXPECT_EQ(reference_python(), (bin.path() / "python3").string());
    write_program(home.path() / ".venv" / "bin" / "python", "#!/bin/sh\nexit 0\n");
    EXPECT_EQ(reference_python(), (home.path() / ".venv" / "bin" / "python").string());
}

}  // namespace
}  // namespace strop
