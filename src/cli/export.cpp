// strop export: a run's conversations as files, the whole run in one, or its result as a solution of flashinfer-bench.
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/models.h"
#include "cli/store_access.h"
#include "core/json.h"
#include "report/facts.h"
#include "run/recording.h"
#include "run/result_folder.h"

namespace strop::cli {

namespace {

// The result's Python module with the definition's own `run` over it, which the import has written.
std::string solution_of(const RunRecord& record) {
    const fs::path problem = record.problem_folder, result = record.result;
    std::error_code failed;
    if (!fs::exists(problem / "definition.json", failed) || !fs::exists(problem / "solution.py", failed))
        throw UsageError(fmt::format("{}: its problem is no definition of flashinfer-bench", record.run),
                         "import one with `strop import NAME.json DIR`, and optimize that");
    const std::string name = record.problem;
    if (source_ending(record) != ".cpp")
        throw UsageError(
            fmt::format("{}: its kernel runs on a GPU, and a solution here is for the processor", record.run),
            "its NAME.py in the result folder is called as it is");
    Json sources = Json::array({{{"path", "main.py"}, {"content", read_file(problem / "solution.py")}}});
    for (const char* ending : {".py", "_python.cpp", ".cpp"})
        sources.push_back({{"path", name + ending}, {"content", read_file(result / (name + ending))}});
    const Json definition = Json::parse(read_file(problem / "definition.json"), nullptr, false);
    if (!definition.is_object() || !definition.contains("name"))
        throw UsageError(fmt::format("{}: is no definition any more", (problem / "definition.json").string()),
                         "import it again");
    return dump({{"name", record.run},
                 {"definition", definition["name"]},
                 {"author", "strop " + record.strop_version},
                 {"description", report::headline(record)},
                 {"spec",
                  {{"language", "python"},
                   {"target_hardware", {record.machine.cpu}},
                   {"entry_point", "main.py::run"},
                   {"dependencies", {"torch", "numpy"}},
                   {"destination_passing_style", false}}},
                 {"sources", sources}},
                2) +
           "\n";
}

}  // namespace

int command_export(const Arguments& arguments) {
    RunRecord record = load_named_run(arguments);
    if (!arguments.has("--transcript") && !arguments.has("--record") && !arguments.has("--solution"))
        throw UsageError("nothing to export", "--transcript DIR, --record FILE, --solution FILE, or several");
    if (arguments.has("--solution")) {
        write_named_file(arguments.text("--solution"), solution_of(record));
        fmt::print("{}\n", arguments.text("--solution"));
    }
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
