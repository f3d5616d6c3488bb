#include "judge/device_mirror.h"

#include <algorithm>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/strings.h"
#include "judge/check.h"

namespace strop::judge {

namespace {

constexpr int64_t alignment = 256, guard_bytes = 4096;
constexpr int64_t looked_at_again = 2 << 20;  // bytes, from either end of an output
constexpr size_t most_copies = 8;             // each takes as long as a MiB or so
constexpr int64_t copied_at_once = 4 << 20;
constexpr int answers = 64;
constexpr int64_t l2_times = 2;  // so much of other memory is written to make the tensors cold

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Of {offset, bytes} those that lie in a region. Many that lie near each other are one.
std::vector<std::pair<int64_t, int64_t>> within(const std::vector<std::pair<int64_t, int64_t>>& ranges, int64_t begin,
                                                int64_t bytes) {
    std::vector<std::pair<int64_t, int64_t>> found;
    int64_t first = begin + bytes, end = begin;
    for (const auto& range : ranges) {
        if (range.first < begin || range.first + range.second > begin + bytes) continue;
        found.push_back(range);
        first = std::min(first, range.first);
        end = std::max(end, range.first + range.second);
    }
    if (found.size() > most_copies && end - first <= copied_at_once) found = {{first, end - first}};
    return found;
}

std::pair<int64_t, int64_t> key_of(const Place& place) { return {place.begin, place.data}; }

}  // namespace

// Inputs of the timed set lie in rows, of which a window is a part: the row is mirrored.
DeviceMirror::DeviceMirror(const Problem& problem, Buffers& buffers, int device)
    : problem_(problem),
      buffers_(buffers),
      device_(device) {
    std::string why;
    driver_ = CudaDriver::open(why);
    if (!driver_) throw EnvironmentError("no CUDA device: " + why);
    const int64_t row = std::max<int64_t>(0, buffers.windows() - 1) * window_stride;
    for (size_t s = buffers.sets().size(); s-- > 0;) {  // the timed set first
        const InputSet& set = buffers.sets()[s];
        for (const Place& place : set.inputs) add(inputs_, place, s == buffers.timed() ? row : 0);
        for (const Place& place : set.outputs) add(outputs_, place, 0);
    }
    for (int64_t slot = 0; slot < buffers.slots(); ++slot)
        for (const Place& place : buffers.slot(slot)) add(outputs_, place, 0);
    bytes_ = round_up(bytes_, static_cast<int64_t>(driver_->granularity(device)));
    CudaResult result = driver_->use(device);
    if (!result) result = driver_->allocate(device, static_cast<size_t>(bytes_), base_, fd_);
    if (result) {
        size_t free = 0, total = 0;
        driver_->free_memory(free, total);
        throw EnvironmentError(
            fmt::format("{}: cannot get {} of its memory for {}: {} ({} are free)", driver_->name(device),
                        human_bytes(static_cast<double>(bytes_)), strop::describe(buffers.point().dims),
                        driver_->describe(result), human_bytes(static_cast<double>(free))),
            "use smaller shapes, or end what else uses the device");
    }
    wipe_outputs();
    for (SharedMemory* memory : {&buffers.inputs(), &buffers.outputs()})
        if (!driver_->pin(memory->data(), static_cast<size_t>(memory->bytes()))) pinned_.push_back(memory->data());
}

DeviceMirror::~DeviceMirror() {
    for (void* memory : pinned_) driver_->unpin(memory);
    if (base_) driver_->release(base_, static_cast<size_t>(bytes_));
    if (fd_ >= 0) ::close(fd_);
}

// With a guard before and behind it. Places of several sets may be one.
void DeviceMirror::add(std::map<std::pair<int64_t, int64_t>, Region>& regions, const Place& place, int64_t slack) {
    const auto known = regions.find(key_of(place));
    if (known != regions.end()) return;
    Region region;
    region.host = place.data - slack;
    region.bytes = place.data_bytes + slack;
    region.offset = round_up(bytes_ + guard_bytes + slack, alignment) - slack;
    bytes_ = region.offset + region.bytes + guard_bytes;
    regions[key_of(place)] = region;
}

int64_t DeviceMirror::input_offset(size_t set, size_t tensor) const {
    const Place& place = buffers_.sets()[set].inputs[tensor];
    const Region& region = inputs_.at(key_of(place));
    return region.offset + (place.data - region.host);
}

int64_t DeviceMirror::output_offset(const Place& place) const { return outputs_.at(key_of(place)).offset; }

std::string DeviceMirror::send() {
    const BufferChanges changes = buffers_.take_changes();
    CudaResult result = 0;
    for (const auto& [key, region] : inputs_) {
        const char* host = buffers_.inputs().data();
        if (changes.all_inputs && !result)
            result = driver_->to_device(at(region.offset), host + region.host, static_cast<size_t>(region.bytes));
        for (const auto& [begin, bytes] : within(changes.inputs, region.host, region.bytes))
            if (!result)
                result = driver_->to_device(at(region.offset + begin - region.host), host + begin,
                                            static_cast<size_t>(bytes));
    }
    for (const Place& place : changes.poisoned) {
        const Region& region = outputs_.at(key_of(place));
        const auto fill = [&](int64_t offset, unsigned char value, int64_t bytes) {
            if (!result && bytes > 0) result = driver_->fill(at(offset), value, static_cast<size_t>(bytes));
        };
        fill(region.offset - guard_bytes, slack_byte, guard_bytes);
        fill(region.offset, poison_byte, region.bytes);
        fill(region.offset + region.bytes, slack_byte, guard_bytes);
    }
    if (!result) result = driver_->synchronize();
    return result ? driver_->describe(result) : "";
}

std::string DeviceMirror::fetch(const std::vector<Place>& outputs) {
    for (const Place& place : outputs) {
        const Region& region = outputs_.at(key_of(place));
        const size_t bytes = static_cast<size_t>(region.bytes), guard = static_cast<size_t>(guard_bytes);
        fetched_.resize(2 * guard);
        CudaResult result = driver_->to_host(buffers_.outputs().data() + place.data, at(region.offset), bytes);
        if (!result) result = driver_->to_host(fetched_.data(), at(region.offset - guard_bytes), guard);
        if (!result) result = driver_->to_host(fetched_.data() + guard, at(region.offset + region.bytes), guard);
        if (result) return "an output cannot be read from the device: " + driver_->describe(result);
        const auto first =
            std::find_if(fetched_.begin(), fetched_.end(), [](char c) { return c != static_cast<char>(slack_byte); });
        if (first == fetched_.end()) continue;
        return first - fetched_.begin() < guard_bytes ? "wrote before the beginning of an output"
                                                      : "wrote behind the end of an output";
    }
    return {};
}

std::string DeviceMirror::fetch_again(const std::vector<Place>& outputs) {
    CudaResult result = 0;
    for (const Place& place : outputs) {
        const Region& region = outputs_.at(key_of(place));
        const auto copy = [&](int64_t begin, int64_t bytes) {
            if (!result)
                result = driver_->to_host(buffers_.outputs().data() + place.data + begin, at(region.offset + begin),
                                          static_cast<size_t>(bytes));
        };
        if (region.bytes <= 2 * looked_at_again) {
            copy(0, region.bytes);
        } else {
            copy(0, looked_at_again);
            copy(region.bytes - looked_at_again, looked_at_again);
        }
    }
    return result ? "an output cannot be read from the device: " + driver_->describe(result) : "";
}

std::string DeviceMirror::changed_input(size_t set) {
    for (size_t t = 0; t < problem_.inputs.size(); ++t) {
        const Place& place = buffers_.sets()[set].inputs[t];
        fetched_.resize(static_cast<size_t>(place.data_bytes));
        if (driver_->to_host(fetched_.data(), at(input_offset(set, t)), fetched_.size()))
            return problem_.inputs[t].name;
        if (std::memcmp(fetched_.data(), buffers_.inputs().data() + place.data, fetched_.size()) != 0)
            return problem_.inputs[t].name;
    }
    return {};
}

void DeviceMirror::wipe_outputs() {
    for (const auto& [key, region] : outputs_)
        driver_->fill(at(region.offset - guard_bytes), 0, static_cast<size_t>(region.bytes + 2 * guard_bytes));
    driver_->synchronize();
}

std::vector<double> DeviceMirror::answers_ns() {
    std::vector<double> took;
    for (int i = 0; i < answers; ++i) {
        const Clock::time_point start = Clock::now();
        if (driver_->run_nothing()) return {};
        took.push_back(1e9 * seconds_since(start));
    }
    return took;
}

// The memory that is written for it is one for all mirrors of a device, and lives as long as the process.
bool DeviceMirror::make_cold() {
    struct Other {
        DevicePointer at = 0;
        size_t bytes = 0;
    };
    static std::map<int, Other> others;
    Other& other = others[device_];
    if (other.bytes == 0) {
        const int64_t wanted = l2_times * driver_->attribute(CudaAttribute::l2_bytes, device_);
        other.bytes = static_cast<size_t>(round_up(wanted, static_cast<int64_t>(driver_->granularity(device_))));
        int fd = -1;
        if (driver_->allocate(device_, other.bytes, other.at, fd)) other.at = 0;
        if (fd >= 0) ::close(fd);
    }
    return other.at && !driver_->fill(other.at, 0, other.bytes) && !driver_->synchronize();
}

}  // namespace strop::judge
