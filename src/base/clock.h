// The monotonic clock, and a stopwatch that adds wall time to a named phase.
#pragma once

#include <chrono>
#include <string>

namespace strop {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

inline double seconds_since(Clock::time_point start) { return Seconds(Clock::now() - start).count(); }

// Adds the lifetime of this object to `total`, in seconds.
class PhaseTimer {
public:
    explicit PhaseTimer(double& total) : total_(total), start_(Clock::now()) {}
    ~PhaseTimer() { total_ += seconds_since(start_); }
    PhaseTimer(const PhaseTimer&) = delete;
    PhaseTimer& operator=(const PhaseTimer&) = delete;

private:
    double& total_;
    Clock::time_point start_;
};

// "60s", "2m", "1h30m", "500ms", "90" (seconds) as seconds; a UsageError otherwise. Must be positive.
Seconds parse_duration(const std::string& text);

// The wall-clock time as "2026-01-31T12:34:56Z".
std::string utc_now();

}  // namespace strop
