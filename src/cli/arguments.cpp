#include "cli/flags.h"

#include <algorithm>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

namespace strop::cli {

namespace {

const Flag* find_flag(const CommandSpec& spec, const std::string& name) {
    for (const Flag& flag : spec.flags)
        if (flag.name == name) return &flag;
    return nullptr;
}

bool has_position(const CommandSpec& spec, const std::string& name) {
    return std::any_of(spec.positionals.begin(), spec.positionals.end(),
                       [&](const Positional& positional) { return positional.name == name; });
}

}  // namespace

std::vector<std::string> Arguments::all(const std::string& name) const {
    const Flag* flag = find_flag(*spec_, name);
    if (!flag && !has_position(*spec_, name))
        throw std::logic_error(fmt::format("{} has no argument {}", spec_->name, name));
    if (std::map<std::string, std::vector<std::string>>::const_iterator given = values_.find(name);
        given != values_.end())
        return given->second;
    if (flag && !flag->standard.empty()) return {flag->standard};
    return {};
}

std::string Arguments::text(const std::string& name) const {
    std::vector<std::string> values = all(name);
    return values.empty() ? std::string() : values.front();
}

int64_t Arguments::integer(const std::string& name) const { return std::stoll(text(name)); }

uint64_t Arguments::seed() const {
    return has("--seed") ? static_cast<uint64_t>(integer("--seed")) : std::random_device{}();
}

double Arguments::number(const std::string& name) const { return std::stod(text(name)); }

Seconds Arguments::duration(const std::string& name) const { return parse_duration(text(name)); }

}  // namespace strop::cli
