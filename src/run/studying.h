// Documents become lessons: passages to a model, what it draws from them into the store.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "agent/panel.h"
#include "agent/reader.h"
#include "knowledge/store.h"
#include "llm/caller.h"
#include "run/catalogue.h"
#include "study/library.h"
#include "study/passage.h"

namespace strop {

// The name under which a store keeps the calls of all studies: whoever asks the same of the same passage again finds
// the answer.
inline constexpr const char* study_run = "study";

// Before anything is sent.
struct StudyEstimate {
    size_t passages = 0, known = 0;  // known: were answered before
    int64_t input_tokens = 0, output_tokens = 0;
    double dollars = 0;
    bool priced = false;
};

struct StudiedLesson {
    Lesson lesson;
    std::string id;                             // id_of
    std::string problem;                        // of an experiment that could tell; empty: there is none
    bool fresh = false;                         // the store did not have it
    bool confirmed = false, withdrawn = false;  // what runs and trials said of it before
};

struct StudyReport {
    size_t answered = 0;                   // passages
    std::vector<StudiedLesson> lessons;    // in the documents' order
    std::vector<std::string> dropped;      // lessons that are none, a line each
    std::vector<study::LeftOut> left_out;  // passages without an answer
    int asked = 0, replayed = 0;           // calls that were sent, and that were known
    double dollars = 0;                    // for those that were sent
    int64_t input_tokens = 0, output_tokens = 0;
    bool priced = true;
};

class Study {
public:
    // `store`: nothing is kept and nothing is known without one; it outlives the study.
    Study(const std::vector<study::Document>& documents, const std::vector<Testable>& testable, agent::Seat seat,
          const llm::Prices& prices, llm::Limits limits, Store* store, llm::Cancel cancel);
    ~Study();

    StudyEstimate estimate() const;
    const std::vector<size_t>& passages_by_document() const { return passages_by_document_; }
    // Of passages whose words are meant for a model: "NAME p. 3: ...".
    std::vector<std::string> addressed() const;

    // Once. Some calls side by side, each kept before its answer is used; lessons are in the store when this returns,
    // also when it was cancelled. What cannot be mended (no key, a limit, a provider that fails again and again) ends
    // it early. `seen` is told after each passage, `told` of each call.
    using Seen = std::function<void(const StudyReport& so_far)>;
    using Told = std::function<void(const llm::Call& call)>;
    StudyReport read(const Seen& seen, const Told& told);

private:
    struct Piece;
    struct Answer;

    Answer ask(const Piece& piece);
    void account(const Answer& answer, StudyReport& report);
    void keep(const Answer& answer, StudyReport& report);
    void note_failure(const Answer& answer);
    std::string resolve(const agent::LessonDraft& draft, const Piece& piece, StudiedLesson& lesson) const;
    void report_failures(StudyReport& report) const;

    const std::vector<Testable>& testable_;
    agent::Seat seat_;
    const llm::Prices& prices_;
    Store* store_;
    std::unique_ptr<llm::CallLog> log_;
    std::unique_ptr<llm::Caller> caller_;
    llm::Cancel cancel_;
    std::vector<Piece> pieces_;
    std::vector<size_t> passages_by_document_;
    std::map<std::string, StudiedLesson> known_;  // lessons that were in the store before, wherever they stand
    std::set<std::string> kept_;                  // ids of those that were drawn now
    // (document, why, whether it is worth asking again) -> places
    std::map<std::tuple<std::string, std::string, bool>, std::vector<std::string>> failures_;
    int failed_in_a_row_ = 0;
    bool hopeless_ = false;
};

}  // namespace strop
