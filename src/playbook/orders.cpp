#include "playbook/orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "graph/rank.h"
#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

class Orderer {
public:
    explicit Orderer(const Graph& graph) : graph_(graph) {}

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

    // Whether it writes the elements of a row to their places.
    bool sorts(const Node& scatter, const Node& rank) const {
        return writes_rows(graph_, scatter) && scatter.operands[1] == rank.id && scatter.operands[2] != rank.id &&
               scatter.shape == rank.shape;
    }

    // Places that are needed for nothing but to write sorted values, and how much of each row of those is read.
    void find(const Node& rank) {
        if (!rank_of(graph_, rank) || parts_of_sort(graph_, rank).empty() || is_output(rank.id)) return;
        std::vector<Expression> ends;
        const auto add = [&](const Expression& end) {
            if (std::find(ends.begin(), ends.end(), end) == ends.end()) ends.push_back(end);
        };
        const std::vector<int> writers = graph_.users(rank.id);
        for (int writer : writers) {
            if (!sorts(graph_.at(writer), rank)) return;
            if (is_output(writer)) add(rank.shape.back());
            for (int reader : graph_.users(writer)) {
                const Node& slice = graph_.at(reader);
                add(slice.op == "slice" ? slice.end.back() : rank.shape.back());
            }
        }
        const bool all = ends.empty() || std::find(ends.begin(), ends.end(), rank.shape.back()) != ends.end();
        Expression end = all ? rank.shape.back() : ends[0];
        for (size_t k = 1; !all && k < ends.size(); ++k)
            end = Expression::parse(fmt::format("max({}, {})", end.text(), ends[k].text()));
        read_.emplace(rank.id, end);
        for (int writer : writers) rank_of_writer_.emplace(writer, rank.id);
    }

    int placed(const Node& node) {
        if (const auto rank = rank_of_writer_.find(node.id); rank != rank_of_writer_.end())
            return gathered(node, cut(orders_.at(rank->second), read_.at(rank->second)));
        if (cuts_rows_only(node)) return first_cut(node);
        Node copy = node;
        for (int& operand : copy.operands) operand = places_[index(operand)];
        const int id = out_.add(std::move(copy));
        if (read_.contains(node.id)) orders_[node.id] = order(node, id);
        return id;
    }

    // Where the first elements of each row, as many as are read, were.
    int order(const Node& rank, int places) {
        const Expression& read = read_.at(rank.id);
        const bool all = read == rank.shape.back();
        Shape shape = rank.shape;
        if (!all) {
            Node limit;
            limit.family = Family::constant;
            limit.dtype = DType::int64;
            if (read.is_literal()) limit.value = static_cast<double>(read.evaluate_integer({}));
            else limit.dim = read;
            places = out_.pointwise("minimum", {places, out_.add(std::move(limit))}, DType::int64);
            shape.back() = read + 1;  // with room for one more, where all others go
        }
        Node scatter;
        scatter.family = Family::scatter;
        scatter.op = "sum";
        scatter.dtype = DType::int64;
        scatter.shape = shape;
        scatter.axes = {static_cast<int>(shape.size()) - 1};
        scatter.operands = {broadcast_to(out_.constant(0, DType::int64), shape), places, count(rank.shape)};
        return out_.add(std::move(scatter));
    }

    // Without the place where all others went.
    int cut(int order, const Expression& read) {
        Node first = whole_slice(out_.at(order));
        if (first.shape.back() == read) return order;
        first.end.back() = first.shape.back() = read;
        return out_.add(std::move(first));
    }

    int broadcast_to(int id, const Shape& shape) {
        if (out_.at(id).shape == shape) return id;
        Node wide;
        wide.family = Family::layout;
        wide.op = "broadcast";
        wide.dtype = out_.at(id).dtype;
        wide.operands = {id};
        wide.shape = shape;
        return out_.add(std::move(wide));
    }

    int count(const Shape& shape) {
        Node counts;
        counts.family = Family::iota;
        counts.dtype = DType::int64;
        counts.shape = {shape.back()};
        counts.axes = {0};
        return broadcast_to(out_.add(std::move(counts)), shape);
    }

    bool cuts_rows_only(const Node& slice) const {
        if (slice.op != "slice" || !rank_of_writer_.contains(slice.operands[0])) return false;
        const Shape& whole = graph_.at(slice.operands[0]).shape;
        return std::equal(whole.begin(), whole.end() - 1, slice.shape.begin());
    }

    // A part of what is sorted, read by that part of the order.
    int first_cut(const Node& slice) {
        Node cut = slice;
        cut.dtype = DType::int64;
        cut.operands = {orders_.at(rank_of_writer_.at(slice.operands[0]))};
        return gathered(graph_.at(slice.operands[0]), out_.add(std::move(cut)));
    }

    int gathered(const Node& writer, int order) {
        const int values = writer.operands[2];
        if (is_count_along_rows(graph_, graph_.at(values))) return order;
        Node gather;
        gather.family = Family::gather;
        gather.op = "take_along";
        gather.dtype = writer.dtype;
        gather.shape = out_.at(order).shape;
        gather.axes = {static_cast<int>(writer.shape.size()) - 1};
        gather.operands = {places_[index(values)], order};
        return out_.add(std::move(gather));
    }

    const Graph& graph_;
    GraphWriter out_;
    std::map<int, Expression> read_;     // of the ranks that become orders: elements of a row
    std::map<int, int> rank_of_writer_;  // of the scatters that become gathers
    std::map<int, int> orders_;          // in the new graph, of ranks in the old one
    std::vector<int> places_;            // of the graph's nodes in the new one
};

}  // namespace

Graph with_orders(const Graph& graph) { return Orderer(graph).run(); }

}  // namespace strop::playbook
