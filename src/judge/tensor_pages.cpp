#include "judge/tensor_pages.h"

#include <filesystem>

#include "base/file.h"
#include "problem/framework.h"

namespace strop::judge {

namespace {

bool given_unasked() {
    const std::filesystem::path setting = "/sys/kernel/mm/transparent_hugepage/enabled";
    return std::filesystem::exists(setting) && read_file(setting).find("[always]") != std::string::npos;
}

}  // namespace

SharedMemory::Pages tensor_pages(const Problem& problem) {
    const bool huge = framework_of(problem.reference) == "numpy" || given_unasked();
    return huge ? SharedMemory::Pages::huge : SharedMemory::Pages::small;
}

}  // namespace strop::judge
