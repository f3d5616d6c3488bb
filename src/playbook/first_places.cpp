#include "playbook/first_places.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/rank.h"
#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

class Shortener {
public:
    explicit Shortener(const Graph& graph) : graph_(graph), read_(graph.nodes.size()) {}

    Graph run() {
        for (const Node& node : graph_.nodes) find(node);
        for (const Node& node : graph_.nodes) places_.push_back(placed(node));
        std::vector<int> outputs;
        for (int id : graph_.outputs) outputs.push_back(places_[index(id)]);
        return out_.finish(outputs);
    }

private:
    static size_t index(int id) { return static_cast<size_t>(id); }

    bool is_output(int id) const {
        return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
    }

    // So that its rows may have another length.
    bool is_uniform_along_rows(const Node& node) const {
        if (node.family != Family::layout || node.op != "broadcast") return false;
        const Shape& source = graph_.at(node.operands[0]).shape;
        return source.empty() || source.back().is_literal(1);
    }

    // How much of each row of sorted values is read, where all that write them by these places are read so far only.
    void find(const Node& rank) {
        if (comparisons_of(graph_, rank).empty() || is_output(rank.id)) return;
        std::optional<Expression> end;
        const std::vector<int> writers = graph_.users(rank.id);
        for (int writer : writers) {
            const Node& sorted = graph_.at(writer);
            if (sorted.family != Family::scatter) return;
            const bool writes = sorted.operands[1] == rank.id && sorted.operands[2] != rank.id &&
                                sorted.axes.size() == 1 && index(sorted.axes[0]) + 1 == sorted.shape.size() &&
                                sorted.shape == rank.shape && is_uniform_along_rows(graph_.at(sorted.operands[0])) &&
                                !is_output(writer);
            if (!writes) return;
            for (int reader : graph_.users(writer)) {
                const Node& slice = graph_.at(reader);
                if (slice.op != "slice" || (end && !(*end == slice.end.back()))) return;
                end = slice.end.back();
            }
        }
        if (!end || *end == rank.shape.back()) return;
        read_[index(rank.id)] = end;
        for (int writer : writers) read_[index(writer)] = end;
    }

    int placed(const Node& node) {
        Node copy = node;
        for (int& operand : copy.operands) operand = places_[index(operand)];
        const std::optional<Expression>& read = read_[index(node.id)];
        if (!read) return out_.add(std::move(copy));
        if (node.family == Family::reduction) {
            Node limit;
            limit.family = Family::constant;
            limit.dtype = node.dtype;
            if (read->is_literal()) limit.value = static_cast<double>(read->evaluate_integer({}));
            else limit.dim = *read;
            const int place = out_.add(std::move(copy));
            return out_.pointwise("minimum", {place, out_.add(std::move(limit))}, node.dtype);
        }
        Node before = out_.at(copy.operands[0]);  // with room for one more, where all others go
        before.shape.back() = copy.shape.back() = *read + 1;
        copy.operands[0] = out_.add(std::move(before));
        return out_.add(std::move(copy));
    }

    const Graph& graph_;
    GraphWriter out_;
    std::vector<std::optional<Expression>> read_;  // of ranks and of what is written by them: elements of a row
    std::vector<int> places_;                      // of the graph's nodes in the new one
};

}  // namespace

Graph with_first_places(const Graph& graph) { return Shortener(graph).run(); }

}  // namespace strop::playbook
