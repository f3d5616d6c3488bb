// A contraction with what surrounds it, brought to one form: for every batch, C[m, n] = finish(sum over k of
// left(m, k) * right(k, n)), each tensor read through strides.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// A product of extents, spelled once: factors sorted, so that equal products compare equal.
class Product {
public:
    Product() = default;  // 1
    explicit Product(int64_t number) : number_(number) {}
    explicit Product(const Expression& extent);

    bool is(int64_t number) const { return factors_.empty() && number_ == number; }
    bool is_at_most(int64_t number) const { return factors_.empty() && number_ <= number; }
    std::string cpp() const;  // "K * N"
    // The offset of `index` along an axis of this stride; empty when the stride is 0.
    std::string times(const std::string& index) const;

    friend Product operator*(const Product& a, const Product& b);
    friend bool operator==(const Product& a, const Product& b) = default;

private:
    int64_t number_ = 1;
    std::vector<std::string> factors_;
};

// Where the computation reads an operand.
enum class Side { left, right, epilogue, output };

// An input (or the output) as one place of the computation reads it.
struct Operand {
    int node = -1;  // in the graph
    Side side = Side::output;
    std::string array;           // the problem's name of the memory
    std::string name;            // the pointer's name in the kernel; differs when one array is read in two ways
    Product m{0}, n{0}, k{0};    // strides in elements
    std::vector<Product> batch;  // one an entry of ContractionForm::batch

    // "x + m * K + k" and "x[m * K + k]"; an empty index leaves that axis out.
    std::string address(const std::string& m_index, const std::string& n_index, const std::string& k_index) const;
    std::string element(const std::string& m_index, const std::string& n_index, const std::string& k_index) const;

private:
    std::string offset(const std::string& m_index, const std::string& n_index, const std::string& k_index) const;
};

struct ContractionForm {
    std::string lacks;    // non-empty: why this graph has no such form
    bool nearly = false;  // ... though it holds a contraction

    Graph graph;
    int left = -1, right = -1;      // nodes multiplied; m and k are left's, k and n are right's
    int product = -1, result = -1;  // the contraction, and the node written out
    Product m, n, k;                // extents
    std::vector<Product> batch;     // extents, outermost first
    std::vector<Operand> operands;  // every input read, once for each way of reading it
    Operand output;

    bool batched() const { return !batch.empty(); }
    bool has_epilogue() const { return result != product; }
    const Operand* operand(int node, Side side) const;  // nullptr: computed
    // The operands that `node` is computed from by pointwise operations (itself when it is one).
    std::vector<const Operand*> leaves(int node, Side side) const;
};

ContractionForm find_contraction(const Problem& problem, const Graph& graph);

// Whether a contraction can read this view of something in memory, by strides alone.
bool lies_in_strides(const Graph& graph, int id);

}  // namespace strop::playbook
