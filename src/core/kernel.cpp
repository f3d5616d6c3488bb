#include "core/kernel.h"

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

std::string name_of(Strategy::State state) {
    switch (state) {
        case Strategy::State::active: return "active";
        case Strategy::State::pruned: return "pruned";
        case Strategy::State::winner: return "winner";
    }
    return {};
}

std::string describe(const Configuration& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_string(value));
    return text;
}

std::string name_of(Tunable::Kind kind) {
    switch (kind) {
        case Tunable::Kind::constant: return "constant";
        case Tunable::Kind::late: return "late";
        case Tunable::Kind::flags: return "flags";
        case Tunable::Kind::compiler: return "compiler";
    }
    return {};
}

std::string compiler_of(const TunableSpace& space, const Configuration& configuration) {
    for (const Tunable& tunable : space.tunables) {
        if (tunable.kind != Tunable::Kind::compiler) continue;
        auto chosen = configuration.find(tunable.name);
        return to_string(chosen == configuration.end() ? tunable.values.at(0) : chosen->second);
    }
    return {};
}

bool may_be_called(const Kernel& kernel, const Bindings& bindings) {
    try {
        return !kernel.condition || truthy(kernel.condition->evaluate(bindings));
    } catch (const UsageError&) {
        return false;
    }
}

std::string library_of(const Kernel& kernel, const Configuration& configuration) {
    std::string text = kernel.id;
    for (const Tunable& tunable : kernel.space.tunables)
        if (auto chosen = configuration.find(tunable.name);
            tunable.kind != Tunable::Kind::late && chosen != configuration.end())
            text += "\n" + to_string(chosen->second);
    return text;
}

std::string name_of(Language language) {
    switch (language) {
        case Language::cpp: return "cpp";
        case Language::opencl: return "opencl";
        case Language::cuda: return "cuda";
        case Language::triton: return "triton";
        case Language::tilelang: return "tilelang";
        case Language::python: return "python";
    }
    return {};
}

Language language_for(const std::string& device) {
    return device == "opencl" ? Language::opencl : device == "cuda" ? Language::cuda : Language::cpp;
}

}  // namespace strop
