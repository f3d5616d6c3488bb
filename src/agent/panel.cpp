#include "agent/panel.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace strop::agent {

namespace {

constexpr double exploration = 0.5;

}  // namespace

std::vector<Seat> seats_of(const std::vector<std::string>& models, const std::string& base_url,
                           const std::string& key_file) {
    std::vector<Seat> seats;
    for (const std::string& text : models) seats.push_back({llm::parse_spec(text), nullptr});
    bool mixed = std::any_of(seats.begin(), seats.end(), [](const Seat& s) { return s.spec.provider == "compatible"; });
    for (Seat& seat : seats) {
        llm::Connection connection;
        if (!mixed || seat.spec.provider == "compatible") connection.base_url = base_url;
        connection.key_file = key_file;
        seat.model = llm::make_model(seat.spec, connection);
    }
    return seats;
}

Panel::Panel(std::vector<Seat> seats, llm::Caller& caller) : seats_(std::move(seats)), caller_(caller) {}

bool Panel::has(const std::string& role) const {
    return std::any_of(seats_.begin(), seats_.end(),
                       [&](const Seat& seat) { return seat.spec.role.empty() || seat.spec.role == role; });
}

Seat& Panel::take_turn(const std::string& role) {
    bool named = std::any_of(seats_.begin(), seats_.end(), [&](const Seat& s) { return s.spec.role == role; });
    int all_turns = 0;
    double highest_cost = 0;  // of a turn
    for (const auto& [model, turns] : turns_) {
        all_turns += turns;
        highest_cost = std::max(highest_cost, costs_[model] / std::max(1, turns));
    }
    Seat* best = nullptr;
    double highest = 0;
    for (Seat& seat : seats_) {
        if (seat.spec.role != (named ? role : "")) continue;
        const std::string& name = seat.model->name();
        int turns = turns_[name];
        // A model that nobody has asked yet comes first.
        double cost = highest_cost > 0 ? costs_[name] / std::max(1, turns) / highest_cost : 0;
        double value = turns == 0
                           ? 1e9
                           : standing_[name] / (1 + cost) + exploration * std::sqrt(std::log(1.0 + all_turns) / turns);
        if (best && value <= highest) continue;
        best = &seat;
        highest = value;
    }
    ++turns_[best->model->name()];
    return *best;
}

llm::Begun Panel::begin(Seat& seat, llm::Request request, const std::string& subject) {
    return caller_.begin(*seat.model, std::move(request), subject);
}

llm::Call Panel::finish(const llm::Begun& begun, const llm::Cancel& cancel) { return caller_.finish(begun, cancel); }

llm::Reply Panel::settle(const llm::Call& call) {
    if (call.reply.failure == llm::Failure::not_recorded)
        throw UsageError(fmt::format("the recording has no reply of {} to the {} about {}", call.model,
                                     call.request.role, call.subject),
                         "it is of another version, or was cut; record the run again");
    Durations& known = durations_[call.request.role];
    ++known.calls;
    known.seconds += call.reply.seconds;
    costs_[call.model] += call.cost;
    return call.reply;
}

double Panel::expected_seconds(const std::string& role) const {
    auto own = durations_.find(role);
    if (own != durations_.end()) return own->second.mean();
    Durations all;
    for (const auto& [other, known] : durations_) {
        all.calls += known.calls;
        all.seconds += known.seconds;
    }
    return all.mean();
}

llm::Reply Panel::ask(llm::Request request, const std::string& subject, std::string* asked) {
    if (!has(request.role)) return {llm::Failure::no_key, "no model was named for the role " + request.role};
    Seat& seat = take_turn(request.role);
    if (asked) *asked = seat.model->name();
    return settle(finish(begin(seat, std::move(request), subject), {}));
}

void Panel::credit(const std::string& model, double standing) { standing_[model] = standing; }

}  // namespace strop::agent
