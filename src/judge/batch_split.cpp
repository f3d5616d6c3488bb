#include "judge/batch_split.h"

#include <algorithm>

namespace strop::judge {

namespace {

struct Group {
    std::string library;
    Share requests;
};

// By library, none larger than `most`: who is left without work could as well compile it a second time.
std::vector<Group> groups_of(const std::vector<EvaluationRequest>& requests, size_t most) {
    std::vector<Group> groups;
    std::map<std::string, size_t> open;
    for (size_t i = 0; i < requests.size(); ++i) {
        const std::string library = library_of(requests[i].kernel, requests[i].configuration);
        auto [at, is_new] = open.try_emplace(library, groups.size());
        if (!is_new && groups[at->second].requests.size() == most) is_new = true;
        if (is_new) {
            at->second = groups.size();
            groups.push_back({library, {}});
        }
        groups[at->second].requests.push_back(i);
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.requests.size() > b.requests.size(); });
    return groups;
}

}  // namespace

std::vector<Share> split_batch(const std::vector<EvaluationRequest>& requests, const std::vector<size_t>& workers,
                               std::map<std::string, size_t>& homes) {
    std::vector<Share> shares(workers.size());
    const size_t most = (requests.size() + workers.size() - 1) / std::max<size_t>(1, workers.size());
    for (const Group& group : groups_of(requests, most)) {
        auto smaller = [](const Share& a, const Share& b) { return a.size() < b.size(); };
        size_t chosen = static_cast<size_t>(std::min_element(shares.begin(), shares.end(), smaller) - shares.begin());
        const auto home = homes.find(group.library);
        for (size_t w = 0; home != homes.end() && w < workers.size(); ++w)
            if (workers[w] == home->second && shares[w].size() + group.requests.size() <= most) chosen = w;
        homes[group.library] = workers[chosen];
        shares[chosen].insert(shares[chosen].end(), group.requests.begin(), group.requests.end());
    }
    for (Share& share : shares) std::sort(share.begin(), share.end());
    return shares;
}

}  // namespace strop::judge
