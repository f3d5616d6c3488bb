#include "run/waiting_workers.h"

#include "problem/memory.h"

namespace strop {

namespace {

constexpr double least_available = 0.5;  // of what there was: the others' tensors need room, too

}  // namespace

WaitingWorkers::WaitingWorkers() : available_bytes_(available_bytes()) {}

void WaitingWorkers::keep(const std::string& run, std::unique_ptr<judge::WorkerPool> workers) {
    const std::optional<double> now = available_bytes();
    if (now && available_bytes_ && *now < least_available * *available_bytes_) return;
    kept_[run] = std::move(workers);
}

std::unique_ptr<judge::WorkerPool> WaitingWorkers::take(const std::string& run) {
    const auto found = kept_.find(run);
    if (found == kept_.end()) return nullptr;
    std::unique_ptr<judge::WorkerPool> workers = std::move(found->second);
    kept_.erase(found);
    return workers;
}

}  // namespace strop
