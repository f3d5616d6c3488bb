#include "judge/candidate.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "device/cuda_driver.h"
#include "judge/parallel_for.h"
#include "judge/processor_state.h"
#include "judge/protocol.h"

namespace strop::judge {

namespace {

constexpr int requests_fd = 3, replies_fd = 4;
constexpr size_t guard_bytes = 1 << 21;  // also keeps regions of huge pages apart

struct Region {
    int64_t begin, bytes, data;
};

struct Point {
    int input_fd, output_fd;
    int64_t windows, stride_bytes;
    const int64_t* dims;
    std::vector<std::vector<Region>> inputs, outputs;  // [set][tensor]
    std::vector<std::vector<Region>> slots;            // [slot][output]
    std::vector<std::vector<void*>> tensors;           // [set], inputs then outputs; empty before prepare
    std::vector<std::vector<void*>> slot_outputs;      // [slot][output]
};

void read_all(void* data, size_t size) {
    char* at = static_cast<char*>(data);
    while (size > 0) {
        ssize_t n = ::read(requests_fd, at, size);
        if (n <= 0) std::_Exit(0);
        at += n;
        size -= static_cast<size_t>(n);
    }
}

void write_all(const void* data, size_t size) {
    if (::write(replies_fd, data, size) != static_cast<ssize_t>(size)) std::_Exit(0);
}

void answer(int status, int64_t inside = 0, const std::string& text = {}) {
    Reply reply;
    reply.status = status;
    reply.inside_nanoseconds = inside;
    reply.payload_bytes = static_cast<uint32_t>(text.size());
    write_all(&reply, sizeof reply);
    if (!text.empty()) write_all(text.data(), text.size());
}

// From now on nobody maps anything else there, and its rights stay (mseal(2), Linux 6.10). Elsewhere it stays as it is,
// and the referee has to notice.
void seal(const void* at, size_t bytes) {
    constexpr long mseal = 462;
    ::syscall(mseal, at, bytes, 0);
}

// What was loaded before the kernel: its code, and the tables of functions that the loader has made read-only.
void seal_loaded() {
    if (std::getenv("LD_PRELOAD")) return;  // a sanitizer's run-time, which changes itself
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void*) {
            constexpr uintptr_t page = 4096;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& part = info->dlpi_phdr[i];
                const bool fixed = part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && !(part.p_flags & PF_W));
                if (!fixed) continue;
                const uintptr_t begin = (info->dlpi_addr + part.p_vaddr) / page * page,
                                end = (info->dlpi_addr + part.p_vaddr + part.p_memsz) / page * page;
                if (begin < end) seal(reinterpret_cast<const void*>(begin), end - begin);
            }
            return 0;
        },
        nullptr);
}

// In pieces, as the sandbox wants it, on all cores. Reading maps several small pages at a time, writing one; where the
// first has mapped them for writing too, the second finds nothing to do.
void touch(char* at, size_t bytes, int protection) {
    constexpr size_t piece = 16 << 20;
    constexpr int populate_read = 22, populate_write = 23;  // MADV_...
    parallel_for(static_cast<int64_t>((bytes + piece - 1) / piece), 1, [&](int64_t first, int64_t last) {
        for (size_t i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
            const size_t begin = i * piece, size = std::min(piece, bytes - begin);
            ::madvise(at + begin, size, populate_read);
            if (protection & PROT_WRITE) ::madvise(at + begin, size, populate_write);
        }
    });
}

// The region between two guards that nobody may touch.
char* map_region(int fd, const Region& region, int protection) {
    size_t bytes = static_cast<size_t>(region.bytes);
    size_t huge = 1 << 21;
    size_t whole = bytes + 2 * guard_bytes + huge;
    char* reserve =
        static_cast<char*>(::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (reserve == MAP_FAILED) give_up("no address space for the buffers");
    // The same offset within a huge page as in the file, so that huge pages can be mapped.
    size_t wanted = static_cast<size_t>(region.begin) % huge;
    size_t base = reinterpret_cast<size_t>(reserve) + guard_bytes;
    base += (wanted + huge - base % huge) % huge;
    void* at = ::mmap(reinterpret_cast<void*>(base), bytes, protection, MAP_SHARED | MAP_FIXED, fd, region.begin);
    if (at == MAP_FAILED) give_up("cannot map a buffer");
    struct stat file;
    if (::fstat(fd, &file) == 0 && static_cast<size_t>(file.st_blksize) >= huge) ::madvise(at, bytes, MADV_HUGEPAGE);
    touch(static_cast<char*>(at), bytes, protection);
    seal(at, bytes);
    return static_cast<char*>(at);
}

// A GPU that the kernel's tensors lie on, and the stream that it launches on. There is none for kernels of the host.
class Gpu {
public:
    explicit Gpu(int device) : device_(device) {
        if (device < 0) return;
        std::string why;
        driver_ = CudaDriver::open(why);
        if (!driver_) give_up(why.c_str());
        check(driver_->use(device), "its device cannot be used");
        check(driver_->make_stream(stream_), "no stream");
    }

    bool is_there() const { return driver_ != nullptr; }
    char* import(int fd, int64_t bytes) const {
        DevicePointer at = 0;
        check(driver_->import(device_, fd, static_cast<size_t>(bytes), at), "the tensors cannot be mapped");
        return reinterpret_cast<char*>(at);
    }

    void take_library(void* library) {
        if (!driver_) return;
        void* stream = ::dlsym(library, "strop_stream");
        void* error = ::dlsym(library, "strop_launch_error");
        if (!stream || !error) give_up(::dlerror());
        *static_cast<void**>(stream) = stream_;
        launch_error_ = reinterpret_cast<const char* (*)()>(error);
    }

    // What a kernel did wrong on the device is told by the first call that waits for it.
    void finish() const {
        if (!driver_) return;
        check(driver_->synchronize(stream_), "a kernel on the device");
        const char* error = launch_error_ ? launch_error_() : nullptr;
        if (!error) return;
        std::fprintf(stderr, "a launch: %s\n", error);
        std::_Exit(gpu_failed);
    }

private:
    void check(CudaResult result, const char* what) const {
        if (result == 0) return;
        std::fprintf(stderr, "%s: %s\n", what, driver_->describe(result).c_str());
        std::_Exit(gpu_failed);
    }

    int device_;
    const CudaDriver* driver_ = nullptr;
    void* stream_ = nullptr;
    const char* (*launch_error_)() = nullptr;
};

// Sets may share regions: each is mapped once.
class Mapping {
public:
    Mapping(int fd, int protection, const Gpu& gpu) : fd_(fd), protection_(protection), gpu_(gpu) {}
    void* at(const Region& region) {
        for (auto& [begin, address] : mapped_)
            if (begin == region.begin) return address + (region.data - region.begin);
        mapped_.emplace_back(region.begin,
                             gpu_.is_there() ? gpu_.import(fd_, region.bytes) : map_region(fd_, region, protection_));
        return mapped_.back().second + (region.data - region.begin);
    }

private:
    int fd_, protection_;
    const Gpu& gpu_;
    std::vector<std::pair<int64_t, char*>> mapped_;
};

void prepare(Point& point, const Gpu& gpu) {
    if (!point.tensors.empty()) return;
    Mapping inputs(point.input_fd, PROT_READ, gpu), outputs(point.output_fd, PROT_READ | PROT_WRITE, gpu);
    for (size_t set = 0; set < point.inputs.size(); ++set) {
        std::vector<void*> tensors;
        for (const Region& region : point.inputs[set]) tensors.push_back(inputs.at(region));
        for (const Region& region : point.outputs[set]) tensors.push_back(outputs.at(region));
        point.tensors.push_back(tensors);
    }
    for (const std::vector<Region>& slot : point.slots) {
        point.slot_outputs.emplace_back();
        for (const Region& region : slot) point.slot_outputs.back().push_back(outputs.at(region));
    }
}

int64_t now() {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

struct Layout {
    std::vector<int64_t> words;
    const int64_t* at;
    int64_t inputs, outputs;
    std::vector<double> parameters;
    std::vector<int64_t> late_values;
    std::vector<Point> points;
    int device = -1;
    std::atomic<int64_t>* progress = nullptr;

    explicit Layout(int fd) {
        struct stat info;
        if (::fstat(fd, &info) != 0) give_up("no layout");
        words.resize(static_cast<size_t>(info.st_size) / 8);
        if (::pread(fd, words.data(), words.size() * 8, 0) != static_cast<ssize_t>(words.size() * 8) ||
            words.size() < 9 || words[0] != layout_magic)
            give_up("a broken layout");
        at = words.data() + 1;
        int64_t count = *at++;
        inputs = *at++;
        outputs = *at++;
        int64_t parameter_count = *at++, dimension_count = *at++, late_count = *at++;
        void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(*at++), 0);
        if (page == MAP_FAILED) give_up("cannot map a page");
        device = static_cast<int>(*at++);
        seal(page, 4096);
        progress = static_cast<std::atomic<int64_t>*>(page);
        parameters.resize(static_cast<size_t>(parameter_count));
        std::memcpy(parameters.data(), at, parameters.size() * 8);
        at += parameter_count;
        late_values.assign(at, at + late_count);
        at += late_count;
        for (int64_t i = 0; i < count; ++i) points.push_back(read_point(dimension_count));
    }

    Point read_point(int64_t dimension_count) {
        Point point;
        point.input_fd = static_cast<int>(*at++);
        point.output_fd = static_cast<int>(*at++);
        int64_t sets = *at++;
        point.windows = *at++;
        point.stride_bytes = *at++;
        int64_t slots = *at++;
        point.dims = at;
        at += dimension_count;
        for (int64_t set = 0; set < sets; ++set) point.inputs.push_back(regions(inputs));
        for (int64_t set = 0; set < sets; ++set) point.outputs.push_back(regions(outputs));
        for (int64_t slot = 0; slot < slots; ++slot) point.slots.push_back(regions(outputs));
        return point;
    }

    // Bytes of a call's tensors at the largest point, in whole pages.
    size_t largest_call() const {
        int64_t largest = 0;
        for (const Point& point : points) {
            int64_t bytes = 0;
            for (const Region& region : point.inputs.front()) bytes += region.bytes;
            for (const Region& region : point.outputs.front()) bytes += region.bytes;
            largest = std::max(largest, bytes);
        }
        return static_cast<size_t>(largest);
    }

    std::vector<Region> regions(int64_t count) {
        std::vector<Region> result;
        for (int64_t i = 0; i < count; ++i, at += 3) result.push_back({at[0], at[1], at[2]});
        return result;
    }
};

// Every call of a batch on the timed set finds other inputs, a window further on, and writes to another slot.
class Arguments {
public:
    Arguments(const Layout& layout, const Point& point, const Request& request)
        : point_(point),
          inputs_(static_cast<size_t>(layout.inputs)),
          first_(point.tensors[request.set]),
          next_(first_),
          moves_(point.windows > 0 && request.set + 1 == point.tensors.size()),
          window_(request.window) {}

    void* const* next() {
        if (!moves_) return first_.data();
        for (size_t t = 0; t < inputs_; ++t) next_[t] = static_cast<char*>(first_[t]) - window_ * point_.stride_bytes;
        const std::vector<void*>& outputs = point_.slot_outputs[slot_];
        for (size_t t = 0; t < outputs.size(); ++t) next_[inputs_ + t] = outputs[t];
        if (++window_ == point_.windows) window_ = 0;
        if (++slot_ == point_.slot_outputs.size()) slot_ = 0;
        return next_.data();
    }

private:
    const Point& point_;
    size_t inputs_;
    std::vector<void*> first_, next_;
    bool moves_;
    int64_t window_;
    size_t slot_ = 0;
};

// AddressSanitizer's, where its run-time was loaded: what lies before a tensor of a checking set is nobody's.
class Surroundings {
public:
    Surroundings(const Point& point, uint32_t set) : point_(point), set_(set) { each(forbid_); }
    ~Surroundings() { each(allow_); }
    Surroundings(const Surroundings&) = delete;
    Surroundings& operator=(const Surroundings&) = delete;

private:
    using Mark = void (*)(const volatile void*, size_t);
    static Mark find(const char* name) { return reinterpret_cast<Mark>(::dlsym(RTLD_DEFAULT, name)); }

    void each(Mark mark) const {
        if (!mark || set_ + 1 == point_.inputs.size()) return;  // the timed set is a row of windows
        const std::vector<void*>& tensors = point_.tensors[set_];
        size_t next = 0;
        for (const auto* regions : {&point_.inputs[set_], &point_.outputs[set_]})
            for (const Region& region : *regions) {
                const int64_t before = region.data - region.begin;
                mark(static_cast<char*>(tensors[next++]) - before, static_cast<size_t>(before));
            }
    }

    static inline const Mark forbid_ = find("__asan_poison_memory_region"),
                             allow_ = find("__asan_unpoison_memory_region");
    const Point& point_;
    uint32_t set_;
};

int64_t call_batch(Entry entry, const Layout& layout, const Point& point, const Request& request, const Gpu& gpu) {
    const Surroundings surroundings(point, request.set);
    Arguments arguments(layout, point, request);
    int64_t start = now();
    for (uint32_t i = 0; i < request.calls; ++i) {
        entry(arguments.next(), layout.parameters.data(), point.dims);
        layout.progress->store(i + 1, std::memory_order_release);
    }
    gpu.finish();
    return now() - start;
}

// Memory as a long-lived process has it: what malloc gives is not zero. As floats every other one is a NaN, and the
// others are so small that products with them are subnormal. Who counts on zeros is wrong then, and who computes with
// memory that it has not written is slow, as in its user's process. Every process of a kernel pays for it, so it is as
// much as a few times the tensors of a call.
void leave_used_memory(size_t tensor_bytes) {
    constexpr uint64_t pattern = 0xffffffff'80808080;            // by words
    constexpr size_t largest = 8 << 20, block_bytes = 64 << 10;  // up to the largest, glibc takes from what was freed
    constexpr size_t least_blocks = 4, most_blocks = 64, times_the_tensors = 4;
    if (std::getenv("LD_PRELOAD")) return;  // a sanitizer's own malloc
    void* volatile freed = std::malloc(largest);
    std::free(freed);
    std::vector<void*> blocks(std::clamp(times_the_tensors * tensor_bytes / block_bytes, least_blocks, most_blocks));
    for (void*& block : blocks) {
        block = std::malloc(block_bytes);
        if (!block) continue;
        for (size_t i = 0; i < block_bytes / sizeof pattern; ++i) static_cast<uint64_t*>(block)[i] = pattern;
    }
    for (void* block : blocks) std::free(block);
}

}  // namespace

void give_up(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(no_kernel_loaded);
}

struct Candidate::Parts {
    Layout layout;
    Gpu gpu;

    explicit Parts(int layout_fd) : layout(layout_fd), gpu(layout.device) {}
};

Candidate::Candidate(int layout_fd) : parts_(new Parts(layout_fd)) {
    seal_loaded();
    leave_used_memory(parts_->layout.largest_call());
}

void Candidate::take_library(void* library) {
    const std::vector<int64_t>& values = parts_->layout.late_values;
    if (!values.empty()) {
        void* late = ::dlsym(library, "strop_late");
        if (!late) give_up(::dlerror());
        std::memcpy(late, values.data(), values.size() * 8);
    }
    parts_->gpu.take_library(library);
}

int64_t Candidate::point_at(const int64_t* dimensions) const {
    const std::vector<Point>& points = parts_->layout.points;
    for (size_t i = 0; i < points.size(); ++i)
        if (points[i].dims == dimensions) return static_cast<int64_t>(i);
    return -1;
}

void Candidate::serve(Entry entry) {
    Layout& layout = parts_->layout;
    ProcessorState entered;
    while (true) {
        Request request;
        read_all(&request, sizeof request);
        entered.take_present_cores();  // the referee may have bound or released the thread
        if (request.op == Op::quit) std::_Exit(0);
        Point& point = layout.points.at(request.point);
        prepare(point, parts_->gpu);
        layout.progress->store(0, std::memory_order_release);
        int64_t inside = request.op == Op::call ? call_batch(entry, layout, point, request, parts_->gpu) : 0;
        const char* changed = entered.changes();
        if (changed) ControlRegisters::restore();
        answer(changed ? 3 : 0, inside, changed ? changed : "");
    }
}

}  // namespace strop::judge
