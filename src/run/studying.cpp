#include "run/studying.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/line.h"
#include "llm/text.h"
#include "run/store_log.h"
#include "study/quotation.h"

namespace strop {

namespace {

// The same in a copy of the document under another name, and after a change of another part of the document.
std::string id_wherever_it_stands(Lesson lesson) {
    lesson.source.clear();
    lesson.document.clear();
    return id_of(lesson);
}

constexpr int side_by_side = 4;            // calls
constexpr int most_failures_in_a_row = 4;  // of a provider; more will not help
constexpr int64_t usual_output = 400;      // tokens of an answer: two or three lessons

// What no other passage will meet differently.
bool is_hopeless(llm::Failure failure) {
    return failure == llm::Failure::no_key || failure == llm::Failure::denied || failure == llm::Failure::over_limit;
}

// Worth asking again by a later command; the others are answers, though of no use.
bool is_lost(llm::Failure failure) {
    switch (failure) {
        case llm::Failure::none:
        case llm::Failure::refused:
        case llm::Failure::cut_off:
        case llm::Failure::empty:
        case llm::Failure::malformed: return false;
        default: return true;
    }
}

std::string in_quotes(const std::string& text) { return fmt::format("\"{}\"", llm::one_line(text, 100)); }

const Testable* find_problem(const std::vector<Testable>& all, const agent::LessonDraft& draft,
                             const Proposal** strategy) {
    const Testable* found = nullptr;
    for (const Testable& one : all)
        for (const Proposal& proposal : one.strategies) {
            if (proposal.strategy.id != draft.strategy || (found && one.problem.name != draft.problem)) continue;
            found = &one;  // of that name if it is there, else the first that has the strategy
            *strategy = &proposal;
        }
    return found;
}

const Value* find_value(const Kernel& kernel, const std::string& tunable, const std::string& text) {
    for (const Tunable& one : kernel.space.tunables)
        if (one.name == tunable)
            for (const Value& value : one.values)
                if (to_string(value) == text) return &value;
    return nullptr;
}

// Runs `work` on 0 .. count-1 on some threads, and `done` on this one, with each result in the order of coming. Begins
// nothing new once `stop` says so. What either throws is thrown, after the threads have ended.
template <class Result, class Work, class Done, class Stop>
void spread(size_t count, const Work& work, const Done& done, const Stop& stop) {
    std::atomic<size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Result> back;
    std::exception_ptr error;
    int running = static_cast<int>(std::min<size_t>(side_by_side, count));
    auto go = [&] {
        try {
            while (!failed && !stop()) {
                const size_t index = next++;
                if (index >= count) break;
                Result result = work(index);
                std::lock_guard lock(mutex);
                back.push_back(std::move(result));
                changed.notify_one();
            }
        } catch (...) {
            std::lock_guard lock(mutex);
            error = std::current_exception();
            failed = true;
        }
        std::lock_guard lock(mutex);
        --running;
        changed.notify_one();
    };
    std::vector<std::jthread> threads;
    for (int i = running; i > 0; --i) threads.emplace_back(go);
    try {
        for (std::unique_lock lock(mutex); running > 0 || !back.empty();) {
            changed.wait(lock, [&] { return running == 0 || !back.empty(); });
            while (!back.empty()) {
                Result result = std::move(back.front());
                back.pop_front();
                lock.unlock();
                done(std::move(result));
                lock.lock();
            }
        }
    } catch (...) {
        failed = true;
        throw;  // jthreads are joined on the way
    }
    threads.clear();
    if (error) std::rethrow_exception(error);
}

}  // namespace

struct Study::Piece {
    const study::Document* document;
    study::Passage passage;
    llm::Request request;
    std::string addressed;  // words that are meant for a model
    std::string place() const { return fmt::format("{} {}", document->name, study::place_of(passage)); }
};

struct Study::Answer {
    const Piece* piece;
    std::vector<llm::Call> calls;
    std::optional<std::vector<agent::LessonDraft>> drafts;  // nothing: the passage has no answer
    std::vector<std::string> dropped;
    llm::Failure failure = llm::Failure::none;
    std::string why;
};

Study::Study(const std::vector<study::Document>& documents, const std::vector<Testable>& testable, agent::Seat seat,
             const llm::Prices& prices, llm::Limits limits, Store* store, llm::Cancel cancel)
    : testable_(testable),
      seat_(std::move(seat)),
      prices_(prices),
      store_(store),
      cancel_(std::move(cancel)) {
    std::vector<llm::CallLog*> logs;
    if (store_) {
        log_ = std::make_unique<StoreLog>(*store_, study_run);
        logs.push_back(log_.get());
        for (const KnownLesson& known : store_->lessons()) {
            StudiedLesson& standing = known_[id_wherever_it_stands(known.lesson)];
            standing.lesson = known.lesson;
            standing.confirmed = known.count(Testimony::Kind::confirms) > 0;
            standing.withdrawn = known.withdrawn();
        }
    }
    caller_ = std::make_unique<llm::Caller>(prices_, limits, logs, false, cancel_);
    const std::string catalogue = describe(testable_);
    std::set<std::string> texts;  // that several documents have is read once
    for (const study::Document& document : documents) {
        const std::string opening = study::opening_of(document);
        size_t count = 0;
        for (study::Passage& passage : study::passages_of(document)) {
            if (!texts.insert(passage.text).second) continue;
            ++count;
            Piece piece{&document, std::move(passage), {}, {}};
            piece.request = agent::reading_of({opening, piece.passage.heading, piece.passage.text, catalogue});
            piece.addressed = study::words_to_a_model(piece.passage.text);
            pieces_.push_back(std::move(piece));
        }
        passages_by_document_.push_back(count);
    }
}

Study::~Study() = default;

StudyEstimate Study::estimate() const {
    StudyEstimate estimate;
    const llm::Price* price = prices_.find(seat_.model->name());
    estimate.priced = price != nullptr;
    estimate.passages = pieces_.size();
    for (const Piece& piece : pieces_) {
        if (caller_->knows(*seat_.model, piece.request)) {
            ++estimate.known;
            continue;
        }
        estimate.input_tokens += llm::input_tokens_of(piece.request);
        estimate.output_tokens += usual_output;
    }
    if (price) {
        llm::Usage usage;
        usage.input_tokens = estimate.input_tokens;
        usage.output_tokens = estimate.output_tokens;
        estimate.dollars = llm::cost_of(*price, usage);
    }
    return estimate;
}

std::vector<std::string> Study::addressed() const {
    std::vector<std::string> lines;
    for (const Piece& piece : pieces_)
        if (!piece.addressed.empty()) lines.push_back(fmt::format("{}: {}", piece.place(), in_quotes(piece.addressed)));
    return lines;
}

// One call, and one more where the reply has another form.
Study::Answer Study::ask(const Piece& piece) {
    Answer answer{&piece, {}, {}, {}, llm::Failure::none, {}};
    llm::Request request = piece.request;
    for (int attempt = 0; attempt < 2 && !answer.drafts; ++attempt) {
        answer.calls.push_back(caller_->finish(caller_->begin(*seat_.model, request, piece.place())));
        const llm::Reply& reply = answer.calls.back().reply;
        answer.failure = reply.failure;
        answer.why = reply.why.empty() && !reply.ok() ? llm::name_of(reply.failure) : reply.why;
        if (!reply.ok() && reply.failure != llm::Failure::cut_off) break;
        std::string why;
        answer.dropped.clear();
        answer.drafts = agent::read_drafts(reply.text, why, answer.dropped);
        if (answer.drafts) break;
        answer.why = why;
        if (!reply.ok()) break;
        request = agent::asked_again(std::move(request), reply.text, why);
    }
    return answer;
}

std::string Study::resolve(const agent::LessonDraft& draft, const Piece& piece, StudiedLesson& studied) const {
    Lesson& lesson = studied.lesson = draft.lesson;
    const auto place = study::find_quotation(lesson.quotation, piece.passage.text);
    if (!place)
        return fmt::format("{}: {} {}", piece.place(),
                           study::says_enough(lesson.quotation) ? "the passage does not say"
                                                                : "a quotation is too short to say anything:",
                           in_quotes(lesson.quotation));
    lesson.source = one_line(
        fmt::format("{} {}", piece.document->name, study::place_of(piece.passage, place->first, place->second)));
    lesson.document = piece.document->hash;
    lesson.author = seat_.spec.provider == "exec" ? "a model" : one_line(seat_.model->name());
    const Proposal* strategy = nullptr;
    const Testable* problem = find_problem(testable_, draft, &strategy);
    const Value* value = problem ? find_value(strategy->kernel, draft.tunable, draft.value) : nullptr;
    const bool checkable = lesson.advice != Lesson::Advice::remark && problem && (draft.tunable.empty() || value);
    if (!checkable) {
        lesson.advice = Lesson::Advice::remark;  // nothing that a run could confirm
        return {};
    }
    lesson.strategy = strategy->strategy.id;
    lesson.when.family = strategy->strategy.family;
    if (value) lesson.values = {{draft.tunable, *value}};
    studied.problem = problem->problem.name;
    return {};
}

void Study::note_failure(const Answer& answer) {
    const Piece& piece = *answer.piece;
    if (answer.failure == llm::Failure::cancelled) return;
    failures_[{piece.document->name, answer.why, is_lost(answer.failure)}].push_back(study::place_of(piece.passage));
    failed_in_a_row_ = is_lost(answer.failure) ? failed_in_a_row_ + 1 : 0;
    if (is_hopeless(answer.failure) || failed_in_a_row_ >= most_failures_in_a_row) hopeless_ = true;
}

void Study::account(const Answer& answer, StudyReport& report) {
    for (const llm::Call& call : answer.calls) {
        const bool sent = !call.replayed && !is_hopeless(call.reply.failure);
        report.asked += sent ? 1 : 0;
        report.replayed += call.replayed ? 1 : 0;
        if (!sent) continue;
        report.dollars += call.cost;
        report.input_tokens += call.reply.usage.input_tokens;
        report.output_tokens += call.reply.usage.output_tokens;
        report.priced = report.priced && call.priced;
    }
    if (!answer.drafts) return note_failure(answer);
    failed_in_a_row_ = 0;
    ++report.answered;
}

void Study::keep(const Answer& answer, StudyReport& report) {
    for (const std::string& why : answer.dropped)
        report.dropped.push_back(fmt::format("{}: {}", answer.piece->place(), why));
    for (const agent::LessonDraft& draft : *answer.drafts) {
        StudiedLesson studied;
        if (std::string fault = resolve(draft, *answer.piece, studied); !fault.empty()) {
            report.dropped.push_back(std::move(fault));
            continue;
        }
        const auto known = known_.find(id_wherever_it_stands(studied.lesson));
        studied.fresh = known == known_.end();
        if (!studied.fresh) {
            studied.lesson = known->second.lesson;
            studied.confirmed = known->second.confirmed;
            studied.withdrawn = known->second.withdrawn;
        }
        studied.id = id_of(studied.lesson);
        if (!kept_.insert(studied.id).second) continue;  // drawn twice
        if (store_) store_->add_lesson(studied.lesson);
        report.lessons.push_back(std::move(studied));
    }
}

void Study::report_failures(StudyReport& report) const {
    const char* goes_on = "the same command goes on; what was answered costs nothing again";
    const char* is_kept = "the reply is kept, and the same command does not ask again: name another model";
    size_t failed = 0;
    for (const auto& [what, places] : failures_) {
        const auto& [document, why, lost] = what;
        std::string phrase = fmt::format("{} {}", document, places.front());
        if (places.size() > 1)
            phrase += fmt::format(" and {} more passage{}", places.size() - 1, places.size() == 2 ? "" : "s");
        report.left_out.push_back({one_line(fmt::format("{}: no answer: {}", phrase, why)), lost ? goes_on : is_kept});
        failed += places.size();
    }
    if (const size_t rest = pieces_.size() - report.answered - failed; hopeless_ && rest > 0)
        report.left_out.push_back({fmt::format("{} passages were not asked about", rest), goes_on});
}

StudyReport Study::read(const Seen& seen, const Told& told) {
    StudyReport report;
    std::atomic<bool> enough = false;
    std::map<size_t, Answer> answers;
    spread<Answer>(
        pieces_.size(), [&](size_t index) { return ask(pieces_[index]); },
        [&](Answer answer) {
            for (const llm::Call& call : answer.calls) told(call);
            account(answer, report);
            enough = hopeless_;
            seen(report);
            answer.calls.clear();
            const auto place = static_cast<size_t>(answer.piece - pieces_.data());
            if (answer.drafts) answers.emplace(place, std::move(answer));
        },
        [&] { return enough || (cancel_ && cancel_()); });
    for (const auto& [place, answer] : answers) keep(answer, report);
    report_failures(report);
    return report;
}

}  // namespace strop
