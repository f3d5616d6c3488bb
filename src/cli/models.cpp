#include "cli/models.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/store_access.h"
#include "cli/table.h"
#include "llm/price.h"
#include "llm/spec.h"
#include "run/recording.h"

namespace strop::cli {

void check_models(const std::vector<std::string>& models, const std::string& base_url, const std::string& key_file) {
    for (const std::string& text : models) {
        llm::Spec spec = llm::parse_spec(text);
        if (spec.provider == "compatible" && base_url.empty())
            throw UsageError(fmt::format("--model {}: where does it answer?", text),
                             "add --base-url, for instance --base-url http://127.0.0.1:8080/v1");
        if (spec.provider != "exec" && !key_file.empty()) (void)llm::find_key(spec.provider, key_file);
    }
}

void read_model_flags(const Arguments& arguments, RunOptions& options) {
    RunSettings& settings = options.settings;
    settings.models = arguments.all("--model");
    settings.base_url = arguments.text("--base-url");
    settings.max_cost = arguments.number("--max-cost");
    settings.max_tokens = arguments.integer("--max-tokens");
    settings.dry_run = arguments.has("--dry-run");
    if (arguments.has("--key-file")) settings.key_file = fs::absolute(arguments.text("--key-file"));
    if (arguments.has("--prices")) settings.prices = fs::absolute(arguments.text("--prices"));
    if (arguments.has("--analysis-prompt")) settings.analysis_advice = read_file(arguments.text("--analysis-prompt"));
    if (arguments.has("--replay")) options.replay = fs::absolute(arguments.text("--replay"));
    if (settings.dry_run) {
        settings.evaluations = 1;
        settings.rounds = 1;
    }
    check_models(settings.models, settings.base_url, settings.key_file);
    (void)llm::load_prices(settings.prices);
    bool lonely = settings.models.empty() && !options.replay;
    for (const char* flag : {"--base-url", "--key-file", "--max-cost", "--max-tokens", "--analysis-prompt"})
        if (lonely && arguments.has(flag))
            throw UsageError(fmt::format("{} without a --model", flag), "name one: --model anthropic/NAME");
}

std::vector<llm::Call> load_calls(const Arguments& arguments, const std::string& run) {
    std::vector<llm::Call> calls;
    std::unique_ptr<Store> store = existing_store(arguments);
    if (!store) return calls;
    for (const auto& [key, text] : store->documents(run, call_prefix)) calls.push_back(llm::call_from_json_text(text));
    std::stable_sort(calls.begin(), calls.end(),
                     [](const llm::Call& a, const llm::Call& b) { return a.sequence < b.sequence; });
    return calls;
}

std::string calls_text(const std::vector<llm::Call>& calls) {
    if (calls.empty()) return "no language model was asked\n";
    std::vector<std::vector<std::string>> cells = {
        {"CALL", "ROLE", "MODEL", "ABOUT", "INPUT", "CACHED", "OUTPUT", "COST", "SECONDS", "RETRIES", "ANSWER"}};
    for (const llm::Call& call : calls) {
        const llm::Usage& usage = call.reply.usage;
        cells.push_back({std::to_string(call.sequence), call.request.role, call.model, call.subject,
                         std::to_string(usage.input_tokens), std::to_string(usage.cached_tokens),
                         std::to_string(usage.output_tokens), call.priced ? fmt::format("${:.4f}", call.cost) : "–",
                         fmt::format("{:.1f}", call.reply.seconds), std::to_string(call.reply.retries),
                         call.reply.ok() ? fmt::format("{} bytes", call.reply.text.size())
                                         : fmt::format("{}: {}", llm::name_of(call.reply.failure), call.reply.why)});
    }
    return table(cells);
}

std::string transcript(const llm::Call& call) {
    const llm::Usage& usage = call.reply.usage;
    std::string text = fmt::format(
        "# {} asks {} about {}\n\n{}, {:.1f} s, {} retries; {} tokens in ({} cached), {} out ({} reasoning), {}\n",
        call.request.role, call.model, call.subject, call.started, call.reply.seconds, call.reply.retries,
        usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens,
        call.priced ? fmt::format("${:.4f}", call.cost) : "no known price");
    text += fmt::format("\n## System\n\n{}\n", call.request.system);
    for (const llm::Message& message : call.request.messages)
        text += fmt::format("\n## {}\n\n{}\n", message.author == llm::Message::Author::user ? "User" : "Assistant",
                            message.content);
    text += call.reply.ok() ? fmt::format("\n## Answer\n\n{}\n", call.reply.text)
                            : fmt::format("\n## Answer: {}\n\n{}\n{}\n", llm::name_of(call.reply.failure),
                                          call.reply.why, call.reply.text);
    return text;
}

}  // namespace strop::cli
