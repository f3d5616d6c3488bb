// Says every few seconds that somebody is still at work, as long as it lives.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace strop::judge {

class Heartbeat {
public:
    // `say` is called by a thread of its own, and never once this has ended.
    Heartbeat(Seconds period, std::function<void()> say);
    ~Heartbeat();
    Heartbeat(const Heartbeat&) = delete;
    Heartbeat& operator=(const Heartbeat&) = delete;

private:
    std::mutex mutex_;
    std::condition_variable ended_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace strop::judge
