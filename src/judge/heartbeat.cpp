#include "judge/heartbeat.h"

#include <utility>

namespace strop::judge {

Heartbeat::Heartbeat(Seconds period, std::function<void()> say)
    : thread_([this, period, say = std::move(say)] {
          std::unique_lock lock(mutex_);
          while (!ended_.wait_for(lock, period, [this] { return over_; })) say();
      }) {}

Heartbeat::~Heartbeat() {
    {
        std::lock_guard lock(mutex_);
        over_ = true;
    }
    ended_.notify_one();
    thread_.join();
}

}  // namespace strop::judge
