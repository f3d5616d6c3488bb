// The buffers of one shape point once more, in the memory of a CUDA device: kernels there get these. The referee writes
// and reads Buffers as ever; what it changed is sent before a call, and what a call has written is fetched when it is
// looked at. Regions lie apart, with guards of a pattern, and data is aligned to 256 bytes (the timed set's windows to
// 64).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_driver.h"
#include "judge/buffers.h"

namespace strop::judge {

class DeviceMirror {
public:
    // EnvironmentError when the device has not enough memory. `buffers` must outlive it.
    DeviceMirror(const Problem& problem, Buffers& buffers, int device);
    ~DeviceMirror();
    DeviceMirror(const DeviceMirror&) = delete;
    DeviceMirror& operator=(const DeviceMirror&) = delete;

    int fd() const { return fd_; }  // of all of the memory
    int64_t bytes() const { return bytes_; }
    // From the beginning of the memory: of a tensor of a set of Buffers, or of an output of a slot.
    int64_t input_offset(size_t set, size_t tensor) const;
    int64_t output_offset(const Place& place) const;

    // Everything that Buffers has changed since the last time. The phrase of the driver where it fails; else empty.
    std::string send();
    // An output's bytes into Buffers. Says what is wrong with the guards; else empty.
    std::string fetch(const std::vector<Place>& outputs);
    // Of large outputs some MiB only, which tell whether somebody goes on writing.
    std::string fetch_again(const std::vector<Place>& outputs);
    // Of a set, compared with what was sent: "x", the first input that is not as it was; empty: all are.
    std::string changed_input(size_t set);
    // Nothing is left of what another process may have put into the outputs.
    void wipe_outputs();
    // What the device takes to run a kernel that does nothing for the referee, as several tries in a row took it. Empty
    // where it runs none.
    std::vector<double> answers_ns();
    // No line of the tensors is in the device's L2 afterwards. False where the device has no memory for that.
    bool make_cold();

private:
    struct Region {
        int64_t host = 0, bytes = 0;  // of what is mirrored: in the memory file of Buffers
        int64_t offset = 0;           // on the device
    };

    void add(std::map<std::pair<int64_t, int64_t>, Region>& regions, const Place& place, int64_t slack);
    DevicePointer at(int64_t offset) const { return base_ + static_cast<DevicePointer>(offset); }

    const Problem& problem_;
    Buffers& buffers_;
    const CudaDriver* driver_ = nullptr;
    std::map<std::pair<int64_t, int64_t>, Region> inputs_, outputs_;  // by a place's region and data
    int device_ = 0;
    int64_t bytes_ = 0;
    DevicePointer base_ = 0;
    int fd_ = -1;
    std::vector<char> fetched_;
    std::vector<void*> pinned_;  // memory files of Buffers
};

}  // namespace strop::judge
