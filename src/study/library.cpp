#include "study/library.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"

namespace strop::study {

namespace {

void find_below(const fs::path& folder, std::vector<fs::path>& files, std::vector<LeftOut>& left_out) {
    std::error_code failed;
    std::vector<fs::directory_entry> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) entries.push_back(entry);
    if (failed)
        left_out.push_back(
            {fmt::format("{}: cannot be read: {}", folder.string(), failed.message()), "check its permissions"});
    std::sort(entries.begin(), entries.end());
    for (const fs::directory_entry& entry : entries) {
        const fs::path path = entry.path();
        if (path.filename().string().starts_with('.')) continue;
        if (entry.is_symlink(failed))
            left_out.push_back({fmt::format("{}: is a link", path.string()), "name the file itself"});
        else if (entry.is_directory(failed)) find_below(path, files, left_out);
        else files.push_back(path);
    }
}

std::vector<fs::path> files_of(const std::vector<std::string>& given, std::vector<LeftOut>& left_out) {
    std::error_code failed;
    for (const std::string& one : given)
        if (!fs::exists(one, failed))
            throw UsageError(fmt::format("{}: there is no such file or folder", one),
                             "give documents (PDF, HTML, Markdown, text) or folders of them");
    std::vector<fs::path> files;
    for (const std::string& one : given) {
        if (fs::is_directory(one, failed)) find_below(one, files, left_out);
        else files.emplace_back(one);
    }
    return files;
}

}  // namespace

Library read_library(const std::vector<std::string>& given) {
    Library library;
    std::map<std::string, std::string> names;  // of documents, by hash
    int without_reader = 0;
    std::optional<LeftOut> no_reader;
    for (const fs::path& file : files_of(given, library.left_out)) try {
            Document document = read_document(file);
            if (names.emplace(document.hash, file.string()).second) library.documents.push_back(std::move(document));
        } catch (const NoReader& error) {
            if (++without_reader == 1) no_reader = {error.what(), error.hint()};
        } catch (const Interrupted&) {
            throw;
        } catch (const Error& error) {
            library.left_out.push_back({error.what(), error.hint()});
        }
    if (without_reader > 1) no_reader->phrase += fmt::format(" (and {} more)", without_reader - 1);
    if (no_reader) library.left_out.push_back(*no_reader);
    return library;
}

}  // namespace strop::study
