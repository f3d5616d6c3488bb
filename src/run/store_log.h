// Calls to models, kept with a run.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "knowledge/store.h"
#include "llm/caller.h"
#include "run/recording.h"

namespace strop {

class StoreLog : public llm::CallLog {
public:
    StoreLog(Store& store, std::string run) : store_(store), run_(std::move(run)) {}
    std::optional<llm::Call> find(const std::string& hash) override {
        std::optional<std::string> text = store_.find_document(run_, call_prefix + hash);
        return text ? std::optional(llm::call_from_json_text(*text)) : std::nullopt;
    }
    void add(const llm::Call& call) override {
        store_.add_document(run_, call_prefix + call.hash, llm::to_json_text(call));
    }

private:
    Store& store_;
    std::string run_;
};

}  // namespace strop
