// Who of several workers judges what of a batch. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evaluation.h"

namespace strop::judge {

using Share = std::vector<size_t>;  // places in the batch, in its order

// A share for each worker, all about as large; some are empty where there is less than one for each. Configurations
// that are compiled together stay together as far as that leaves nobody idle. `homes`: who has a library already (a
// number of a worker), kept from batch to batch.
std::vector<Share> split_batch(const std::vector<EvaluationRequest>& requests, const std::vector<size_t>& workers,
                               std::map<std::string, size_t>& homes);

}  // namespace strop::judge
