// A reader of JSON that forgives what models get wrong: comments, trailing commas, raw line ends in strings, an
// end that is missing.
#pragma once

#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

namespace strop::llm {

class TolerantReader {
public:
    // `work` bounds the characters looked at in all calls of read() together.
    TolerantReader(std::string_view text, int64_t work) : text_(text), work_(work) {}

    struct Found {
        enum class State { complete, cut, invalid };
        State state = State::invalid;
        nlohmann::json value;
        size_t end = 0;           // behind the value; of an invalid one: where to go on
        bool has_member = false;  // a "key": was seen
    };
    // What begins at `start`, which is the place of a '{' or a '['.
    Found read(size_t start);
    bool exhausted() const { return work_ <= 0; }

private:
    enum class State { complete, cut, invalid };

    bool at_end() const;
    bool skip_comment();
    bool skip_blank();
    State read_value(nlohmann::json& value, int depth);
    State read_object(nlohmann::json& value, int depth);
    State read_array(nlohmann::json& value, int depth);
    State read_string(std::string& value);
    State read_escape(std::string& value);
    State read_unicode(std::string& value);
    bool read_four_digits(size_t at, uint32_t& code) const;
    State read_number(nlohmann::json& value);
    State read_word(nlohmann::json& value);

    std::string_view text_;
    int64_t work_;
    size_t at_ = 0;
    size_t too_deep_ = 0;  // where nesting became too deep; 0: nowhere
    bool has_member_ = false;
};

}  // namespace strop::llm
