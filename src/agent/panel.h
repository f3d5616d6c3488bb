// The models at the table: who is asked for which role, and what each has spent and won.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llm/caller.h"
#include "llm/spec.h"

namespace strop::agent {

struct Seat {
    llm::Spec spec;
    std::unique_ptr<llm::Model> model;
};

// One for each `--model`. In a mix the address is that of the models that have none of their own.
std::vector<Seat> seats_of(const std::vector<std::string>& models, const std::string& base_url,
                           const std::string& key_file);

class Panel {
public:
    // `caller` outlives the panel. At least one seat.
    Panel(std::vector<Seat> seats, llm::Caller& caller);

    bool has(const std::string& role) const;  // a model may be asked for it
    // Whose turn it is: of those named for the role, else of those named for none. Several of them share the calls by
    // an upper confidence bound over what their kernels won per dollar (UCB1, Auer et al. 2002). Turns are taken in an
    // order that a replay can repeat, so not from threads.
    Seat& take_turn(const std::string& role);
    // A call in two halves, and what was learned of it. `begin` and `settle` belong to the thread that takes turns, in
    // an order that a replay can repeat; `finish` waits, on any thread.
    llm::Begun begin(Seat& seat, llm::Request request, const std::string& subject);
    llm::Call finish(const llm::Begun& begun, const llm::Cancel& cancel);
    // UsageError for a reply that a replay does not have.
    llm::Reply settle(const llm::Call& call);
    // All at once; `asked` gets the model's name. A role that nobody fills is a failed reply.
    llm::Reply ask(llm::Request request, const std::string& subject, std::string* asked = nullptr);
    // How long a call for the role takes, as it did so far; a role that was never asked takes as long as the others. 0:
    // nobody was asked yet.
    double expected_seconds(const std::string& role) const;
    // How good the best kernel of a model is, in [0, 1]; the later word counts.
    void credit(const std::string& model, double standing);

private:
    struct Durations {
        int calls = 0;
        double seconds = 0;
        double mean() const { return calls > 0 ? seconds / calls : 0; }
    };

    std::vector<Seat> seats_;
    llm::Caller& caller_;
    std::map<std::string, int> turns_;            // model -> how often it was chosen
    std::map<std::string, double> standing_;      // model -> of its best kernel
    std::map<std::string, double> costs_;         // model -> of its calls, in dollars
    std::map<std::string, Durations> durations_;  // by role
};

}  // namespace strop::agent
