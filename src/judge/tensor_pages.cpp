#include "judge/tensor_pages.h"

#include <filesystem>
#include <utility>

#include "base/file.h"
#include "device/machine.h"
#include "problem/framework.h"

namespace strop::judge {

namespace {

bool given_unasked() {
    const std::filesystem::path setting = "/sys/kernel/mm/transparent_hugepage/enabled";
    return std::filesystem::exists(setting) && read_file(setting).find("[always]") != std::string::npos;
}

// Its baseline in PyTorch or JAX runs here: the result is called beside it, with its tensors.
bool beside_a_framework(const Problem& problem) {
    for (const auto& [baseline, package] : {std::pair{"pytorch", "torch"}, {"jax", "jax"}})
        for (const std::filesystem::path& file : problem.baselines)
            if (file.stem() == baseline && file.extension() == ".py" &&
                interpreter(reference_python()).packages.contains(package))
                return true;
    return false;
}

}  // namespace

SharedMemory::Pages tensor_pages(const Problem& problem) {
    const bool huge = given_unasked() || (framework_of(problem.reference) == "numpy" && !beside_a_framework(problem));
    return huge ? SharedMemory::Pages::huge : SharedMemory::Pages::small;
}

}  // namespace strop::judge
