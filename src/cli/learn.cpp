// strop learn: documents become lessons, which runs confirm or contradict.
#include <algorithm>
#include <cstdio>
#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/models.h"
#include "cli/store_access.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "judge/worker_client.h"
#include "run/lesson_trial.h"
#include "run/studying.h"

namespace strop::cli {

namespace {

struct Tried {
    StudiedLesson lesson;
    Trial trial;
};

std::string thousands(int64_t count) {
    if (count < 10'000) return std::to_string(count);
    std::string text;
    for (int64_t rest = (count + 500) / 1000; rest > 0; rest /= 1000)
        text = " " + (rest >= 1000 ? fmt::format("{:03}", rest % 1000) : std::to_string(rest)) + text;
    return text.substr(1) + " 000";
}

// ---- before ----------------------------------------------------------------------------------------------------

// Whoever is named for the role, else for all of them.
agent::Seat reader_of(const Arguments& arguments) {
    const std::vector<std::string> models = arguments.all("--model");
    if (models.empty()) throw UsageError("no model was named", "--model anthropic/NAME, or exec:COMMAND");
    const std::string base_url = arguments.text("--base-url"), key_file = arguments.text("--key-file");
    check_models(models, base_url, key_file);
    std::vector<agent::Seat> seats = agent::seats_of(models, base_url, key_file), fit;
    for (const char* role : {"reader", ""})
        if (fit.empty())
            for (agent::Seat& seat : seats)
                if (seat.model && seat.spec.role == role) fit.push_back(std::move(seat));
    if (fit.empty()) throw UsageError("no model was named for the role reader", "--model reader=anthropic/NAME");
    if (fit.size() > 1)
        throw UsageError(fmt::format("one model reads, and {} were named", fit.size()),
                         "leave one, or name it: --model reader=anthropic/NAME");
    return std::move(fit.front());
}

std::string documents_text(const study::Library& library, const Study& study) {
    std::string text;
    for (size_t i = 0; i < library.documents.size(); ++i) {
        const study::Document& document = library.documents[i];
        text += one_line(document.name) + ": " +
                (document.pages > 0 ? counted(static_cast<size_t>(document.pages), "page") + ", " : "") +
                counted(study.passages_by_document()[i], "passage") +
                (study.passages_by_document()[i] == 0 ? ", as it holds hardly any text" : "") + "\n";
    }
    return text;
}

std::string estimate_text(const StudyEstimate& estimate, const std::string& model) {
    std::string text = counted(estimate.passages, "passage");
    if (estimate.known > 0) text += fmt::format(", {} of them known", estimate.known);
    if (estimate.known == estimate.passages) return text + ": nothing to pay\n";
    return text + fmt::format(": at most about {} tokens to {}, about {} back, {}\n", thousands(estimate.input_tokens),
                              one_line(model).substr(0, 60), thousands(estimate.output_tokens),
                              estimate.priced ? fmt::format("${:.2f}", estimate.dollars) : "no price is known");
}

void complain(const std::vector<study::LeftOut>& left_out) {
    for (const study::LeftOut& one : left_out)
        fmt::print(stderr, "! {}\n  hint: {}\n", one_line(one.phrase), one_line(one.hint));
}

void note_addressed(const std::vector<std::string>& lines) {
    constexpr size_t most = 5;
    for (size_t i = 0; i < std::min(most, lines.size()); ++i)
        fmt::print(stderr, "note: words that are meant for a model are read as data: {}\n", one_line(lines[i]));
    if (lines.size() > most)
        fmt::print(stderr, "note: so are those of {}\n", counted(lines.size() - most, "more passage"));
}

// ---- after -----------------------------------------------------------------------------------------------------

std::string summary(const StudyReport& report, size_t passages) {
    const auto fresh = std::count_if(report.lessons.begin(), report.lessons.end(),
                                     [](const StudiedLesson& lesson) { return lesson.fresh; });
    std::string text = fmt::format("{} ({} new) from {} of {}", counted(report.lessons.size(), "lesson"), fresh,
                                   report.answered, counted(passages, "passage"));
    if (!report.dropped.empty()) text += fmt::format(", {} dropped", report.dropped.size());
    if (report.asked == 0) return text + (report.answered > 0 ? "; nothing was paid: all of it was known\n" : "\n");
    text += fmt::format("; {}, {}", counted(static_cast<size_t>(report.asked), "call"),
                        report.priced ? fmt::format("${:.4f}", report.dollars)
                                      : fmt::format("{} tokens, no price is known",
                                                    thousands(report.input_tokens + report.output_tokens)));
    return text + (report.replayed > 0 ? fmt::format("; {} known\n", report.replayed) : "\n");
}

std::string trial_text(const Tried& tried) {
    const char* what = tried.trial.kind == Testimony::Kind::confirms      ? "confirmed"
                       : tried.trial.kind == Testimony::Kind::contradicts ? "contradicted"
                                                                          : "undecided";
    return fmt::format("{}: {} {}: {} [{}]\n", what, name_of(tried.lesson.lesson.advice),
                       tried.lesson.lesson.strategy +
                           (tried.lesson.lesson.values.empty() ? "" : " " + describe(tried.lesson.lesson.values)),
                       tried.trial.note, tried.lesson.lesson.source);
}

Json to_document(const study::Library& library, const Study& study, const StudyEstimate& estimate) {
    Json documents = Json::array(), left_out = Json::array();
    for (size_t i = 0; i < library.documents.size(); ++i)
        documents.push_back({{"name", library.documents[i].name},
                             {"hash", library.documents[i].hash},
                             {"pages", library.documents[i].pages},
                             {"passages", study.passages_by_document()[i]}});
    for (const study::LeftOut& one : library.left_out) left_out.push_back({{"what", one.phrase}, {"hint", one.hint}});
    return {{"documents", documents},
            {"addressed", study.addressed()},
            {"estimate",
             {{"passages", estimate.passages},
              {"known", estimate.known},
              {"input_tokens", estimate.input_tokens},
              {"output_tokens", estimate.output_tokens},
              {"dollars", estimate.priced ? Json(estimate.dollars) : Json()}}},
            {"left_out", left_out}};
}

void add_report(const StudyReport& report, const std::vector<Tried>& tried, Json& document) {
    Json lessons = Json::array(), trials = Json::array();
    for (const StudiedLesson& one : report.lessons)
        lessons.push_back({{"id", one.id}, {"lesson", one.lesson}, {"problem", one.problem}, {"new", one.fresh}});
    for (const Tried& one : tried)
        trials.push_back({{"id", one.lesson.id},
                          {"problem", one.lesson.problem},
                          {"verdict", name_of(one.trial.kind)},
                          {"note", one.trial.note}});
    for (const study::LeftOut& one : report.left_out)
        document["left_out"].push_back({{"what", one.phrase}, {"hint", one.hint}});
    document["answered"] = report.answered;
    document["lessons"] = lessons;
    document["dropped"] = report.dropped;
    document["trials"] = trials;
    document["spent"] = {{"calls", report.asked},
                         {"known", report.replayed},
                         {"input_tokens", report.input_tokens},
                         {"output_tokens", report.output_tokens},
                         {"dollars", report.priced ? Json(report.dollars) : Json()}};
}

// ---- between ---------------------------------------------------------------------------------------------------

// A file a call, when that is asked for.
class Transcript {
public:
    explicit Transcript(const fs::path& folder) : folder_(folder) {
        std::error_code failed;
        if (!folder_.empty()) fs::create_directories(folder_, failed);
        if (failed)
            throw EnvironmentError(fmt::format("{}: {}", folder_.string(), failed.message()), "choose another folder");
    }
    void add(const llm::Call& call) {
        if (folder_.empty()) return;
        write_file(folder_ / fmt::format("{:05}-{}.md", call.sequence, call.request.role), transcript(call));
    }

private:
    fs::path folder_;
};

StudyReport read(Study& study, size_t passages, const Arguments& arguments) {
    Transcript transcript(arguments.text("--transcript"));
    LivePainter painter(2, arguments.has("--quiet"));
    auto show = [&](const StudyReport& so_far) {
        painter.paint({fmt::format("reading: {} of {}, {}, ${:.2f}", so_far.answered, counted(passages, "passage"),
                                   counted(static_cast<size_t>(so_far.asked), "call"), so_far.dollars)});
    };
    show({});
    return study.read(show, [&](const llm::Call& call) { transcript.add(call); });
}

// Each is in the store, and shown, as soon as it is measured.
std::vector<Tried> verify(const StudyReport& report, const std::vector<Testable>& testable, Store& store,
                          const Arguments& arguments) {
    std::vector<Tried> tried;
    if (std::all_of(report.lessons.begin(), report.lessons.end(),
                    [](const StudiedLesson& lesson) { return lesson.problem.empty(); }))
        return tried;
    judge::WorkerClient worker(own_worker(), [] { check_interrupt(); });
    const Machine& machine = worker.greeting().machine;
    LivePainter painter(2, arguments.has("--quiet"));
    for (const Testable& one : testable) {
        bool open = false;
        for (const StudiedLesson& lesson : report.lessons) {
            if (lesson.problem != one.problem.name) continue;
            painter.paint({fmt::format("trying on {}: {}", one.problem.name, describe(lesson.lesson))});
            if (!open) worker.open(one.problem, {}, std::random_device{}());
            open = true;
            const Trial trial = try_lesson(lesson.lesson, one, machine.isa, worker, arguments.duration("--per-shape"));
            store.add_testimony({lesson.id, trial_run(one.problem.name, machine.fingerprint), trial.kind, trial.note});
            tried.push_back({lesson, trial});
            painter.clear();
            if (arguments.has("--json")) continue;
            fmt::print("{}", trial_text(tried.back()));
            std::fflush(stdout);
        }
    }
    return tried;
}

void print_lessons(const StudyReport& report) {
    for (const StudiedLesson& one : report.lessons)
        fmt::print("{} {}{}\n", one.fresh ? "+" : "=", describe(one.lesson, one.confirmed),
                   one.withdrawn ? " [withdrawn]" : "");
    for (const std::string& one : report.dropped) fmt::print("- dropped: {}\n", one_line(one));
    std::fflush(stdout);
}

}  // namespace

int command_learn(const Arguments& arguments) {
    const bool json = arguments.has("--json"), dry = arguments.has("--dry-run"), quiet = arguments.has("--quiet");
    agent::Seat seat = reader_of(arguments);
    const std::string model = seat.model->name();
    const llm::Prices prices = llm::load_prices(arguments.text("--prices"));
    llm::hide_keys();
    install_interrupt_handler(Interruptible::resumable);
    const StoreAddress address = store_address(arguments);
    std::unique_ptr<Store> store = Store::existing(address);  // what is wrong with it is said at once
    const study::Library library = study::read_library(arguments.all("FILE"));
    complain(library.left_out);
    if (library.documents.empty())
        throw UsageError("there is nothing to read", "give documents (PDF, HTML, Markdown, text) or folders of them");
    if (!dry) store = std::make_unique<Store>(address);
    const std::vector<Testable> testable = testable_problems();
    check_interrupt();
    Study study(library.documents, testable, std::move(seat), prices,
                {arguments.number("--max-cost"), arguments.integer("--max-tokens")}, store.get(),
                [] { return interrupted(); });
    const StudyEstimate estimate = study.estimate();
    Json document = to_document(library, study, estimate);
    const std::string before = documents_text(library, study) + estimate_text(estimate, model);
    if (!json && dry) fmt::print("{}", before);
    else if (!quiet && !dry) fmt::print(stderr, "{}", before);
    if (!quiet) note_addressed(study.addressed());
    bool whole = library.left_out.empty();
    if (!dry) {
        const StudyReport report = read(study, estimate.passages, arguments);
        complain(report.left_out);
        whole = whole && report.left_out.empty();
        if (interrupted())
            fmt::print(stderr, "kept: {}; the same command goes on, and pays for none of it again\n",
                       trim(summary(report, estimate.passages)));
        check_interrupt();
        if (!json) print_lessons(report);
        std::vector<Tried> tried;
        if (arguments.has("--verify")) tried = verify(report, testable, *store, arguments);
        if (json) add_report(report, tried, document);
        else fmt::print("{}", summary(report, estimate.passages));
    }
    if (json) fmt::print("{}\n", dump(document, 2));
    return whole ? 0 : static_cast<int>(Exit::usage);
}

}  // namespace strop::cli
