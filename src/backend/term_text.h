// Terms of a launch as text: which of them are named by a statement, and where. How a language spells one is
// said by who derives from it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/lines.h"
#include "schedule/schedule.h"

namespace strop::backend {

// Identifiers of one kernel.
class Names {
public:
    explicit Names(std::set<std::string> taken) : taken_(std::move(taken)) {}
    std::string fresh(const std::string& wanted);

private:
    std::set<std::string> taken_;
};

// Functions that kernels call, those that others call first.
class Helpers {
public:
    bool has(const std::string& name) const { return known_.contains(name); }
    void add(const std::string& name, const std::string& text) {
        if (known_.insert(name).second) text_ += text + "\n";
    }
    const std::string& text() const { return text_; }

private:
    std::set<std::string> known_;
    std::string text_;
};

// The text of terms in one kernel. What is used twice or takes long is named by a statement first.
class TermText {
public:
    struct Context {
        const std::vector<schedule::Term>& terms;
        const std::map<std::string, std::vector<Expression>>& shapes;  // of every tensor
        std::string& lacks;
    };
    TermText(Context context, Names& names) : context_(context), names_(names) {}
    virtual ~TermText() = default;

    void set_result(const std::string& name, const std::string& text) { results_[name] = text; }

    // Ahead of a loop: statements for what these terms need and what does not change in the loop, that is,
    // reads none of `inside` (symbols, results).
    void hoist(const std::vector<int>& wanted, const std::set<std::string>& inside, Lines& lines);
    // Statements for what these terms share; then text_of() is short.
    void prepare(const std::vector<int>& wanted, Lines& lines);
    std::string text_of(int term) { return inlined(term).text; }

    // What was named inside of a loop is unknown behind it.
    using Named = std::map<int, std::string>;
    const Named& named() const { return named_; }
    void restore(Named named) { named_ = std::move(named); }

protected:
    struct Text {
        std::string text;
        bool atomic = true;
        std::string grouped() const { return atomic ? text : "(" + text + ")"; }
    };
    virtual Text spelled(int id) = 0;
    virtual std::string statement(DType dtype, const std::string& name, const std::string& text) const = 0;
    virtual std::string word_of_load(const schedule::Term& load) const { return load.name + "_value"; }
    // Terms that get a name even where they are short and used once.
    virtual bool names_first(const schedule::Term&) const { return false; }

    const schedule::Term& at(int id) const { return context_.terms[static_cast<size_t>(id)]; }
    Text inlined(int id);
    Text missing(const std::string& what);
    // A shift by a number of bits that the type has, as C and Python write it; nothing for any other.
    std::optional<Text> shifted_by_number(const schedule::Term& shift, const Text& a, const Text& b) const;
    const std::string* result(const std::string& name) const {
        auto known = results_.find(name);
        return known == results_.end() ? nullptr : &known->second;
    }

    Context context_;
    Names& names_;
    Named named_;             // by term; a language may add names of its own under negative numbers
    Lines* lines_ = nullptr;  // where statements go now, if they may

private:
    std::vector<int> evaluated(const std::vector<int>& wanted) const;
    void name(int id, Lines& lines);

    std::map<std::string, std::string> results_;
};

}  // namespace strop::backend
