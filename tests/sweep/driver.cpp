// Calls a library's kernels under a sanitizer's run-time, which is preloaded. Each line of standard input is one call:
//
//   NAME TENSORS (i|o ELEMENT_BYTES COUNT)... PARAMETERS VALUE... DIMENSIONS VALUE...
//
// Each tensor is an allocation of just its size, so that what lies around it is forbidden ground. In every other call
// tensors begin one element further on, aligned to their element only. The name is written before the call.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Entry = void (*)(void* const* tensors, const double* parameters, const int64_t* dimensions);

struct Allocation {
    char* memory = nullptr;
    size_t lead = 0;  // bytes that belong to nobody
    void* tensor() const { return memory + lead; }
};

Allocation allocate(bool input, size_t element, size_t count, bool shifted) {
    Allocation made;
    made.lead = shifted ? element : 0;
    made.memory = static_cast<char*>(std::malloc(made.lead + element * count));
    uint32_t state = 1;
    for (size_t i = 0; input && i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        if (element == 1) made.memory[made.lead + i] = static_cast<char>(state >> 31);
        else if (element == 2)  // as bfloat16 and as float16 a normal number
            reinterpret_cast<uint16_t*>(made.tensor())[i] = static_cast<uint16_t>(0x3e00 + (state >> 24));
        else if (element == 8)
            reinterpret_cast<double*>(made.tensor())[i] = 0.1 + static_cast<double>(state >> 8) / 2e7;
        else reinterpret_cast<float*>(made.tensor())[i] = 0.1f + static_cast<float>(state >> 8) / 2e7f;
    }
    return made;
}

void call(Entry entry, std::istream& line, bool shifted) {
    size_t tensors = 0, parameters = 0, dimensions = 0, element = 0, count = 0;
    std::string direction;
    std::vector<Allocation> allocations;
    std::vector<void*> pointers;
    for (line >> tensors; tensors > 0; --tensors) {
        line >> direction >> element >> count;
        allocations.push_back(allocate(direction == "i", element, count, shifted));
        pointers.push_back(allocations.back().tensor());
    }
    line >> parameters;
    std::vector<double> values(parameters);
    for (double& value : values) line >> value;
    line >> dimensions;
    std::vector<int64_t> extents(dimensions);
    for (int64_t& extent : extents) line >> extent;
    for (int repeat = 0; repeat < 2; ++repeat)
        entry(pointers.data(), values.data(), extents.data());  // scratch is used
    for (const Allocation& allocation : allocations) std::free(allocation.memory);
}

}  // namespace

int main(int, char** arguments) {
    void* library = dlopen(arguments[1], RTLD_NOW);
    const Entry entry = library ? reinterpret_cast<Entry>(dlsym(library, "strop_call")) : nullptr;
    if (!entry) {
        std::cerr << dlerror() << '\n';
        return 2;
    }
    bool shifted = false;
    for (std::string text; std::getline(std::cin, text); shifted = !shifted) {
        std::istringstream line(text);
        std::string name;
        line >> name;
        std::cout << name << std::endl;
        call(entry, line, shifted);
    }
    return 0;
}
