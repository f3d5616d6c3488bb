// Runs that go on side by side on the same problem and kind of machine judge each configuration once: by claims in
// their store.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/evaluation.h"
#include "knowledge/store.h"

namespace strop {

class SharedWork {
public:
    // `work`: names problem, machine, tool chain and judge. `idle` is called while another run is waited for, and may
    // throw.
    SharedWork(Store& store, std::string run, const std::string& work, std::function<void()> idle);

    // `measure` judges requests and records what it says under its run. Of what others have judged the evaluation names
    // their run, and is recorded too. In the order of the requests.
    using Measure = std::function<std::vector<Evaluation>(std::vector<EvaluationRequest>)>;
    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> requests, const std::vector<std::string>& keys,
                                     const Measure& measure);

private:
    class Batch;

    Store& store_;
    std::string run_, work_;
    std::function<void()> idle_;
};

}  // namespace strop
