#include "mcp/tools.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "mcp/message.h"
#include "sandbox/line_process.h"

namespace strop::mcp {

namespace {

constexpr const char* instructions =
    "Strop finds fast kernels and judges them: `judge` compiles, checks and times a kernel of yours beside the "
    "installed "
    "baselines; `optimize` searches by itself. A problem is a folder with problem.yaml and a reference, or the name of "
    "one "
    "that `list` shows. Only what `judge` calls ok is right; its evidence says what is wrong else.";
constexpr const char* scheme = "strop://runs/";

Json object(const Json& properties, const std::vector<std::string>& required) {
    Json schema = {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
    if (!required.empty()) schema["required"] = required;
    return schema;
}

Json text(const std::string& description) { return {{"type", "string"}, {"description", description}}; }
Json number(const std::string& description) { return {{"type", "number"}, {"description", description}}; }
Json texts(const std::string& description) {
    return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", description}};
}

// What was printed: lines of progress and, from the first line that begins one on, a JSON document.
struct Output {
    std::vector<std::string> said;
    std::string document;
    int exit_code = 0;
};

Output run(const Program& program, const std::vector<std::string>& words, Call& call) {
    std::vector<std::string> argv = {program.path.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    Output output;
    auto sort = [&](const std::string& line) {
        if (output.document.empty() && !line.starts_with("{") && !line.starts_with("[")) {
            output.said.push_back(line);
            call.progress(line);
        } else {
            output.document += line + "\n";
        }
    };
    output.exit_code = sandbox::follow(argv, sort, [&] { return call.cancelled(); }).exit_code;
    return output;
}

// An exit code above 1 is a failure of the tool: its words are the answer.
Answer answer_of(const Output& output, const std::function<std::string(const Json&)>& summary) {
    Json document = Json::parse(output.document, nullptr, false);
    if (output.exit_code > 1 || output.exit_code < 0 || document.is_discarded()) {
        std::vector<std::string> last(output.said.end() - std::min<ptrdiff_t>(2, std::ssize(output.said)),
                                      output.said.end());
        return {join(last, "\n"), nullptr, true};
    }
    if (document.is_array()) document = {{"items", document}};
    return {summary(document), document, false};
}

std::string as_json(const Json& document) { return document.dump(2); }

// Flags of a command out of a call's arguments; a name that the schema does not have is an error.
class Words {
public:
    Words(std::vector<std::string> first, const Json& arguments, const Json& schema)
        : words_(std::move(first)),
          arguments_(arguments) {
        for (const auto& [name, value] : arguments.items())
            if (!schema["properties"].contains(name))
                throw ProtocolError(invalid_params, "unknown argument '" + name + "'");
        for (const Json& name : schema.value("required", Json::array()))
            if (!arguments.contains(name))
                throw ProtocolError(invalid_params, "missing argument '" + name.get<std::string>() + "'");
    }

    Words& position(const char* name) {
        if (arguments_.contains(name)) words_.push_back(word(arguments_[name], name));
        return *this;
    }
    // A list repeats its flag.
    Words& flag(const char* name, const std::string& flag) {
        if (!arguments_.contains(name)) return *this;
        const Json& value = arguments_[name];
        for (const Json& one : value.is_array() ? value : Json::array({value})) {
            words_.push_back(flag);
            words_.push_back(word(one, name));
        }
        return *this;
    }
    Words& add(const std::string& word) {
        words_.push_back(word);
        return *this;
    }
    const std::vector<std::string>& all() const { return words_; }

private:
    static std::string word(const Json& value, const char* name) {
        if (value.is_string()) {
            if (value.get_ref<const std::string&>().starts_with("-"))
                throw ProtocolError(invalid_params, fmt::format("'{}' begins with a dash", name));
            return value;
        }
        if (value.is_number()) return value.dump();
        throw ProtocolError(invalid_params, fmt::format("'{}' is neither a text nor a number", name));
    }
    std::vector<std::string> words_;
    const Json& arguments_;
};

// The report without what only a program of ours reads.
std::string optimized(const Json& report) {
    std::string text = report["headline"]["text"];
    for (const Json& caveat : report["caveats"]) text += "\n- " + caveat.get<std::string>();
    for (const Json& shape : report["shapes"])
        text += fmt::format("\n{}: {:.4g} µs", shape.value("label", ""), shape.value("nanoseconds", 0.0) / 1000);
    if (!report.value("note", "").empty()) text += "\n" + report.value("note", "");
    return text + fmt::format("\nrun {}, result {}", report.value("run", ""), report.value("result", ""));
}

Tool optimize(const Program& program) {
    Json schema = object({{"problem", text("a folder with problem.yaml, a file, or a problem's name")},
                          {"budget", text("wall-clock time, such as \"60s\" or \"10m\" (45s)")},
                          {"evaluations", number("judge at most so many configurations")},
                          {"points", texts("labels of shapes; default: the whole sweep")},
                          {"seed", number("of every random choice")},
                          {"out", text("where the result goes")},
                          {"model", texts("language models that propose kernels, as --model names them")},
                          {"max_cost", number("dollars that models may cost; needed with a model")}},
                         {"problem"});
    return {"optimize",
            "Optimize a problem",
            "Finds the fastest kernel for a problem within a budget, proves it correct and writes a result folder. "
            "Takes as "
            "long as the budget; progress is reported, and a call that is cancelled saves its state.",
            schema,
            Json{{"type", "object"}, {"required", {"run", "outcome", "headline", "shapes"}}},
            false,
            [=](const Json& arguments, Call& call) -> Answer {
                if (arguments.contains("model") && !arguments.contains("max_cost"))
                    return {"a model costs money: ask the user, and say `max_cost` in dollars", nullptr, true};
                Words words({"optimize"}, arguments, schema);
                words.position("problem")
                    .flag("evaluations", "--evaluations")
                    .flag("points", "--point")
                    .flag("seed", "--seed");
                words.flag("out", "--out").flag("model", "--model").flag("max_cost", "--max-cost");
                if (arguments.contains("budget")) words.flag("budget", "--budget");
                else words.add("--budget").add("45s");
                Answer answer = answer_of(run(program, words.add("--json").all(), call), optimized);
                if (answer.structured.is_object()) answer.structured.erase("history");
                return answer;
            }};
}

Tool judge(const Program& program) {
    Json schema = object({{"kernel", text("path of a source file: C++, OpenCL (.cl) or Python (.py)")},
                          {"source", text("the kernel's source itself in C++, instead of a path")},
                          {"problem", text("the problem that it should solve")},
                          {"set", texts("NAME=VALUE of tunables")}},
                         {"problem"});
    return {"judge",
            "Judge a kernel",
            "Compiles, checks and times one kernel at every shape, beside the installed baselines. The verdict and its "
            "evidence are the truth about it.",
            schema,
            Json{{"type", "object"}, {"required", {"verdict", "evidence", "shapes"}}},
            true,
            [=](const Json& arguments, Call& call) -> Answer {
                Words words({"judge"}, arguments, schema);
                if (arguments.contains("kernel") == arguments.contains("source"))
                    throw ProtocolError(invalid_params, "either 'kernel' or 'source' is needed");
                TemporaryFolder folder("strop-mcp");
                if (arguments.contains("kernel")) words.position("kernel");
                else words.add((folder.path() / "kernel.cpp").string());
                if (arguments.contains("source")) {
                    if (!arguments["source"].is_string()) throw ProtocolError(invalid_params, "'source' is not a text");
                    write_file(folder.path() / "kernel.cpp", arguments["source"].get<std::string>());
                }
                words.flag("problem", "--problem").flag("set", "--set").add("--progress").add("--json");
                return answer_of(run(program, words.all(), call), as_json);
            }};
}

// A command whose positional and flags are its arguments, and whose answer is its document.
Tool plain(const Program& program, const std::string& name, const std::string& title, const std::string& description,
           const Json& schema, const std::function<void(Words&)>& fill, bool read_only = true) {
    return {name,
            title,
            description,
            schema,
            Json{{"type", "object"}},
            read_only,
            [=](const Json& arguments, Call& call) -> Answer {
                Words words({name}, arguments, schema);
                fill(words);
                return answer_of(run(program, words.add("--json").all(), call), as_json);
            }};
}

Tool report(const Program& program) {
    Json schema = object({{"run", text("a run's name, or its first letters")}}, {"run"});
    return {"report",
            "Read a report",
            "The report of a past run, as Markdown.",
            schema,
            nullptr,
            true,
            [=](const Json& arguments, Call& call) -> Answer {
                Words words({"report"}, arguments, schema);
                Output output = run(program, words.position("run").add("--format").add("markdown").all(), call);
                return {join(output.said, "\n") + output.document, nullptr, output.exit_code != 0};
            }};
}

// For what is asked outside of a tool's call.
class Unattended : public Call {
public:
    bool cancelled() const override { return false; }
    void progress(const std::string&) override {}
};

std::vector<Resource> past_runs(const Program& program) {
    Unattended call;
    Json runs = Json::parse(run(program, {"runs", "--json"}, call).document, nullptr, false);
    std::vector<Resource> resources;
    if (!runs.is_array()) return resources;
    for (const Json& entry : runs) {
        const std::string name = entry.value("run", "");
        resources.push_back({scheme + name, name,
                             fmt::format("{}: {}", entry.value("problem", ""), entry.value("outcome", "")),
                             "text/markdown"});
    }
    return resources;
}

std::string read_run(const Program& program, const std::string& uri) {
    const std::string name = uri.starts_with(scheme) ? uri.substr(std::string(scheme).size()) : "";
    if (name.empty() || name.starts_with("-")) throw UsageError(fmt::format("{}: there is no such resource", uri), "");
    Unattended call;
    Output output = run(program, {"report", name, "--format", "markdown"}, call);
    if (output.exit_code != 0) throw UsageError(fmt::format("{}: {}", uri, join(output.said, " ")), "");
    return join(output.said, "\n") + "\n" + output.document;
}

Prompt write_kernel(const Program& program) {
    return {
        "write_kernel",
        "How to write a kernel for a problem, and how to have it judged.",
        {"problem"},
        [=](const Json& arguments) {
            return fmt::format(
                "Write a fast C++ kernel for the problem '{}'. Propose several fundamentally different strategies, "
                "write each as a kernel, and call `judge` with its source. Read the verdict's evidence, mend what is "
                "wrong, and go on from the fastest that is ok. Never report a kernel that was not judged ok.\n\n{}",
                arguments["problem"].get<std::string>(), program.contract);
        }};
}

}  // namespace

Service strop_service(const Program& program) {
    Service service;
    service.name = "strop";
    service.version = program.version;
    service.instructions = instructions;
    const Json kernel = text("path of a C++ source file"), problem = text("the problem that it solves");
    service.tools = {
        optimize(program),
        judge(program),
        plain(program, "profile", "Profile a kernel", "What limits a kernel at each shape, and the change to try next.",
              object({{"kernel", kernel}, {"problem", problem}, {"points", texts("labels of shapes")}},
                     {"kernel", "problem"}),
              [](Words& words) { words.position("kernel").flag("problem", "--problem").flag("points", "--point"); }),
        plain(
            program, "tune", "Tune a kernel", "Turns the tunables of one kernel (`// strop:tune` comments).",
            object({{"kernel", kernel},
                    {"problem", problem},
                    {"budget", text("such as \"60s\" (2m)")},
                    {"evaluations", number("configurations at most")}},
                   {"kernel", "problem"}),
            [](Words& words) {
                words.position("kernel").flag("problem", "--problem").flag("budget", "--budget");
                words.flag("evaluations", "--evaluations");
            },
            false),
        plain(program, "list", "List problems", "Problems with their tags and latest speedups.",
              object({{"folder", text("where problems lie")}}, {}), [](Words& words) { words.position("folder"); }),
        plain(program, "runs", "List runs", "Past runs, newest first.",
              object({{"problem", text("only runs of this problem")}}, {}),
              [](Words& words) { words.position("problem"); }),
        report(program),
    };
    service.prompts = {write_kernel(program)};
    service.resources = [program] { return past_runs(program); };
    service.read = [program](const std::string& uri) { return read_run(program, uri); };
    return service;
}

}  // namespace strop::mcp
