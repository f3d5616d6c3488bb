// What the machine does to times while a search goes on. Memory that others use as well may give half as much again for
// a second, and who was measured then would lead for the rest of the search.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"

namespace strop::search {

class Drift {
public:
    // `labels`: of points whose tensors lie in no cache; others are left as they are.
    Drift(Evaluator& evaluator, std::set<std::string> labels) : evaluator_(evaluator), labels_(std::move(labels)) {}

    // Brings the times of a batch that was just judged to the scale of those before it. Where its best differs clearly
    // from the best that is known, the two are timed in turns: what the ratio of their own times says beside that of
    // the turns is the machine's. Costs at most a seventh of what the batches cost. `kernels`: of the batch.
    void level(std::vector<Evaluation>& batch, const std::vector<const Kernel*>& kernels);

private:
    struct Best {
        Contender who;
        double nanoseconds = 0;  // on the scale of the first batch
    };

    bool worth_asking(const std::string& label, double ratio);
    double measured(const Contender& known, const Contender& other, const ShapePoint& point, double ratio);

    Evaluator& evaluator_;
    const std::set<std::string> labels_;
    std::map<std::string, Best> best_;    // by label
    std::map<std::string, int> batches_;  // slower ones since it was asked there
    std::set<std::string> restless_;      // where it differed
    double asking_seconds_ = 0, judging_seconds_ = 0;
};

}  // namespace strop::search
