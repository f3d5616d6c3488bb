// What is known as files for people and version control:
//
//   runs/RUN.json           a finished run: the record, its signature, what it says of lessons
//   patterns/FAMILY@HARDWARE.md   for reading; made of the runs that lie there, and never read
//   lessons/ID.json         what was learned, by a hash of its content
//   .gitattributes          so that git merges two people's pages by lines
//
// The same knowledge gives the same bytes, and two people's files differ in their names, so that they merge.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "knowledge/store.h"

namespace strop {

// What is wrong with one file: the others are read all the same.
struct Complaint {
    std::string phrase, hint;  // the phrase names the file
};

struct FolderReport {
    int runs = 0, lessons = 0, patterns = 0;  // written, taken in, or read and right
    int known = 0;                            // runs and lessons that were there already
    std::vector<Quarantined> quarantined;     // kept in the store, and used for nothing
    std::vector<Complaint> complaints;        // each is of something that was left out, or is not as it should be
    std::vector<Complaint> contradictions;    // of lessons; both are kept
};

// Writes all finished runs and all lessons that are not there, and the pages of all runs that lie there, also of
// others. EnvironmentError where the folder cannot be written.
FolderReport export_knowledge(Store& store, const std::filesystem::path& folder);

// UsageError where there is no such folder, or nothing of this form in it.
void check_knowledge_folder(const std::filesystem::path& folder);

// Takes in what is right. What was measured here stays as it is; what comes has `origin` of the folder, and is used
// after our own. UsageError as above.
FolderReport import_knowledge(const std::filesystem::path& folder, Store& store);

// Reads the same and changes nothing; also says which pages are not what the runs say. `store` may be null.
FolderReport check_knowledge(const std::filesystem::path& folder, Store* store);

}  // namespace strop
