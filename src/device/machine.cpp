#include "device/machine.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include <sys/utsname.h>
#include <unistd.h>

#include <hwloc.h>

#include "base/file.h"
#include "core/json.h"
#include "device/probe.h"
#include "device/target.h"

namespace strop {

namespace {

// Files of /proc have no size to read ahead by; absent ones are empty.
std::string slurp(const char* path) {
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// The part of the machine that the affinity mask leaves to this process.
class Topology {
public:
    Topology() {
        hwloc_topology_init(&topology_);
        hwloc_topology_set_flags(topology_,
                                 HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
        loaded_ = hwloc_topology_load(topology_) == 0;
    }
    ~Topology() { hwloc_topology_destroy(topology_); }
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;

    int count(hwloc_obj_type_t type) const {
        return loaded_ ? std::max(0, hwloc_get_nbobjs_by_type(topology_, type)) : 0;
    }

    // One processing unit of each core; where cores are not known, every processing unit.
    std::vector<int> cpus() const {
        std::vector<int> numbers;
        hwloc_obj_type_t type = count(HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
        for (int i = 0; i < count(type); ++i)
            numbers.push_back(
                hwloc_bitmap_first(hwloc_get_obj_by_type(topology_, type, static_cast<unsigned>(i))->cpuset));
        if (numbers.empty()) numbers.push_back(0);
        return numbers;
    }

    std::vector<CacheLevel> caches() const {
        std::vector<CacheLevel> levels;
        for (int level = 1; level <= 5; ++level) {
            hwloc_obj_type_t type = static_cast<hwloc_obj_type_t>(HWLOC_OBJ_L1CACHE + level - 1);
            if (count(type) == 0) continue;
            hwloc_obj_t cache = hwloc_get_obj_by_type(topology_, type, 0);
            if (!cache->attr || cache->attr->cache.size == 0) continue;
            int sharers = hwloc_get_nbobjs_inside_cpuset_by_type(topology_, cache->cpuset, HWLOC_OBJ_CORE);
            levels.push_back({level, static_cast<int64_t>(cache->attr->cache.size), std::max(1, sharers), 0});
        }
        return levels;
    }

private:
    hwloc_topology_t topology_ = nullptr;
    bool loaded_ = false;
};

// Some virtual machines hide their caches; this is what nearly every server core has at least.
std::vector<CacheLevel> guessed_caches(int cores) {
    return {{1, 32 << 10, 1, 0}, {2, 512 << 10, 1, 0}, {3, 8 << 20, cores, 0}};
}

std::string cpu_name(const std::string& cpuinfo, const std::string& architecture) {
    for (const char* key : {"model name", "Processor", "Model", "cpu model"}) {
        std::string name = device::cpuinfo_field(cpuinfo, key);
        if (!name.empty()) return name;
    }
    return architecture + " processor " + device::cpuinfo_field(cpuinfo, "CPU part");
}

fs::path cache_file(const Machine& machine) { return cache_folder() / ("machine-" + machine.fingerprint + ".json"); }

// Where it cannot be written, ceilings are measured again the next time.
void cache_ceilings(const Machine& machine) {
    try {
        write_file(cache_file(machine), Json(machine).dump(2) + "\n");
    } catch (const std::exception&) {
    }
}

// Takes the measurements over; false when there are none that fit.
bool load_ceilings(Machine& machine) {
    try {
        Machine cached = Json::parse(slurp(cache_file(machine).c_str())).get<Machine>();
        if (cached.fingerprint != machine.fingerprint || cached.ceilings.memory_copy <= 0) return false;
        if (cached.caches.size() != machine.caches.size()) return false;
        machine.ceilings = cached.ceilings;
        machine.caches = cached.caches;
        return true;
    } catch (const std::exception&) {
        return false;  // absent, cut off or edited by hand: measured afresh
    }
}

}  // namespace

std::vector<int> device::pinnable_cpus(const Machine& machine) {
    std::vector<int> cpus = Topology().cpus();
    if (cpus.size() > static_cast<size_t>(machine.cores)) cpus.resize(static_cast<size_t>(machine.cores));
    return cpus;
}

Machine detect_machine(const std::string& target) {
    Machine machine;
    utsname names = {};
    uname(&names);
    machine.architecture = names.machine;
    std::string cpuinfo = slurp("/proc/cpuinfo");
    machine.cpu = cpu_name(cpuinfo, machine.architecture);
    const std::set<std::string> features = device::cpu_flags(cpuinfo);
    device::set_vectors(machine, features);
    machine.page_bytes = sysconf(_SC_PAGESIZE);
    machine.memory_bytes = sysconf(_SC_PHYS_PAGES) * machine.page_bytes;

    Topology topology;
    machine.cores = static_cast<int>(topology.cpus().size());
    device::GroupLimits limits = device::group_limits(slurp("/proc/self/cgroup"), "/sys/fs/cgroup");
    if (limits.cpus > 0) machine.cores = std::clamp(static_cast<int>(limits.cpus), 1, machine.cores);
    if (limits.memory_bytes > 0) machine.memory_bytes = std::min(machine.memory_bytes, limits.memory_bytes);
    machine.caches = topology.caches();
    if (machine.caches.empty()) machine.caches = guessed_caches(machine.cores);
    machine.fingerprint = device::fingerprint_of(machine);
    return as_target(std::move(machine), features, target);
}

Machine measured_machine(const std::string& target) {
    Machine machine = detect_machine(target);
    if (load_ceilings(machine)) return machine;
    measure_ceilings(machine);
    cache_ceilings(machine);
    return machine;
}

void raise_ceilings(Machine& machine) {
    Machine now = machine;
    measure_ceilings(now);
    for (double Ceilings::* rate : {&Ceilings::fma_flops_one_core, &Ceilings::fma_flops_all_cores,
                                    &Ceilings::memory_read, &Ceilings::memory_copy, &Ceilings::memory_copy_one_core})
        machine.ceilings.*rate = std::max(machine.ceilings.*rate, now.ceilings.*rate);
    for (size_t i = 0; i < machine.caches.size(); ++i) {
        double& rate = machine.caches[i].read_bytes_per_second;
        rate = std::max(rate, now.caches[i].read_bytes_per_second);
    }
    cache_ceilings(machine);
}

void forget_ceilings(const Machine& machine) {
    std::error_code ignored;
    fs::remove(cache_file(machine), ignored);
}

std::optional<Seconds> age_of_ceilings(const Machine& machine) {
    std::error_code none;
    const fs::file_time_type written = fs::last_write_time(cache_file(machine), none);
    if (none) return std::nullopt;
    return Seconds(fs::file_time_type::clock::now() - written);
}

}  // namespace strop
