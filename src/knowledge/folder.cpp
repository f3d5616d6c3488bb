#include "knowledge/folder.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/digest.h"
#include "knowledge/learning.h"
#include "knowledge/pattern.h"
#include "knowledge/shared_lesson.h"
#include "knowledge/shared_run.h"

namespace strop {

namespace {

constexpr const char* attributes = "patterns/*.md merge=union\n";
constexpr size_t largest_file = size_t{64} << 20;
constexpr size_t most_machines_asked = 5;

// Regular files of that ending, by name; a link could show any other file.
std::vector<fs::path> files_of(const fs::path& folder, const std::string& ending) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed))
        if (fs::is_regular_file(entry.symlink_status()) && entry.path().extension() == ending)
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string text_of(const fs::path& file) {
    std::error_code failed;
    if (fs::file_size(file, failed) > largest_file)
        throw UsageError(fmt::format("is larger than {}", human_bytes(largest_file)),
                         "it is no file of `strop knowledge`");
    return read_file(file);
}

// Each file's content, as far as it is right; complaints name the file.
struct Content {
    std::map<fs::path, SharedRun> runs;
    std::map<fs::path, Lesson> lessons;
};

template <class Read>
void read_each(const std::vector<fs::path>& files, std::vector<Complaint>& complaints, Read read) {
    for (const fs::path& file : files) {
        try {
            read(file);
        } catch (const EnvironmentError&) {
            throw;
        } catch (const Error& error) {
            const std::string phrase = error.what();
            const bool named = phrase.rfind(file.string(), 0) == 0;
            complaints.push_back({one_line(named ? phrase : file.string() + ": " + phrase), error.hint()});
        }
    }
}

Content read_content(const fs::path& folder, std::vector<Complaint>& complaints) {
    Content content;
    read_each(files_of(folder / "runs", ".json"), complaints, [&](const fs::path& file) {
        SharedRun run = shared_run_from(text_of(file));
        if (run.record.run != file.stem())
            throw UsageError(fmt::format("holds the run {}", run.record.run), "a file has the name of its run");
        content.runs.emplace(file, std::move(run));
    });
    read_each(files_of(folder / "lessons", ".json"), complaints,
              [&](const fs::path& file) { content.lessons.emplace(file, shared_lesson_from(text_of(file))); });
    return content;
}

// Of the same machine, as runs here measured them.
std::vector<Ceilings> known_ceilings(Store* store, const Machine& machine) {
    std::vector<Ceilings> ceilings;
    if (!store || machine.fingerprint.empty()) return ceilings;
    DigestQuery query;
    query.fingerprint = machine.fingerprint;
    for (const Digest& digest : store->digests(query)) {
        if (!digest.origin.empty() || ceilings.size() >= most_machines_asked) continue;
        if (std::optional<RunRecord> record = store->load_named(digest.run))
            ceilings.push_back(record->machine.ceilings);
    }
    // The highest of each: a machine is slower at times, and never faster than it can be.
    if (ceilings.empty()) return ceilings;
    Ceilings highest;
    for (const Ceilings& one : ceilings) {
        highest.fma_flops_all_cores = std::max(highest.fma_flops_all_cores, one.fma_flops_all_cores);
        highest.memory_read = std::max(highest.memory_read, one.memory_read);
        highest.memory_copy = std::max(highest.memory_copy, one.memory_copy);
    }
    return {highest};
}

SharedRun shared(Store& store, const RunRecord& record) {
    return {record, store.signature(record.run).value_or(Signature{}), store.testimonies(record.run)};
}

std::vector<Digest> digests_of(const Content& content) {
    std::vector<Digest> digests;
    for (const auto& [file, run] : content.runs)
        if (impossible_claim(run.record).empty()) digests.push_back(digest_of(run.record));
    return digests;
}

void make_folders(const fs::path& folder) {
    for (const char* name : {"runs", "patterns", "lessons"}) {
        std::error_code failed;
        fs::create_directories(folder / name, failed);
        if (failed)
            throw EnvironmentError(fmt::format("{}: {}", (folder / name).string(), failed.message()),
                                   "choose another folder");
    }
}

// True where the file was not that already.
bool write_changed(const fs::path& file, const std::string& text) {
    std::error_code failed;
    if (fs::exists(file, failed) && read_file(file) == text) return false;
    write_file(file, text);
    return true;
}

void note_quarantine(const fs::path& file, const SharedRun& run, const std::string& claim, FolderReport& report) {
    report.quarantined.push_back({run.record.run, file.string(), claim, to_text(run)});
    report.complaints.push_back({fmt::format("{}: quarantined: {}", file.string(), one_line(claim)),
                                 "it is used for nothing; measure it yourself: strop optimize PROBLEM"});
}

// Two that contradict each other are kept: runs will say which holds.
void note_contradictions(const std::vector<Lesson>& lessons, FolderReport& report) {
    for (size_t i = 0; i < lessons.size(); ++i)
        for (size_t j = i + 1; j < lessons.size(); ++j)
            if (contradict(lessons[i], lessons[j]))
                report.contradictions.push_back(
                    {fmt::format("lessons {} and {} contradict each other: '{}' and '{}'", id_of(lessons[i]),
                                 id_of(lessons[j]), one_line(lessons[i].what), one_line(lessons[j].what)),
                     "both are kept, and not used until runs have confirmed one of them more often"});
}

void take_run(const fs::path& file, SharedRun run, const fs::path& folder, Store& store, FolderReport& report) {
    const std::string text = to_text(run);
    const std::optional<RunRecord> known = store.load_named(run.record.run);
    if (known && to_text(shared(store, *known)) == text) {
        ++report.known;
        return;
    }
    if (known && known->origin.empty()) {
        report.complaints.push_back(
            {fmt::format("{}: differs from the run of that name that was measured here", file.string()),
             "yours stays; give the other one another name if both are wanted"});
        return;
    }
    if (std::string claim = impossible_claim(run.record, known_ceilings(&store, run.record.machine)); !claim.empty()) {
        note_quarantine(file, run, claim, report);
        store.quarantine(report.quarantined.back());
        return;
    }
    run.record.origin = folder.string();
    if (!run.signature.exact.empty()) store.save_signature(run.record.run, run.signature, run.record.machine);
    for (const Testimony& said : run.testimonies) store.add_testimony(said);
    store.save_run(run.record);  // last: until then nobody finds it
    store.release(run.record.run);
    ++report.runs;
}

}  // namespace

void check_knowledge_folder(const fs::path& folder) {
    std::error_code failed;
    if (!fs::is_directory(folder, failed))
        throw UsageError(fmt::format("{}: there is no such folder", folder.string()),
                         "`strop knowledge export DIR` writes one");
    if (!fs::is_directory(folder / "runs", failed) && !fs::is_directory(folder / "lessons", failed))
        throw UsageError(fmt::format("{}: holds neither runs/ nor lessons/", folder.string()),
                         "`strop knowledge export DIR` writes such a folder");
}

FolderReport export_knowledge(Store& store, const fs::path& folder) {
    make_folders(folder);
    FolderReport report;
    for (const Digest& digest : store.digests()) {
        const fs::path file = folder / "runs" / (digest.run + ".json");
        std::error_code failed;
        if (!digest.origin.empty() && fs::exists(file, failed)) continue;  // its owner's word goes before ours
        if (std::optional<RunRecord> record = store.load_named(digest.run))
            ++(write_changed(file, to_text(shared(store, *record))) ? report.runs : report.known);
    }
    for (const KnownLesson& known : store.lessons()) {
        const fs::path file = folder / "lessons" / (id_of(known.lesson) + ".json");
        std::error_code failed;
        if (fs::exists(file, failed)) ++report.known;
        else write_file(file, to_text(known.lesson)), ++report.lessons;
    }
    const Content content = read_content(folder, report.complaints);
    const std::map<std::string, std::string> pages = patterns_of(digests_of(content));
    for (const auto& [name, text] : pages) report.patterns += write_changed(folder / "patterns" / name, text);
    for (const fs::path& file : files_of(folder / "patterns", ".md"))
        if (!pages.count(file.filename())) fs::remove(file);  // of runs that are gone
    write_changed(folder / ".gitattributes", attributes);
    return report;
}

FolderReport import_knowledge(const fs::path& folder, Store& store) {
    check_knowledge_folder(folder);
    FolderReport report;
    Content content = read_content(folder, report.complaints);
    for (auto& [file, run] : content.runs) take_run(file, std::move(run), folder, store, report);
    std::set<std::string> known;
    for (const KnownLesson& one : store.lessons()) known.insert(id_of(one.lesson));
    for (const auto& [file, lesson] : content.lessons) {
        ++(known.count(id_of(lesson)) ? report.known : report.lessons);
        store.add_lesson(lesson, folder.string());
    }
    std::vector<Lesson> all;
    for (const KnownLesson& one : store.lessons())
        if (!one.withdrawn()) all.push_back(one.lesson);
    note_contradictions(all, report);
    return report;
}

FolderReport check_knowledge(const fs::path& folder, Store* store) {
    check_knowledge_folder(folder);
    FolderReport report;
    const Content content = read_content(folder, report.complaints);
    for (const auto& [file, run] : content.runs) {
        const std::string claim = impossible_claim(run.record, known_ceilings(store, run.record.machine));
        if (claim.empty()) ++report.runs;
        else note_quarantine(file, run, claim, report);
    }
    std::vector<Lesson> lessons;
    for (const auto& [file, lesson] : content.lessons) {
        lessons.push_back(lesson);
        ++report.lessons;
        if (file.stem() != id_of(lesson))
            report.complaints.push_back({fmt::format("{}: the lesson's name is {}", file.string(), id_of(lesson)),
                                         "it was changed by hand: import it, then export again"});
    }
    note_contradictions(lessons, report);
    for (const auto& [name, text] : patterns_of(digests_of(content))) {
        const fs::path file = folder / "patterns" / name;
        std::error_code failed;
        if (fs::exists(file, failed) && read_file(file) == text) ++report.patterns;
        else
            report.complaints.push_back({fmt::format("{}: is not what the runs say", file.string()),
                                         fmt::format("strop knowledge export {} writes it again", folder.string())});
    }
    return report;
}

}  // namespace strop
