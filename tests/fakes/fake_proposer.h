// Proposes what it was given: strategies at first, then a list of deepened ones for each of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/proposer.h"

namespace strop::fakes {

inline Tunable numbers(const std::string& name, const std::vector<int64_t>& values) {
    Tunable tunable{name, {}, Tunable::Kind::constant};
    for (int64_t value : values) tunable.values.push_back(value);
    return tunable;
}

// A strategy with a kernel of the same name; the first value of each tunable is the initial one.
inline Proposal proposal(const std::string& id, const std::vector<Tunable>& tunables = {}) {
    Proposal result;
    result.strategy.id = id;
    result.kernel.id = id;
    result.kernel.source = "// " + id;
    result.kernel.space.tunables = tunables;
    for (const Tunable& tunable : tunables) result.kernel.initial[tunable.name] = tunable.values.at(0);
    return result;
}

class FakeProposer : public Proposer {
public:
    explicit FakeProposer(std::vector<Proposal> planned) : planned_(std::move(planned)) {}

    std::map<std::string, std::vector<Proposal>> deepened;  // by strategy, one handed out a call
    std::vector<std::string> asked;                         // strategies, in order
    std::vector<Evaluation> shown;
    std::vector<std::vector<std::string>> tried;
    std::map<std::string, Proposal> repaired;               // by strategy
    std::vector<std::pair<std::string, Verdict>> broken;    // strategies that came for repair, in order
    std::vector<std::vector<Proposal>> wider;               // one handed out a call
    std::map<std::string, double> opinions;
    bool advises_others = false, costs = false;
    int scored = 0;

    std::string name() const override { return "fake"; }
    std::vector<Proposal> plan() override { return planned_; }
    std::string why_nothing() const override { return planned_.empty() ? "nothing was given" : ""; }

    std::vector<Proposal> deepen(const Strategy& strategy, const Kernel&, const Evaluation& evaluation,
                                 const std::vector<std::string>& already) override {
        asked.push_back(strategy.id);
        shown.push_back(evaluation);
        tried.push_back(already);
        std::vector<Proposal>& left = deepened[strategy.id];
        if (left.empty()) return {};
        Proposal next = left.front();
        left.erase(left.begin());
        return {next};
    }

    bool deepens_others() const override { return advises_others; }
    std::optional<Proposal> repair(const Strategy& strategy, const Kernel&, const Evaluation& failed) override {
        broken.emplace_back(strategy.id, failed.verdict);
        auto found = repaired.find(strategy.id);
        return found == repaired.end() ? std::nullopt : std::optional(found->second);
    }
    std::vector<Proposal> widen(const std::vector<Strategy>&) override {
        if (wider.empty()) return {};
        std::vector<Proposal> next = wider.front();
        wider.erase(wider.begin());
        return next;
    }
    bool paid() const override { return costs; }
    std::map<std::string, double> score(const std::vector<Strategy>&) override {
        ++scored;
        return opinions;
    }

private:
    std::vector<Proposal> planned_;
};

}  // namespace strop::fakes
