#include "run/journal.h"

#include <fmt/format.h>

#include "core/json.h"
#include "run/recording.h"

namespace strop {

std::string Journal::next(const std::string& kind, const std::function<std::string()>& now) {
    std::string key;
    {
        std::lock_guard lock(mutex_);
        key = fmt::format("{}{}:{}", journal_prefix, kind, counts_[kind]++);
    }
    if (std::optional<std::string> known = store_.find_document(run_, key))
        return Json::parse(*known).get<std::string>();
    if (replay_) return {};
    std::string entry = now();
    store_.add_document(run_, key, dump(Json(entry)));
    return entry;
}

}  // namespace strop
