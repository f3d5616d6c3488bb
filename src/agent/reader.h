// The role that reads documents: a passage in, lessons out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/lesson.h"
#include "llm/model.h"

namespace strop::agent {

// A lesson as a model drew it from a passage; what it is about is still in the model's words.
struct LessonDraft {
    Lesson lesson;  // without strategy, values, author and source
    // How a measurement could tell: a problem, a strategy of it, and perhaps a tunable of that with a value. Empty:
    // none could.
    std::string problem, strategy, tunable, value;
};

struct PassageToRead {
    std::string opening;  // of its document
    std::string heading;  // those above it
    std::string text;
    std::string catalogue;  // what can be measured: problems, their strategies, tunables
};

// What a passage says is data: lines behind a bar, which no line of ours begins with. A passage with words that are
// meant for a model says so beforehand.
llm::Request reading_of(const PassageToRead& passage);

// What is asked once more when the reply cannot be used.
llm::Request asked_again(llm::Request request, const std::string& reply, const std::string& why);

// Nothing when the reply has another form; `why` then says which. No lesson is a reply too. `dropped`: a line for each
// lesson that is none.
std::optional<std::vector<LessonDraft>> read_drafts(const std::string& text, std::string& why,
                                                    std::vector<std::string>& dropped);

}  // namespace strop::agent
