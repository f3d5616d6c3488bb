// What a clock or a network decided while a run went on, in order: another walk through the run takes it from here.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "knowledge/store.h"

namespace strop {

class Journal {
public:
    // `replay`: what is not in it never happened.
    Journal(Store& store, const std::string& run, bool replay) : store_(store), run_(run), replay_(replay) {}

    // The next entry of that kind: the recorded one, else what `now` says, which is kept before it is returned. Empty
    // where a replay has none. Kinds have an order each; one kind's entries are asked for by one thread.
    std::string next(const std::string& kind, const std::function<std::string()>& now);

private:
    Store& store_;
    std::string run_;
    bool replay_;
    std::mutex mutex_;
    std::map<std::string, int> counts_;
};

}  // namespace strop
