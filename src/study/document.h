// Manuals, papers and notes as blocks of text that know their place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace strop::study {

// A paragraph, a heading, a listing.
struct Block {
    std::string text;  // valid UTF-8; of files with lines with its line ends
    int page = 0;      // from 1; 0: there are no pages
    int line = 0;      // where it begins, from 1; 0: there are no lines
    int level = 0;     // of a heading, from 1; 0: it is none
};

struct Document {
    std::string name;  // of the file, without its folder
    std::string hash;  // of its bytes
    int pages = 0;
    std::vector<Block> blocks;
};

// Why a file is not read. The program that reads its form is missing: no file of that form is.
class NoReader : public EnvironmentError {
public:
    using EnvironmentError::EnvironmentError;
};

// A PDF (by pdftotext), HTML (by python/strop/html_text.py), Markdown or plain text, by its ending or its first bytes;
// both programs run in the sandbox. UsageErrors that name the file: no text, encrypted, damaged, too large. NoReader.
// Interrupted while a program reads.
Document read_document(const std::filesystem::path& file);

// The same of texts that are there.
std::vector<Block> blocks_of_lines(const std::string& text, bool markdown);
std::vector<Block> blocks_of_pages(const std::string& text);  // a form feed ends a page

}  // namespace strop::study
