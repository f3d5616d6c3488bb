#include "llm/caller.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/hash.h"

namespace strop::llm {

namespace {

using nlohmann::json;

constexpr int least_useful_output = 1000;

// What every message and every request costs beside its text: roles, separators, a provider's own preamble, and
// the instructions into which a schema is turned.
constexpr int64_t tokens_per_message = 16, tokens_per_request = 64, tokens_per_schema = 500;

// Of the `count`-th time that the same is asked.
std::string hash_of_asking(const std::string& hash, int count) {
    return content_hash(fmt::format("{} {}", hash, count));
}

// Of all that decides the reply. The schema's name does not.
std::string hash_of(const std::string& model, const Request& request) {
    json parts = {model, request.role, request.system, request.schema, request.max_output_tokens};
    for (const Message& message : request.messages) {
        parts.push_back(message.author == Message::Author::user ? "user" : "assistant");
        parts.push_back(message.content);
    }
    return content_hash(parts.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Whether a resumed run shall get this reply again. The others cost nothing, or the next attempt may succeed.
bool is_final(Failure failure) {
    switch (failure) {
        case Failure::no_key:
        case Failure::rejected:
        case Failure::denied:
        case Failure::network:
        case Failure::timed_out:
        case Failure::cancelled:
        case Failure::over_limit:
        case Failure::not_recorded:
        case Failure::rate_limited:
        case Failure::overloaded: return false;
        default: return true;
    }
}

// What to assume of a provider that did not say: never less than it may bill. Limits rest on this.
Usage assumed_usage(const Reply& reply, int64_t input_tokens, int64_t most_output) {
    Usage usage;
    bool unseen_output = false;  // reasoning, or text that never arrived
    switch (reply.failure) {
        case Failure::none:
        case Failure::refused: break;
        case Failure::cut_off:
        case Failure::empty:
        case Failure::malformed:
        case Failure::timed_out:
        case Failure::cancelled: unseen_output = true; break;
        default:
            if (reply.text.empty()) return usage;  // turned away before anything was read
            unseen_output = true;
    }
    usage.input_tokens = input_tokens;
    usage.output_tokens = estimate_tokens(reply.text);
    if (unseen_output) usage.output_tokens = std::max(usage.output_tokens, most_output);
    return usage;
}

void add(Spent& spent, const Call& call) {
    const Usage& usage = call.reply.usage;
    ++spent.calls;
    spent.failed += call.reply.ok() ? 0 : 1;
    spent.replayed += call.replayed ? 1 : 0;
    spent.input_tokens += usage.input_tokens;
    spent.cached_tokens += usage.cached_tokens;
    spent.output_tokens += usage.output_tokens;
    spent.reasoning_tokens += usage.reasoning_tokens;
    spent.cost += call.cost;
    spent.seconds += call.reply.seconds;
    if (usage.input_tokens + usage.output_tokens > 0 && !call.priced) spent.all_priced = false;
}

Reply failed(Failure failure, const std::string& why) {
    Reply reply;
    reply.failure = failure;
    reply.why = why;
    return reply;
}

bool is_letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

// An upper bound for ordinary text and code under the tokenizers in use, not a mean (about 4 bytes a token of
// English, 3 of code), because limits rest on it. A flat rate is not one: "a[i]+=b[j];" has more than a token
// for two bytes. Hence by kind: words at 2.5 bytes a token, rounded up for each word (whole words are one or two
// tokens); digits and punctuation one each (some tokenizers take digits one by one); the blank before a word
// belongs to its token, a run of blanks takes one for 4, a line end one; outside of ASCII 2 for 3 bytes (single
// bytes as tokens are possible there, but rare).
int64_t estimate_tokens(const std::string& text) {
    int64_t tokens = 0, beyond_ascii = 0;
    for (size_t i = 0; i < text.size();) {
        size_t start = i;
        auto c = static_cast<unsigned char>(text[i++]);
        if (is_letter(c)) {
            while (i < text.size() && is_letter(static_cast<unsigned char>(text[i]))) ++i;
            tokens += static_cast<int64_t>((2 * (i - start) + 4) / 5);
        } else if (c == ' ') {
            while (i < text.size() && text[i] == ' ') ++i;
            if (i - start > 1) tokens += static_cast<int64_t>((i - start + 3) / 4);
        } else if (c >= 0x80) {
            ++beyond_ascii;
        } else {
            ++tokens;
        }
    }
    return tokens + (2 * beyond_ascii + 2) / 3;
}

int64_t input_tokens_of(const Request& request) {
    int64_t tokens = tokens_per_request + estimate_tokens(request.system);
    for (const Message& message : request.messages) tokens += tokens_per_message + estimate_tokens(message.content);
    return request.schema.empty() ? tokens : tokens + tokens_per_schema + estimate_tokens(request.schema);
}

Caller::Caller(const Prices& prices, Limits limits, std::vector<CallLog*> logs, bool only_replay, Cancel cancel)
    : prices_(prices),
      limits_(limits),
      logs_(std::move(logs)),
      only_replay_(only_replay),
      cancel_(std::move(cancel)) {}

Call Caller::numbered(const Model& model, const Request& request, const std::string& subject) {
    Call call;
    call.sequence = sequence_++;
    call.model = model.name();
    call.request = request;
    call.subject = subject;
    call.started = utc_now();
    std::string hash = hash_of(call.model, request);
    call.hash = hash_of_asking(hash, asked_[hash]++);
    return call;
}

// Logs that did not have it are told, so that each of them holds the whole run.
std::optional<Call> Caller::find_recorded(const Call& call) {
    std::optional<Call> found;
    std::vector<CallLog*> without;
    for (CallLog* log : logs_) {
        std::optional<Call> here = log->find(call.hash);
        if (!here) without.push_back(log);
        if (here && !found) found = std::move(here);
    }
    if (!found || (!only_replay_ && !is_final(found->reply.failure))) return std::nullopt;
    found->replayed = true;
    found->sequence = call.sequence;
    found->subject = call.subject;
    for (CallLog* log : without) log->add(*found);
    return found;
}

// At the highest of the prices for input: what will be cached is not known beforehand.
double Caller::worst_cost(const Price* price, const Request& request, int max_output_tokens) const {
    if (!price) return 0;
    double input = std::max({price->input, price->cached_input, price->cache_write});
    return (static_cast<double>(input_tokens_of(request)) * input + max_output_tokens * price->output) / 1e6;
}

// Under the lock. Why the call may not be made, or empty: then its worst case is set aside.
std::string Caller::reserve(const Price* price, const Request& request, Reservation& reservation) {
    int asked = std::max(1, request.max_output_tokens), least = std::min(asked, least_useful_output);
    int64_t input = input_tokens_of(request);
    double output = asked;
    std::string why;
    if (limits_.tokens > 0) {
        int64_t left = limits_.tokens - spent_.input_tokens - spent_.output_tokens - reserved_tokens_;
        output = std::min(output, static_cast<double>(left - input));
        if (output < least) why = fmt::format("the limit of {} tokens leaves {} for this call", limits_.tokens, left);
    }
    if (limits_.cost > 0 && price) {
        constexpr double rounding = 1e-9;  // sums of costs are not exact
        double left = limits_.cost * (1 - rounding) - spent_.cost - reserved_cost_;
        double for_output = left - worst_cost(price, request, 0);
        if (price->output > 0) output = std::min(output, std::floor(for_output * 1e6 / price->output));
        if (output < least || for_output < 0)
            why = fmt::format("the limit of ${:.2f} leaves ${:.4f} for this call", limits_.cost, left);
    }
    if (!why.empty()) {
        exhausted_ = true;
        return why;
    }
    reservation.input_tokens = input;
    reservation.max_output_tokens = static_cast<int>(output);
    reservation.tokens = input + reservation.max_output_tokens;
    reservation.cost = worst_cost(price, request, reservation.max_output_tokens);
    reserved_tokens_ += reservation.tokens;
    reserved_cost_ += reservation.cost;
    return why;
}

void Caller::release(const Reservation& reservation) {
    reserved_tokens_ -= reservation.tokens;
    reserved_cost_ -= reservation.cost;
    if (reserved_tokens_ == 0) reserved_cost_ = 0;  // no residue of rounding
}

void Caller::account(const Call& call) {
    add(spent_, call);
    add(by_role_[{call.request.role, call.model}], call);
    add(by_subject_[call.subject], call);
    if (call.reply.ok()) return;
    auto& [count, why] = losses_[fmt::format("{} {}: {}", call.request.role, call.model, name_of(call.reply.failure))];
    if (count++ == 0) why = call.reply.why;
}

std::vector<RoleSpent> Caller::by_role() const {
    std::lock_guard lock(mutex_);
    std::vector<RoleSpent> all;
    for (const auto& [who, spent] : by_role_) all.push_back({who.first, who.second, spent});
    return all;
}

std::map<std::string, Spent> Caller::by_subject() const {
    std::lock_guard lock(mutex_);
    return by_subject_;
}

std::vector<std::string> Caller::losses() const {
    std::lock_guard lock(mutex_);
    std::vector<std::string> lines;
    for (const auto& [kind, loss] : losses_)
        lines.push_back(kind + (loss.first > 1 ? fmt::format(" ({} times)", loss.first) : "") +
                        (loss.second.empty() ? "" : ": " + loss.second));
    return lines;
}

Reply Caller::ask(Model& model, Request request, const std::string& subject) {
    return finish(begin(model, std::move(request), subject)).reply;
}

Begun Caller::begin(Model& model, Request request, const std::string& subject) {
    std::lock_guard lock(mutex_);
    Begun begun;
    begun.model = &model;
    begun.call = numbered(model, request, subject);
    std::optional<Call> recorded = find_recorded(begun.call);
    std::string over;
    if (recorded) begun.call = std::move(*recorded);
    else if (only_replay_) begun.call.reply = failed(Failure::not_recorded, "the replay has no reply to this request");
    else if (cancel_ && cancel_()) begun.call.reply = failed(Failure::cancelled, "cancelled before it was sent");
    else if (over = reserve(prices_.find(model.name()), request, begun.reservation); !over.empty())
        begun.call.reply = failed(Failure::over_limit, over);
    begun.answered = recorded || !begun.call.reply.ok();
    if (begun.answered) account(begun.call);
    if (begun.call.reply.failure == Failure::over_limit && !recorded) log(begun.call);
    return begun;
}

Call Caller::finish(const Begun& begun, const Cancel& cancel) {
    Call call = begun.call;
    if (begun.answered) return call;
    Request request = call.request;
    request.max_output_tokens = begun.reservation.max_output_tokens;
    try {
        call.reply = begun.model->ask(request, [&] { return (cancel_ && cancel_()) || (cancel && cancel()); });
    } catch (...) {
        std::lock_guard lock(mutex_);
        release(begun.reservation);
        throw;
    }
    return settle(std::move(call), begun.reservation);
}

// Failures are kept too: a replay has to meet them again.
Call Caller::settle(Call call, const Reservation& reservation) {
    const Price* price = prices_.find(call.model);
    Reply& reply = call.reply;
    if (!reply.usage.known) reply.usage = assumed_usage(reply, reservation.input_tokens, reservation.max_output_tokens);
    call.priced = price != nullptr;
    call.cost = price ? cost_of(*price, reply.usage) : 0;
    std::lock_guard lock(mutex_);
    release(reservation);
    account(call);
    log(call);
    return call;
}

void Caller::log(const Call& call) {
    for (CallLog* log : logs_) log->add(call);
}

bool Caller::knows(const Model& model, const Request& request) const {
    std::lock_guard lock(mutex_);
    const std::string hash = hash_of_asking(hash_of(model.name(), request), 0);
    return std::any_of(logs_.begin(), logs_.end(), [&](CallLog* log) {
        const std::optional<Call> found = log->find(hash);
        return found && is_final(found->reply.failure);
    });
}

Spent Caller::spent() const {
    std::lock_guard lock(mutex_);
    return spent_;
}

bool Caller::exhausted() const {
    std::lock_guard lock(mutex_);
    return exhausted_;
}

}  // namespace strop::llm
