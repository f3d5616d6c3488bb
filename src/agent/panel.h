// The models at the table: who is asked for which role, and what each has spent and won.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "llm/caller.h"
#include "llm/spec.h"

namespace strop::agent {

struct Seat {
    llm::Spec spec;
    std::unique_ptr<llm::Model> model;
};

// What was asked of a model in a role, for reports.
struct RoleUse {
    std::string role, model;
    llm::Spent spent;
};

class Panel {
public:
    // `caller` outlives the panel. At least one seat.
    Panel(std::vector<Seat> seats, llm::Caller& caller);

    bool has(const std::string& role) const;   // a model may be asked for it
    // Asks the one whose turn it is: those named for the role, else those named for none. Several of them share the
    // calls by an upper confidence bound over what their kernels won per dollar (UCB1, Auer et al. 2002).
    // Thread-safe. A reply that a replay does not have is a UsageError. `asked` gets the model's name.
    llm::Reply ask(llm::Request request, const std::string& subject, std::string* asked = nullptr);
    // How good the best kernel of a model is, in [0, 1]; the later word counts.
    void credit(const std::string& model, double standing);

    // By role and model, in the order of their names.
    std::vector<RoleUse> uses() const;
    // One line a loss: "coder openai/gpt-6: rate_limited (3 times): ...".
    std::vector<std::string> losses() const;

private:
    Seat& choose(const std::string& role);

    std::vector<Seat> seats_;
    llm::Caller& caller_;
    mutable std::mutex mutex_;
    std::map<std::string, int> turns_;         // model -> how often it was chosen
    std::map<std::string, double> standing_;   // model -> of its best kernel
};

}  // namespace strop::agent
