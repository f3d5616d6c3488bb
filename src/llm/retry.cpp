#include "llm/retry.h"

#include <curl/curl.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/strings.h"

namespace strop::llm {

namespace {

constexpr double first_wait = 0.5, longest_wait = 8, patience = 120;  // seconds

std::string header(const Attempt& attempt, const char* name) {
    auto found = attempt.headers.find(name);
    return found == attempt.headers.end() ? std::string() : found->second;
}

std::optional<double> number(const std::string& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || std::isnan(value)) return std::nullopt;
    return value;
}

// What the server asks for, in seconds.
std::optional<double> asked(const Attempt& attempt, std::time_t now) {
    if (auto milliseconds = number(header(attempt, "retry-after-ms"))) return *milliseconds / 1000;
    std::string text = header(attempt, "retry-after");
    if (auto seconds = number(text)) return seconds;
    std::time_t date = text.empty() ? -1 : curl_getdate(text.c_str(), nullptr);
    if (date != -1) return std::difftime(date, now);
    return attempt.error.retry_delay;
}

bool worth_retrying(const Attempt& attempt) {
    if (attempt.no_answer) return true;
    if (is_final(attempt.error)) return false;
    std::string advice = lower(header(attempt, "x-should-retry"));
    if (advice == "true" || advice == "false") return advice == "true";
    int status = attempt.error.status;
    return status == 408 || status == 409 || status == 429 || status >= 500;
}

}  // namespace

std::optional<Seconds> wait_before_retry(const Attempt& attempt, int retry, double jitter, std::time_t now) {
    if (!worth_retrying(attempt)) return std::nullopt;
    double wanted = asked(attempt, now).value_or(0);
    if (wanted > patience) return std::nullopt;
    if (wanted > 0) return Seconds(wanted);
    return Seconds(std::min(longest_wait, first_wait * std::exp2(retry)) * (1 - 0.25 * jitter));
}

bool wait(Seconds time, const Cancel& cancel) {
    auto end = Clock::now() + time;
    while (true) {
        if (cancel && cancel()) return false;
        Seconds left = end - Clock::now();
        if (left.count() <= 0) return true;
        std::this_thread::sleep_for(std::min(left, Seconds(0.1)));
    }
}

}  // namespace strop::llm
