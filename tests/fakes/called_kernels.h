// Kernels, compiled and called in this process between guards.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fakes/computations.h"
#include "fakes/long_tests.h"
#include "fakes/typed_memory.h"
#include "language/contract.h"
#include "language/cpp.h"

namespace strop {

// Compiles all, then calls each at all points between guards.
class CalledKernels {
public:
    // A folder of its own: the loader gives a path that it has opened before the library that it had there.
    CalledKernels() {
        static int made = 0;
        folder_ = std::filesystem::temp_directory_path() / fmt::format("strop_called_{}_{}", getpid(), made++);
        std::filesystem::create_directories(folder_);
    }
    virtual ~CalledKernels() { std::filesystem::remove_all(folder_); }

    void check(const Computation& one, const std::vector<Kernel>& kernels) {
        std::vector<Build> builds;
        for (const Kernel& kernel : kernels)
            builds.push_back({kernel.source, kernel.initial, kernel.space, {kernel_optimization()}, false});
        std::filesystem::path folder = folder_ / std::to_string(count_++);
        std::filesystem::create_directories(folder);
        take_team_along(folder);
        std::vector<Built> built = CppToolchain(small_machine()).build(one.problem, builds, folder, 2);
        for (size_t i = 0; i < built.size(); ++i) {
            ASSERT_TRUE(built[i].ok) << kernels[i].id << ": " << built[i].message << "\n" << kernels[i].source;
            void* library = dlopen(built[i].library.c_str(), RTLD_NOW);
            ASSERT_NE(library, nullptr) << dlerror();
            if (void* late = dlsym(library, late_values_name))
                std::copy(built[i].late_values.begin(), built[i].late_values.end(), static_cast<int64_t*>(late));
            auto entry = reinterpret_cast<KernelEntry>(dlsym(library, kernel_entry_name));
            for (const Point& point : one.points) {
                if (!may_be_called(kernels[i], bindings_of(one.problem, point.dims))) continue;
                for (int repeat = 0; repeat < 2; ++repeat) call(one, kernels[i], entry, point);
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }

protected:
    virtual void compare(const Computation&, const Point& point, size_t output, const std::vector<double>& actual,
                         const std::string& where) {
        expect_near(actual, point.expected[output].values, 2e-4, where);
    }

private:
    // The threads that kernels ask for are compiled once for all.
    void take_team_along(const std::filesystem::path& folder) const {
        if (count_ < 2) return;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / std::to_string(count_ - 2)))
            if (entry.path().filename().string().starts_with("team"))
                std::filesystem::copy_file(entry.path(), folder / entry.path().filename());
    }

    void call(const Computation& one, const Kernel& kernel, KernelEntry entry, const Point& point) {
        constexpr size_t guard = 64;
        std::vector<std::vector<char>> memory;
        std::vector<void*> tensors;
        auto add = [&](const Tensor& tensor, const std::vector<double>& values) {
            size_t size = size_of(tensor.dtype);
            memory.emplace_back(values.size() * size + 2 * guard + size, char(0x55));
            tensors.push_back(memory.back().data() + guard + size);
        };
        for (size_t k = 0; k < point.inputs.size(); ++k) {
            add(one.problem.inputs[k], point.inputs[k].values);
            for (size_t i = 0; i < point.inputs[k].values.size(); ++i)
                put(tensors.back(), i, one.problem.inputs[k].dtype, point.inputs[k].values[i]);
        }
        for (size_t k = 0; k < point.expected.size(); ++k) add(one.problem.outputs[k], point.expected[k].values);
        std::vector<int64_t> dims;
        for (const std::string& name : one.problem.dimensions) dims.push_back(point.dims.at(name));
        std::vector<double> none(1);
        entry(tensors.data(), none.data(), dims.data());
        std::string where = one.problem.name + " " + kernel.id + " at " + strop::describe(point.dims);
        for (size_t k = 0; k < point.expected.size(); ++k) {
            const std::vector<char>& bytes = memory[point.inputs.size() + k];
            std::vector<double> actual;
            for (size_t i = 0; i < point.expected[k].values.size(); ++i)
                actual.push_back(get(tensors[point.inputs.size() + k], i, one.problem.outputs[k].dtype));
            compare(one, point, k, actual, where + "\n" + kernel.source);
            if (testing::Test::HasFatalFailure()) return;
            for (size_t i = 0; i < guard; ++i) {
                ASSERT_EQ(bytes[i], 0x55) << where << ": written before output " << k;
                ASSERT_EQ(bytes[bytes.size() - 1 - i], 0x55) << where << ": written behind output " << k;
            }
        }
    }

    std::filesystem::path folder_;
    int count_ = 0;
};

}  // namespace strop
