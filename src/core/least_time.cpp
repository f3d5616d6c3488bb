#include "core/least_time.h"

#include <algorithm>

namespace strop {

namespace {

double tensor_bytes(const Problem& problem, const std::vector<Tensor>& tensors, const Dimensions& dims) {
    double bytes = 0;
    for (const Tensor& tensor : tensors) bytes += static_cast<double>(bytes_of(problem, tensor, dims));
    return bytes;
}

// Copied bytes move at the copy's rate, what is left over at the rate of reading.
double memory_seconds(const Ceilings& ceilings, const Work& work) {
    const double copied = 2 * std::min(work.read, work.written), rest = work.bytes() - copied;
    const double rest_rate = work.read > work.written ? ceilings.memory_read : ceilings.memory_copy;
    return copied / ceilings.memory_copy + rest / rest_rate;
}

// The first level that holds everything; null: none does.
const CacheLevel* holding_cache(const Machine& machine, double bytes) {
    for (const CacheLevel& cache : machine.caches) {
        const double whole =
            static_cast<double>(cache.bytes) * std::max(1, machine.cores / std::max(1, cache.shared_by));
        if (bytes <= whole && cache.read_bytes_per_second > 0) return &cache;
    }
    return nullptr;
}

bool is_of_doubles(const Problem& problem) {
    bool any = false;
    for (const std::vector<Tensor>* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) {
            if (is_floating(tensor.dtype) && tensor.dtype != DType::float64) return false;
            any = any || tensor.dtype == DType::float64;
        }
    return any;
}

}  // namespace

Work stated_work(const Problem& problem, const Dimensions& dims) {
    const Bindings bindings = bindings_of(problem, dims);
    Work work{tensor_bytes(problem, problem.inputs, dims), tensor_bytes(problem, problem.outputs, dims), 0};
    if (problem.bytes) {
        const double share = to_double(problem.bytes->evaluate(bindings)) / std::max(1.0, work.bytes());
        work.read *= share;
        work.written *= share;
    }
    if (is_of_doubles(problem)) work.width = 2;
    if (problem.flops) work.flops = to_double(problem.flops->evaluate(bindings));
    return work;
}

LeastTime least_time(const Machine& machine, const Work& work) {
    const Ceilings& ceilings = machine.ceilings;
    if (ceilings.memory_copy <= 0 || ceilings.memory_read <= 0 || ceilings.fma_flops_all_cores <= 0) return {};
    const CacheLevel* cache = holding_cache(machine, work.bytes());
    const double traffic = cache ? work.bytes() / cache->read_bytes_per_second : memory_seconds(ceilings, work);
    return {1e9 * traffic, 1e9 * work.flops * work.width / ceilings.fma_flops_all_cores, cache != nullptr};
}

}  // namespace strop
