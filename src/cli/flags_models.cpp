#include "cli/flags_models.h"

namespace strop::cli {

std::vector<Flag> joined(std::vector<Flag> flags, const std::vector<Flag>& more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
}

std::vector<Flag> choosing_flags() {
    return {{"--model",
             "MODEL",
             "ask a language model: openai/NAME, anthropic/NAME, gemini/NAME, compatible/NAME or exec:COMMAND; "
             "ROLE=MODEL for one role; may be repeated",
             Kind::text,
             "",
             {},
             true},
            {"--base-url", "URL", "where the provider answers; compatible/NAME needs one", Kind::text, ""},
            {"--key-file", "FILE", "holds the key, readable by you alone (default: the provider's variable)",
             Kind::file, ""},
            {"--max-cost", "DOLLARS", "spend at most this much on models; 0: no limit", Kind::number, "0"},
            {"--max-tokens", "N", "of input and output together; 0: no limit", Kind::whole, "0"},
            {"--prices", "FILE", "prices that go before those of data/prices.json", Kind::file, ""}};
}

std::vector<Flag> model_flags() {
    return joined(
        choosing_flags(),
        {{"--analysis-prompt", "FILE", "your own words for the model that reads measurements", Kind::file, ""},
         {"--dry-run", "", "one candidate, then stop; with --on: only show what would be submitted"},
         {"--record", "FILE", "write models' replies and all measurements there", Kind::file, ""},
         {"--replay", "FILE", "walk a recorded run again: nothing is sent and nothing is measured", Kind::file, ""}});
}

}  // namespace strop::cli
