#include "schedule/schedule.h"

#include <fmt/format.h>

#include "base/error.h"

namespace strop::schedule {

namespace {

template <typename Tensor>
const Tensor* find(const std::vector<Tensor>& tensors, const std::string& name) {
    for (const Tensor& tensor : tensors)
        if (tensor.name == name) return &tensor;
    return nullptr;
}

[[noreturn]] void unknown(const std::string& tensor) {
    throw UsageError(fmt::format("'{}' is not a tensor of the schedule", tensor),
                     "name an input, an output or a buffer");
}

}  // namespace

DType dtype_of(const Problem& problem, const Schedule& schedule, const std::string& tensor) {
    if (const Buffer* buffer = find(schedule.buffers, tensor)) return buffer->dtype;
    if (const Tensor* output = find(problem.outputs, tensor)) return output->dtype;
    if (const Tensor* input = find(problem.inputs, tensor)) return input->dtype;
    unknown(tensor);
}

}  // namespace strop::schedule
