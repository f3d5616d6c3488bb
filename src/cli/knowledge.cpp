// strop knowledge: what runs found as files for other people and machines, and back; lessons, and how to be rid of one.
#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/lesson_line.h"
#include "cli/store_access.h"
#include "core/json.h"
#include "knowledge/folder.h"

namespace strop::cli {

namespace {

Json listed(const std::vector<Complaint>& complaints) {
    Json list = Json::array();
    for (const Complaint& one : complaints) list.push_back({{"what", one.phrase}, {"hint", one.hint}});
    return list;
}

void print(const std::vector<Complaint>& complaints) {
    for (const Complaint& one : complaints) fmt::print(stderr, "! {}\n  hint: {}\n", one.phrase, one.hint);
}

Json to_document(const FolderReport& report) {
    Json quarantined = Json::array();
    for (const Quarantined& one : report.quarantined)
        quarantined.push_back({{"run", one.run}, {"file", one.origin}, {"reason", one.reason}});
    return {{"runs", report.runs},
            {"lessons", report.lessons},
            {"patterns", report.patterns},
            {"known", report.known},
            {"quarantined", quarantined},
            {"complaints", listed(report.complaints)},
            {"contradictions", listed(report.contradictions)}};
}

std::string summary(const std::string& action, const FolderReport& report) {
    std::string text = counted(report.runs, "run") + ", " + counted(report.lessons, "lesson");
    if (action != "import") text += ", " + counted(report.patterns, "pattern");
    if (action == "check") text += " as they should be";
    else text += fmt::format(" {}; {} there already", action == "export" ? "written" : "taken in", report.known);
    if (!report.quarantined.empty())
        text += "; " + counted(static_cast<int>(report.quarantined.size()), "run") + " quarantined";
    return text;
}

FolderReport carry_out(const std::string& action, const std::string& folder, const Arguments& arguments) {
    if (action == "import") {
        check_knowledge_folder(folder);  // before a store is made
        Store store(store_address(arguments));
        return import_knowledge(folder, store);
    }
    std::unique_ptr<Store> store = existing_store(arguments);
    if (action == "check") return check_knowledge(folder, store.get());
    if (!store)
        throw UsageError(fmt::format("{}: there is no such store", store_address(arguments).shown()),
                         "runs are kept by `strop optimize`; --store names another file");
    return export_knowledge(*store, folder);
}

// A file's name or the beginning of an id, of six digits and more.
bool is_meant(const KnownLesson& known, const std::string& name) {
    if (name.size() >= 6 && id_of(known.lesson).starts_with(name)) return true;
    return known.lesson.source == name || known.lesson.source.starts_with(name + " ");
}

// All of them where no name is given; none without a store.
std::vector<KnownLesson> lessons_meant(Store* store, const std::string& name) {
    std::vector<KnownLesson> lessons = store ? store->lessons() : std::vector<KnownLesson>();
    std::erase_if(lessons, [&](const KnownLesson& known) { return !name.empty() && !is_meant(known, name); });
    return lessons;
}

Json to_document(const std::vector<KnownLesson>& lessons) {
    Json list = Json::array();
    for (const KnownLesson& known : lessons)
        list.push_back({{"id", id_of(known.lesson)}, {"text", lesson_line(known)}, {"lesson", known.lesson}});
    return list;
}

int show(const std::vector<KnownLesson>& lessons, const char* none, const Arguments& arguments) {
    if (arguments.has("--json")) fmt::print("{}\n", dump(to_document(lessons), 2));
    else if (lessons.empty()) fmt::print("{}\n", none);
    else
        for (const KnownLesson& known : lessons)
            fmt::print("{}  {}\n", id_of(known.lesson).substr(0, 8), lesson_line(known));
    return 0;
}

UsageError not_meant(const std::string& name, const char* why) {
    return UsageError(fmt::format("'{}': {}", one_line(name), why), "`strop knowledge lessons` shows all of them");
}

constexpr const char* unknown_lesson = "no lesson has this id, and none is of such a document";

int show_lessons(const Arguments& arguments) {
    const std::string name = arguments.text("WHAT");
    const std::vector<KnownLesson> lessons = lessons_meant(existing_store(arguments).get(), name);
    if (lessons.empty() && !name.empty()) throw not_meant(name, unknown_lesson);
    return show(lessons, "no lessons; `strop optimize` and `strop learn` draw them", arguments);
}

int forget(const std::string& name, const Arguments& arguments) {
    const std::unique_ptr<Store> store = existing_store(arguments);
    const std::vector<KnownLesson> lessons = lessons_meant(store.get(), name);
    const bool of_a_document = !lessons.empty() && !id_of(lessons.front().lesson).starts_with(name);
    if (lessons.empty() || (lessons.size() > 1 && !of_a_document))
        throw not_meant(name, lessons.empty() ? unknown_lesson : "is the beginning of several lessons' ids");
    for (const KnownLesson& known : lessons) store->forget_lesson(id_of(known.lesson));
    if (!arguments.has("--json")) fmt::print("forgotten: {}\n", counted(static_cast<int>(lessons.size()), "lesson"));
    return show(lessons, "", arguments);
}

}  // namespace

int command_knowledge(const Arguments& arguments) {
    const std::string action = arguments.text("ACTION"), folder = arguments.text("WHAT");
    if (action == "lessons") return show_lessons(arguments);
    if (folder.empty())
        throw UsageError(fmt::format("`strop knowledge {}` needs {}", action,
                                     action == "forget" ? "a lesson's id or a document's name" : "a folder"),
                         action == "forget" ? "`strop knowledge lessons` shows all of them"
                                            : fmt::format("such as `strop knowledge {} knowledge`", action));
    if (action == "forget") return forget(folder, arguments);
    const FolderReport report = carry_out(action, folder, arguments);
    print(report.complaints);
    print(report.contradictions);
    if (arguments.has("--json")) fmt::print("{}\n", dump(to_document(report), 2));
    else fmt::print("{}: {}\n", folder, summary(action, report));
    return report.complaints.empty() ? 0 : static_cast<int>(Exit::usage);
}

}  // namespace strop::cli
