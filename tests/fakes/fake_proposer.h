// Proposes what it was given: strategies at first, then a list of deepened ones for each of them. Other answers, and
// with `later` all, come after `delay` looks for them, or when the search waits.
#pragma once

#include <deque>
#include <functional>
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
    std::map<std::string, Proposal> repaired;             // by strategy
    std::vector<std::pair<std::string, Verdict>> broken;  // strategies that came for repair, in order
    std::vector<std::vector<Proposal>> wider;             // one handed out a call
    std::map<std::string, double> opinions;
    bool advises_others = false, costs = false, later = false;
    int scored = 0, delay = 0, waits = 0;
    std::vector<size_t> waited_for;  // evaluations at each wait, where `evaluations` counts them
    std::function<size_t()> evaluations;

    std::string name() const override { return "fake"; }
    std::vector<Proposal> plan() override {
        if (!later) return planned_;
        for (const Proposal& one : planned_) send({Answer::Kind::plan, "", {one}, {}});
        return {};
    }
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
        if (!later) return {next};
        send({Answer::Kind::deepening, strategy.id, {next}, {}});
        return {};
    }

    bool deepens_others() const override { return advises_others; }
    bool repair(const Strategy& strategy, const Kernel&, const Evaluation& failed) override {
        broken.emplace_back(strategy.id, failed.verdict);
        auto found = repaired.find(strategy.id);
        if (found == repaired.end()) return false;
        send({Answer::Kind::repair, strategy.id, {found->second}, {}});
        return true;
    }
    bool widen(const std::vector<Strategy>&) override {
        if (wider.empty()) return false;
        send({Answer::Kind::plan, "", wider.front(), {}});
        wider.erase(wider.begin());
        return true;
    }
    bool paid() const override { return costs; }
    bool score(const std::vector<Strategy>&) override {
        ++scored;
        send({Answer::Kind::opinions, "", {}, opinions});
        return true;
    }

    std::vector<Answer> arrived(bool wait) override {
        std::vector<Answer> there;
        if (wait && evaluations) waited_for.push_back(evaluations());
        waits += wait;
        for (Sent& one : under_way_) --one.looks;
        while (!under_way_.empty() && (under_way_.front().looks < 0 || (wait && there.empty()))) {
            there.push_back(std::move(under_way_.front().answer));
            under_way_.pop_front();
        }
        return there;
    }
    size_t expected() const override {
        size_t kernels = 0;
        for (const Sent& one : under_way_) kernels += one.answer.proposals.size();
        return kernels;
    }

private:
    struct Sent {
        Answer answer;
        int looks;
    };
    void send(Answer answer) { under_way_.push_back({std::move(answer), delay}); }

    std::vector<Proposal> planned_;
    std::deque<Sent> under_way_;
};

}  // namespace strop::fakes
