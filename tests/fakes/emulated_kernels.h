// Kernels in CUDA C++, compiled for the emulator and called in processes of their own.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "fakes/typed_memory.h"
#include "language/contract.h"
#include "language/cpp.h"
#include "language/cuda_emulator.h"
#include "language/cuda_source.h"

namespace strop {

class EmulatedKernels {
public:
    explicit EmulatedKernels(const Machine& machine) : toolchain_(machine) {}

    static bool can_be_built() {
        for (const Compiler& compiler : kernel_compilers())
            if (compiler.name == emulator_compiler) return true;
        return false;
    }

    std::vector<Built> build(const Problem& problem, const std::vector<std::string>& sources,
                             const std::vector<Configuration>& configurations = {}) {
        std::vector<Build> builds;
        for (size_t i = 0; i < sources.size(); ++i) {
            Build one;
            one.source = emulated_cuda(sources[i], "kernel.cu");
            one.space = parse_tunables(sources[i], "kernel.cu");
            one.configuration = i < configurations.size() ? configurations[i] : default_configuration(one.space);
            one.emulated = true;
            builds.push_back(one);
        }
        const fs::path folder = folder_.path() / problem.name;
        fs::create_directories(folder);
        return toolchain_.build(problem, builds, folder, 2);
    }

    struct Result {
        std::optional<EmulatorFinding> finding;
        std::string said;  // on standard error
        int status = 0;    // how its process ended
        std::vector<std::vector<double>> outputs;
    };

    // `inputs`: in row-major order; outputs are filled with NaN before.
    static Result call(const Problem& problem, const Built& built, const Dimensions& dims,
                       const std::vector<std::vector<double>>& inputs) {
        std::vector<void*> tensors;
        std::vector<size_t> counts;
        const auto add = [&](const Tensor& tensor) {
            counts.push_back(static_cast<size_t>(element_count(problem, tensor, dims)));
            tensors.push_back(shared_memory(counts.back() * 8));
        };
        for (const Tensor& input : problem.inputs) add(input);
        for (const Tensor& output : problem.outputs) add(output);
        for (size_t t = 0; t < inputs.size(); ++t)
            for (size_t i = 0; i < counts[t]; ++i) put(tensors[t], i, problem.inputs[t].dtype, inputs[t][i]);
        Result result = in_another_process(problem, built, dims, tensors);
        for (size_t t = 0; t < problem.outputs.size(); ++t) {
            const size_t k = problem.inputs.size() + t;
            result.outputs.emplace_back();
            for (size_t i = 0; i < counts[k]; ++i)
                result.outputs.back().push_back(get(tensors[k], i, problem.outputs[t].dtype));
        }
        for (size_t t = 0; t < tensors.size(); ++t) ::munmap(tensors[t], mapped_bytes(counts[t] * 8));
        return result;
    }

private:
    static size_t mapped_bytes(size_t bytes) { return (bytes / 4096 + 1) * 4096; }

    static void* shared_memory(size_t bytes) {
        void* at = ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        std::memset(at, 0xff, mapped_bytes(bytes));
        return at;
    }

    static Result in_another_process(const Problem& problem, const Built& built, const Dimensions& dims,
                                     const std::vector<void*>& tensors) {
        int pipe[2] = {};
        if (::pipe(pipe) != 0) return {};
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(pipe[1], 2);
            void* library = ::dlopen(built.library.c_str(), RTLD_NOW);
            auto entry = library ? reinterpret_cast<KernelEntry>(::dlsym(library, kernel_entry_name)) : nullptr;
            if (!entry) ::_exit(70);
            std::vector<int64_t> extents;
            for (const std::string& name : problem.dimensions) extents.push_back(dims.at(name));
            std::vector<double> parameters;
            for (const Parameter& parameter : problem.parameters) parameters.push_back(parameter.value);
            entry(tensors.data(), parameters.data(), extents.data());
            ::_exit(0);
        }
        ::close(pipe[1]);
        Result result;
        char block[4096];
        for (ssize_t n; (n = ::read(pipe[0], block, sizeof block)) > 0;)
            result.said.append(block, static_cast<size_t>(n));
        ::close(pipe[0]);
        ::waitpid(child, &result.status, 0);
        result.finding = emulator_finding(result.said, built.library);
        return result;
    }

    TemporaryFolder folder_{"strop_emulated_"};
    CppToolchain toolchain_;
};

}  // namespace strop
