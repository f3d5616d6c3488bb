// strop knowledge: what runs found as files for other people and machines, and back.
#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "cli/commands.h"
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

}  // namespace

int command_knowledge(const Arguments& arguments) {
    const std::string action = arguments.text("ACTION"), folder = arguments.text("DIR");
    const FolderReport report = carry_out(action, folder, arguments);
    print(report.complaints);
    print(report.contradictions);
    if (arguments.has("--json")) fmt::print("{}\n", dump(to_document(report), 2));
    else fmt::print("{}: {}\n", folder, summary(action, report));
    return report.complaints.empty() ? 0 : static_cast<int>(Exit::usage);
}

}  // namespace strop::cli
