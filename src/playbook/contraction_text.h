// The parts of a kernel's text that all strategies of a contraction share.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/machine.h"
#include "playbook/contraction_form.h"
#include "playbook/recipe.h"

namespace strop::playbook {

using Fields = std::map<std::string, std::string>;

// Every @name@ of the template replaced.
std::string fill(std::string text, const Fields& fields);

// A tunable with its best guess for this machine.
struct Choice {
    std::string name;
    std::vector<std::string> values;
    std::string initial;
    bool late = false;  // set before the first call: nothing is compiled anew for another value
};

// What a strategy adds to the common frame.
struct Body {
    std::string about;  // comment on top, one or more lines starting with "//"
    std::vector<Choice> choices;
    std::vector<std::string> require;          // constraints
    std::set<std::string> helpers;             // of vector_prelude
    std::string constants;                     // after the prelude: `constexpr int NR = NRV * VL;`
    std::string extra_member, extra_argument;  // one more value in that struct
    std::string members;                       // of the struct that holds the call's arguments
    std::string entry;                         // body of the extern "C" function, after `call` was made
    bool scratch = false;                      // needs scratch()
    bool blocks = false;                       // sums arrive in several blocks of k: put(..., first, last)
    std::string m_step, n_step;                // for grid_entry: constants that the cuts are multiples of
};

// Writes kernels of one contraction.
class KernelText {
public:
    KernelText(const Problem& problem, const ContractionForm& form, const Machine& machine);

    const ContractionForm& form() const { return form_; }
    const Machine& machine() const { return machine_; }
    const std::string& lacks() const { return lacks_; }  // non-empty: part of it cannot be spelled

    // "x[m * K + k]", or the text of a pointwise producer.
    std::string left(const std::string& m, const std::string& k) const;
    std::string right(const std::string& k, const std::string& n) const;
    // The operand read in place; nullptr when it is computed on the fly.
    const Operand* plain_left() const { return form_.operand(form_.left, Side::left); }
    const Operand* plain_right() const { return form_.operand(form_.right, Side::right); }
    std::string element(const Operand& operand) const;  // its type: "float", "bfloat16"
    // Whether the right operand's columns are rows of memory, which to_lanes() can turn: the weights of a linear layer.
    bool right_lies_along_k() const;

    Choice vector_length() const;
    Choice parallel_min() const;
    // A constraint: so many vectors at once fit the registers.
    std::string fits_registers(const std::string& vectors) const;
    bool wide_registers() const { return machine_.vector_registers >= 32; }

    // Fields M, N, K (extents), MAC (multiplications in all, as double), and those given, are filled in.
    void write(Recipe& recipe, Body body) const;

    // The entry that cuts the result into a grid of shares, one a thread: `void share(m0, m1, n0, n1) const`.
    std::string grid_entry() const;
    // The call's arguments for one batch: "call" or "call.at(INDEX)".
    std::string call_at(const std::string& index) const;
    std::string batches() const;  // number of batches as text, "1" without any

private:
    std::string producer(const std::string& name, int node, Side side, const std::string& first,
                         const std::string& second);
    std::string finish();
    std::string at() const;
    std::string members(const std::string& extra) const;
    std::string put(bool blocks) const;

    const Problem& problem_;
    const ContractionForm& form_;
    const Machine& machine_;
    std::string lacks_;
    std::string producers_, finish_;
    std::set<std::string> helpers_;
    std::set<std::string> names_;  // the problem's own, as renamed
};

// Tensors, parameters and dimensions whose names the kernels' own text uses get an underscore; `renamed` maps
// the dimensions back.
void rename_for_kernel(Problem& problem, Graph& graph, std::map<std::string, Expression>& original);

// The kernels over operands in place, for those that build on them: sums over k from 0 to `depth`, handed to
// put(..., `stage`), by `void share(m0, m1, n0, n1) const`.
bool direct_fits(const KernelText& text);  // columns can be loaded as vectors
void add_direct_choices(const KernelText& text, Body& body);
std::string direct_text(const KernelText& text, const std::string& depth, const std::string& stage);
bool dots_fit(const KernelText& text);  // both sides are read along k without gaps
void add_dot_choices(const KernelText& text, Body& body);
std::string dot_text(const KernelText& text, const std::string& depth, const std::string& stage);

// The strategies; none is returned when it does not fit.
std::vector<Recipe> packed_recipes(const KernelText& text);
std::vector<Recipe> direct_recipes(const KernelText& text);
std::vector<Recipe> dot_recipes(const KernelText& text);
std::vector<Recipe> streaming_recipes(const KernelText& text);
std::vector<Recipe> split_recipes(const KernelText& text);

}  // namespace strop::playbook
