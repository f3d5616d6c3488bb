// The machine that a run plans with: the worker's. Its ceilings are kept in the store: a resumed or replayed run plans
// with the same.
#pragma once

#include <string>

#include "core/machine.h"
#include "judge/worker_pool.h"
#include "knowledge/store.h"

namespace strop {

inline constexpr Seconds lasting_ceilings = std::chrono::hours(1);  // what a machine can do changes with its neighbours

class RunMachine {
public:
    // What the store has of the run; else the worker's, whose ceilings are measured again when they are old.
    // EnvironmentError when they cannot be measured, and when the run began on another machine than the worker's.
    RunMachine(Store& store, std::string run, judge::WorkerPool& worker);

    const Machine& machine() const { return machine_; }
    bool is_new() const { return is_new_; }  // nothing was planned with it yet
    void raise();                            // measured again; the higher figures are kept

private:
    void keep();
    void check_same_machine() const;

    Store& store_;
    judge::WorkerPool& worker_;
    std::string run_;
    Machine machine_;
    bool is_new_ = false;
};

// What kernels in OpenCL run on, "NAME, VERSION". UsageError where workers of elsewhere would run them.
std::string described_opencl_device(const judge::Workers& workers);

}  // namespace strop
