// strop export: a run's conversations as files, or the whole run in one.
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/models.h"
#include "cli/store_access.h"
#include "run/recording.h"

namespace strop::cli {

int command_export(const Arguments& arguments) {
    RunRecord record = load_named_run(arguments);
    if (!arguments.has("--transcript") && !arguments.has("--record"))
        throw UsageError("nothing to export", "--transcript DIR, --record FILE, or both");
    if (arguments.has("--record")) {
        std::unique_ptr<Store> store = existing_store(arguments);
        write_recording(arguments.text("--record"), *store, record);
        fmt::print("{}\n", arguments.text("--record"));
    }
    if (arguments.has("--transcript")) {
        fs::path folder = arguments.text("--transcript");
        std::error_code failed;
        fs::create_directories(folder, failed);
        if (failed)
            throw EnvironmentError(fmt::format("{}: {}", folder.string(), failed.message()), "choose another folder");
        std::vector<llm::Call> calls = load_calls(arguments, record.run);
        for (const llm::Call& call : calls)
            write_file(folder / fmt::format("{:04}-{}.md", call.sequence, call.request.role), transcript(call));
        fmt::print("{}: {} calls\n", folder.string(), calls.size());
    }
    return 0;
}

}  // namespace strop::cli
