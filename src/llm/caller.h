// Every call to a model goes through here: limits before, the log around, accounting after.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llm/model.h"
#include "llm/price.h"

namespace strop::llm {

// One call, as it is kept.
struct Call {
    int sequence = 0;   // in the order of asking
    std::string hash;   // of model, request and how often the same was asked before
    std::string model;  // as the user wrote it
    Request request;
    Reply reply;
    double cost = 0;        // dollars
    bool priced = false;    // false: no price is known, cost is 0
    bool replayed = false;  // came from the log: nothing was sent
    std::string subject;    // the strategy or kernel that it is about; may be empty
    std::string started;    // UTC
};

std::string to_json_text(const Call& call);
Call call_from_json_text(const std::string& text);  // UsageError on anything else

// Where calls are kept. Implementations are called under the caller's lock.
class CallLog {
public:
    virtual ~CallLog() = default;
    virtual std::optional<Call> find(const std::string& hash) = 0;
    virtual void add(const Call& call) = 0;
};

struct Limits {
    double cost = 0;     // dollars; 0: none
    int64_t tokens = 0;  // input and output together; 0: none
};

// Replayed calls count as they did when they were made: a resumed run has one account.
struct Spent {
    int calls = 0, failed = 0, replayed = 0;
    int64_t input_tokens = 0, cached_tokens = 0, output_tokens = 0, reasoning_tokens = 0;
    double cost = 0, seconds = 0;
    bool all_priced = true;
};

// What one model was asked in one role.
struct RoleSpent {
    std::string role, model;
    Spent spent;
};

// What a call in flight may cost at most.
struct Reservation {
    int64_t input_tokens = 0, tokens = 0;
    int max_output_tokens = 0;
    double cost = 0;
};

// A call that was looked up and let through, or needs nothing more: it was recorded, or refused.
struct Begun {
    Model* model = nullptr;
    Call call;
    Reservation reservation;
    bool answered = false;  // call.reply is the answer
};

// Safe to use from several threads.
class Caller {
public:
    // `logs` are asked in order and all told; they outlive the caller. `only_replay`: what no log has is not_recorded,
    // and nothing is ever sent.
    Caller(const Prices& prices, Limits limits, std::vector<CallLog*> logs, bool only_replay, Cancel cancel);

    // A call is let through only when its worst case (an estimate of the input, max_output_tokens of output) beside
    // those in flight stays within the limits; max_output_tokens is lowered to what is left where that still helps
    // (at least 1000), else the reply is over_limit. Failures that cost nothing, or that the next attempt may mend, are
    // asked again by a resumed run, and met again by a replay.
    Reply ask(Model& model, Request request, const std::string& subject);
    // The same in two halves. What a replay repeats is the order of beginning; `finish` waits for the reply, on any
    // thread.
    Begun begin(Model& model, Request request, const std::string& subject);
    Call finish(const Begun& begun, const Cancel& cancel = {});

    // Whether asking this for the first time would send nothing.
    bool knows(const Model& model, const Request& request) const;

    Spent spent() const;                              // in all
    std::vector<RoleSpent> by_role() const;           // in the order of role and model
    std::map<std::string, Spent> by_subject() const;  // the strategy or kernel that calls were about
    // One line a kind of loss: "coder openai/gpt-6: rate_limited (3 times): ...".
    std::vector<std::string> losses() const;
    bool exhausted() const;  // a limit has refused a call

private:
    Call numbered(const Model& model, const Request& request, const std::string& subject);
    std::optional<Call> find_recorded(const Call& call);
    std::string reserve(const Price* price, const Request& request, Reservation& reservation);
    void release(const Reservation& reservation);
    void account(const Call& call);
    void log(const Call& call);
    Call settle(Call call, const Reservation& reservation);
    double worst_cost(const Price* price, const Request& request, int max_output_tokens) const;

    const Prices& prices_;
    Limits limits_;
    std::vector<CallLog*> logs_;
    bool only_replay_;
    Cancel cancel_;
    mutable std::mutex mutex_;
    int sequence_ = 0;
    std::map<std::string, int> asked_;  // hash of model and request -> how often
    Spent spent_;
    std::map<std::pair<std::string, std::string>, Spent> by_role_;
    std::map<std::string, Spent> by_subject_;
    std::map<std::string, std::pair<int, std::string>> losses_;  // how often, the first one's reason
    double reserved_cost_ = 0;
    int64_t reserved_tokens_ = 0;
    bool exhausted_ = false;
};

// A rough, high estimate of how many tokens a text takes.
int64_t estimate_tokens(const std::string& text);
int64_t input_tokens_of(const Request& request);  // the same of all that is sent

}  // namespace strop::llm
