// What was learned of strategies and of values of tunables, as a structure. Plain data.
#pragma once

#include <string>

#include "core/kernel.h"

namespace strop {

// When a lesson applies; an empty condition: always.
struct LessonConditions {
    std::string problem;   // a problem's name
    std::string family;    // Strategy::family
    std::string bound;     // what limits the shapes: "memory", "cache" or "compute"
    std::string hardware;  // an instruction set, or "opencl"
    std::string words;     // a writer's own, of what the others cannot say
};

struct Lesson {
    enum class Advice { prefer, avoid, remark };  // a remark is in words only: no run confirms or contradicts it
    static constexpr const char* by_measurement = "measured";

    LessonConditions when;
    Advice advice = Advice::remark;
    std::string strategy;  // that it is about; of a planned one
    Configuration values;  // of its tunables; empty: it is about the strategy as a whole
    std::string what, why;
    std::string author = by_measurement;  // or a model's name
    std::string source;                   // of a document: its file and page
    // Of a lesson that was read in a document and that no measurement is behind: false, the hash of the document, and
    // its words.
    bool measured = true;
    std::string document, quotation;
};
std::string name_of(Lesson::Advice advice);

// The same for the same lesson, whichever run drew it: sixteen hexadecimal digits.
std::string id_of(const Lesson& lesson);

// "on avx2, where memory limits it: online_single_read is the fastest of row_reduction, for ..."; one line. Of a
// document "(unmeasured, NAME p. 12)" ends it, once runs have confirmed it "(NAME p. 12)".
std::string describe(const Lesson& lesson, bool confirmed = false);

// What a run says of a lesson.
struct Testimony {
    enum class Kind { drew, confirms, contradicts, undecided };  // the last: it was tried, and could be either
    std::string lesson;                                          // id_of
    std::string run;
    Kind kind = Kind::drew;
    std::string note;  // "1.34 times the best"
};
std::string name_of(Testimony::Kind kind);

}  // namespace strop
