#include "agent/panel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace strop::agent {

namespace {

constexpr double exploration = 0.5;

double cost_per_turn(const std::vector<llm::Call>& calls, const std::string& model, int turns) {
    double cost = 0;
    for (const llm::Call& call : calls)
        if (call.model == model) cost += call.cost;
    return turns > 0 ? cost / turns : 0;
}

void add(llm::Spent& spent, const llm::Call& call) {
    ++spent.calls;
    spent.failed += !call.reply.ok();
    spent.replayed += call.replayed;
    spent.input_tokens += call.reply.usage.input_tokens;
    spent.cached_tokens += call.reply.usage.cached_tokens;
    spent.output_tokens += call.reply.usage.output_tokens;
    spent.reasoning_tokens += call.reply.usage.reasoning_tokens;
    spent.cost += call.cost;
    spent.seconds += call.reply.seconds;
    spent.all_priced = spent.all_priced && call.priced;
}

}  // namespace

Panel::Panel(std::vector<Seat> seats, llm::Caller& caller) : seats_(std::move(seats)), caller_(caller) {}

bool Panel::has(const std::string& role) const {
    return std::any_of(seats_.begin(), seats_.end(),
                       [&](const Seat& seat) { return seat.spec.role.empty() || seat.spec.role == role; });
}

Seat& Panel::choose(const std::string& role) {
    bool named = std::any_of(seats_.begin(), seats_.end(), [&](const Seat& s) { return s.spec.role == role; });
    std::lock_guard lock(mutex_);
    std::vector<llm::Call> calls = caller_.calls();
    int all_turns = 0;
    double highest_cost = 0;
    for (const auto& [model, turns] : turns_) {
        all_turns += turns;
        highest_cost = std::max(highest_cost, cost_per_turn(calls, model, turns));
    }
    Seat* best = nullptr;
    double highest = 0;
    for (Seat& seat : seats_) {
        if (seat.spec.role != (named ? role : "")) continue;
        const std::string& name = seat.model->name();
        int turns = turns_[name];
        // A model that nobody has asked yet comes first.
        double cost = highest_cost > 0 ? cost_per_turn(calls, name, turns) / highest_cost : 0;
        double value = turns == 0 ? 1e9
                                  : standing_[name] / (1 + cost) +
                                        exploration * std::sqrt(std::log(1.0 + all_turns) / turns);
        if (best && value <= highest) continue;
        best = &seat;
        highest = value;
    }
    ++turns_[best->model->name()];
    return *best;
}

llm::Reply Panel::ask(llm::Request request, const std::string& subject, std::string* asked) {
    if (!has(request.role)) return {llm::Failure::no_key, "no model was named for the role " + request.role};
    Seat& seat = choose(request.role);
    if (asked) *asked = seat.model->name();
    const std::string role = request.role;
    llm::Reply reply = caller_.ask(*seat.model, std::move(request), subject);
    if (reply.failure == llm::Failure::not_recorded)
        throw UsageError(fmt::format("the recording has no reply of {} to the {} about {}", seat.model->name(), role,
                                     subject),
                         "it is of another version, or was cut; record the run again");
    return reply;
}

void Panel::credit(const std::string& model, double standing) {
    std::lock_guard lock(mutex_);
    standing_[model] = standing;
}

std::vector<RoleUse> Panel::uses() const {
    std::map<std::pair<std::string, std::string>, llm::Spent> sums;
    for (const llm::Call& call : caller_.calls()) add(sums[{call.request.role, call.model}], call);
    std::vector<RoleUse> uses;
    for (const auto& [who, spent] : sums) uses.push_back({who.first, who.second, spent});
    return uses;
}

std::vector<std::string> Panel::losses() const {
    std::map<std::string, std::pair<int, std::string>> counted;
    for (const llm::Call& call : caller_.calls()) {
        if (call.reply.ok()) continue;
        std::string key =
            fmt::format("{} {}: {}", call.request.role, call.model, llm::name_of(call.reply.failure));
        auto& [count, why] = counted[key];
        if (count++ == 0) why = call.reply.why;
    }
    std::vector<std::string> lines;
    for (const auto& [key, value] : counted)
        lines.push_back(fmt::format("{}{}{}", key, value.first > 1 ? fmt::format(" ({} times)", value.first) : "",
                                    value.second.empty() ? "" : ": " + value.second));
    return lines;
}

}  // namespace strop::agent
