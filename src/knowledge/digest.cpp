#include "knowledge/digest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace strop {

namespace {

constexpr size_t longest_slug = 80;
constexpr size_t most_effects = 400;

// Shapes that one thing limits.
using Regions = std::map<std::string, std::vector<std::string>>;  // bound -> labels

Regions regions_of(const RunRecord& record) {
    Regions regions;
    for (const ShapeReport& shape : record.shapes)
        if (!shape.bound.empty()) regions[shape.bound].push_back(shape.label);
    return regions;
}

// The geometric mean over the labels; nothing where one of them was not measured.
std::optional<double> time_over(const HistoryEntry& entry, const std::vector<std::string>& labels) {
    if (entry.verdict != Verdict::ok) return std::nullopt;
    double logs = 0;
    for (const std::string& label : labels) {
        auto found = entry.nanoseconds.find(label);
        if (found == entry.nanoseconds.end() || !(found->second > 0)) return std::nullopt;
        logs += std::log(found->second);
    }
    return std::exp(logs / static_cast<double>(labels.size()));
}

struct Least {
    double time = std::numeric_limits<double>::infinity();
    int evaluations = 0;
    void add(double other) {
        time = std::min(time, other);
        ++evaluations;
    }
};

class Effects {
public:
    Effects(const RunRecord& record, std::string bound) : bound_(std::move(bound)) {
        for (const Strategy& strategy : record.strategies) families_[planned_strategy(strategy.id)] = strategy.family;
    }

    void add(const HistoryEntry& entry, double time) {
        const std::string strategy = planned_strategy(entry.strategy);
        all_.add(time);
        by_strategy_[strategy].add(time);
        for (const auto& [name, value] : entry.configuration) by_value_[{strategy, name, value}].add(time);
    }

    void append_to(std::vector<Digest::Effect>& effects) const {
        for (const auto& [strategy, least] : by_strategy_)
            effects.push_back({family(strategy), strategy, bound_, "", int64_t{0}, rounded(least.time / all_.time),
                               least.evaluations});
        for (const auto& [key, least] : by_value_) {
            const auto& [strategy, tunable, value] = key;
            if (values_of(strategy, tunable) < 2 || effects.size() >= most_effects) continue;  // nothing to compare
            effects.push_back({family(strategy), strategy, bound_, tunable, value,
                               rounded(least.time / by_strategy_.at(strategy).time), least.evaluations});
        }
    }

private:
    static double rounded(double ratio) { return std::round(1e4 * ratio) / 1e4; }
    std::string family(const std::string& strategy) const {
        auto found = families_.find(strategy);
        return found == families_.end() ? "" : found->second;
    }
    int values_of(const std::string& strategy, const std::string& tunable) const {
        int count = 0;
        for (const auto& [key, least] : by_value_) count += std::get<0>(key) == strategy && std::get<1>(key) == tunable;
        return count;
    }

    std::string bound_;
    std::map<std::string, std::string> families_;
    Least all_;
    std::map<std::string, Least> by_strategy_;
    std::map<std::tuple<std::string, std::string, Value>, Least> by_value_;
};

Digest::Winner winner_of(const RunRecord& record, const Regime& regime) {
    Digest::Winner winner{regime.strategy, "", regime.configuration, regime.condition, regime.points, "", 0};
    for (const Strategy& strategy : record.strategies)
        if (strategy.id == regime.strategy) winner.family = strategy.family;
    std::map<std::string, int> bounds;
    double logs = 0;
    int known = 0;
    for (const ShapeReport& shape : record.shapes) {
        if (std::find(regime.points.begin(), regime.points.end(), shape.label) == regime.points.end()) continue;
        if (!shape.bound.empty() && ++bounds[shape.bound] > bounds[winner.bound]) winner.bound = shape.bound;
        if (!(shape.roofline_share > 0) || shape.bound_is_beaten()) continue;
        logs += std::log(shape.roofline_share);
        ++known;
    }
    if (known > 0) winner.roofline_share = std::round(1e4 * std::exp(logs / known)) / 1e4;
    return winner;
}

void note_strategies(const RunRecord& record, Digest& digest) {
    std::set<std::string> measured;
    for (const HistoryEntry& entry : record.history) measured.insert(entry.strategy);
    for (const Strategy& strategy : record.strategies)
        if (strategy.state == Strategy::State::pruned)
            digest.dead_ends.push_back({strategy.id, strategy.family, strategy.reason});
        else if (strategy.state == Strategy::State::active && !measured.count(strategy.id))
            digest.open.push_back(strategy.id);
}

}  // namespace

std::string slug(std::string_view text) {
    std::string name;
    for (char letter : text) {
        const bool digit = letter >= '0' && letter <= '9';
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
        if (digit || (letter >= 'a' && letter <= 'z')) name += letter;
        else if (!name.empty() && name.back() != '-') name += '-';
    }
    name.resize(std::min(name.size(), longest_slug));
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name.empty() ? "unknown" : name;
}

std::string planned_strategy(const std::string& id) { return id.substr(0, id.find('+')); }

std::string hardware_of(const RunRecord& record) {
    if (record.settings.device != "cpu") return slug(record.settings.device + " " + record.device);
    return slug(record.machine.cpu + " " + record.machine.isa);
}

Digest digest_of(const RunRecord& record) {
    Digest digest;
    digest.run = record.run;
    digest.started = record.started;
    digest.outcome = name_of(record.outcome);
    digest.strop_version = record.strop_version;
    digest.compiler = record.compiler;
    digest.origin = record.origin;
    digest.problem = record.problem;
    digest.problem_hash = record.problem_hash;
    digest.tags = record.tags;
    digest.cpu = record.machine.cpu;
    digest.isa = record.machine.isa;
    digest.fingerprint = record.machine.fingerprint;
    digest.language = record.settings.device == "cpu" ? "cpp" : record.settings.device;
    digest.hardware = hardware_of(record);
    digest.cores = record.machine.cores;
    digest.evaluations = record.evaluations;
    if (!record.shapes.empty() && !record.headline_baseline.empty()) digest.speedup = record.headline.ratio;
    digest.baseline = record.headline_baseline;
    if (record.verified)
        for (const Regime& regime : record.regimes) digest.winners.push_back(winner_of(record, regime));
    note_strategies(record, digest);
    for (const auto& [bound, labels] : regions_of(record)) {
        Effects effects(record, bound);
        for (const HistoryEntry& entry : record.history)
            if (std::optional<double> time = time_over(entry, labels)) effects.add(entry, *time);
        effects.append_to(digest.effects);
    }
    return digest;
}

std::string describe(const Digest::Effect& effect) {
    const std::string value =
        effect.tunable.empty() ? "" : fmt::format(" {}={}", effect.tunable, to_string(effect.value));
    return fmt::format("{}{}: {:.2f}", effect.strategy, value, effect.ratio);
}

}  // namespace strop
