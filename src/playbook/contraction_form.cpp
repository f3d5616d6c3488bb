#include "playbook/contraction_form.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "playbook/short_reductions.h"

namespace strop::playbook {

namespace {

// The strides of a node's axes in the memory of the input that it shows.
struct View {
    std::string array;
    std::vector<Product> strides;
};

std::vector<Product> row_major(const std::vector<Expression>& shape) {
    std::vector<Product> strides(shape.size());
    Product inner(1);
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = inner;
        inner = inner * Product(shape[i]);
    }
    return strides;
}

bool same_shape(const std::vector<Expression>& a, const std::vector<Expression>& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](const Expression& x, const Expression& y) { return Product(x) == Product(y); });
}

// Drops or inserts axes of extent 1; absent when the reshape does more than that.
std::optional<std::vector<Product>> squeeze(const std::vector<Expression>& from, const std::vector<Product>& strides,
                                            const std::vector<Expression>& to) {
    std::vector<Product> result;
    size_t i = 0;
    for (const Expression& extent : to) {
        if (extent.is_literal(1)) {
            result.push_back(Product(0));
            continue;
        }
        while (i < from.size() && from[i].is_literal(1)) ++i;
        if (i == from.size() || !(Product(from[i]) == Product(extent))) return std::nullopt;
        result.push_back(strides[i++]);
    }
    while (i < from.size() && from[i].is_literal(1)) ++i;
    if (i != from.size()) return std::nullopt;
    return result;
}

// `stored`: whatever is computed will be in memory.
std::optional<View> view_of(const Graph& graph, int id, bool stored = false) {
    const Node& node = graph.at(id);
    if (node.family == Family::input || (stored && node.family != Family::layout))
        return View{node.op, row_major(node.shape)};
    if (node.family != Family::layout || node.operands.size() != 1) return std::nullopt;
    std::optional<View> from = view_of(graph, node.operands[0], stored);
    if (!from) return std::nullopt;
    const Node& source = graph.at(node.operands[0]);
    View view{from->array, {}};
    if (node.op == "transpose") {
        for (int axis : node.axes) view.strides.push_back(from->strides.at(static_cast<size_t>(axis)));
        return view;
    }
    if (node.op == "reshape") {
        if (from->strides == row_major(source.shape)) return View{from->array, row_major(node.shape)};
        std::optional<std::vector<Product>> strides = squeeze(source.shape, from->strides, node.shape);
        if (!strides) return std::nullopt;
        return View{from->array, *strides};
    }
    if (node.op == "broadcast" && source.shape.size() <= node.shape.size()) {
        size_t added = node.shape.size() - source.shape.size();
        for (size_t i = 0; i < node.shape.size(); ++i) {
            bool kept = i >= added && Product(source.shape[i - added]) == Product(node.shape[i]);
            view.strides.push_back(kept ? from->strides[i - added] : Product(0));
        }
        return view;
    }
    return std::nullopt;
}

// The strides of one operand by the contraction's labels; absent labels have stride 0.
struct Labelled {
    int node = -1;
    Side side = Side::output;
    std::string array;
    std::map<char, Product> strides;

    Product at(char label) const {
        std::map<char, Product>::const_iterator found = strides.find(label);
        return found == strides.end() ? Product(0) : found->second;
    }
};

class Finder {
public:
    Finder(const Problem& problem, const Graph& graph) : problem_(problem) { form_.graph = graph; }

    ContractionForm find() {
        form_.lacks = describe();
        return std::move(form_);
    }

private:
    const Problem& problem_;
    ContractionForm form_;
    std::map<char, Product> extents_;
    std::vector<Labelled> tensors_;  // operands; the output is the last
    std::string result_labels_;

    const Node& at(int id) const { return form_.graph.at(id); }

    std::string describe() {
        for (const Node& node : form_.graph.nodes)
            if (node.family == Family::contraction) {
                if (form_.product >= 0) return "two contractions in one kernel";
                form_.product = node.id;
                form_.nearly = true;
            }
        if (form_.product < 0) return "no contraction";
        if (form_.graph.outputs.size() != 1) return "several outputs beside a contraction";
        form_.result = form_.graph.outputs[0];
        const Node& product = at(form_.product);
        if (product.labels.size() != 3 || product.operands.size() != 2)
            return "a contraction of more than two operands";
        for (const Node& node : form_.graph.nodes)
            if (node.dtype != DType::float32 && node.family == Family::input)
                return fmt::format("a contraction with inputs of type {}", name_of(node.dtype));
        if (at(form_.result).dtype != DType::float32) return "a contraction with a result that is not float32";
        form_.left = product.operands[0];
        form_.right = product.operands[1];
        result_labels_ = product.labels[2];
        std::string problem = absorb_transpose();
        if (problem.empty()) problem = read_extents();
        if (problem.empty()) problem = read_operands();
        if (problem.empty()) problem = assign_axes();
        if (problem.empty() && form_.k.is_at_most(most_unrolled) && (form_.m.is(1) || form_.n.is(1)))
            return "a product of few terms with a vector, which is quicker written out";
        return problem;
    }

    // A transposed product is the same contraction with its result's labels permuted.
    std::string absorb_transpose() {
        std::vector<int> users = form_.graph.users(form_.product);
        while (users.size() == 1 && at(users[0]).family == Family::layout && at(users[0]).op == "transpose") {
            std::string permuted;
            for (int axis : at(users[0]).axes) permuted += result_labels_.at(static_cast<size_t>(axis));
            result_labels_ = permuted;
            form_.product = users[0];
            users = form_.graph.users(form_.product);
        }
        if (std::set<char>(result_labels_.begin(), result_labels_.end()).size() != result_labels_.size())
            return "a contraction that writes a diagonal";
        return {};
    }

    std::string read_extents() {
        for (int side = 0; side < 2; ++side) {
            const Node& operand = at(side == 0 ? form_.left : form_.right);
            const std::string& labels = contraction().labels[static_cast<size_t>(side)];
            if (labels.size() != operand.shape.size()) return "a contraction whose labels do not fit its operands";
            if (std::set<char>(labels.begin(), labels.end()).size() != labels.size())
                return "a contraction over a diagonal";
            for (size_t i = 0; i < labels.size(); ++i) {
                std::map<char, Product>::iterator known = extents_.find(labels[i]);
                if (known == extents_.end()) extents_[labels[i]] = Product(operand.shape[i]);
                else if (known->second.is(1)) known->second = Product(operand.shape[i]);
            }
        }
        for (char label : result_labels_)
            if (!extents_.contains(label)) return "a contraction whose result has an axis of no operand";
        return {};
    }

    const Node& contraction() const {
        for (const Node& node : form_.graph.nodes)
            if (node.family == Family::contraction) return node;
        return at(form_.product);
    }

    std::string read_operands() {
        std::string problem = collect(form_.left, contraction().labels[0], Side::left);
        if (problem.empty()) problem = collect(form_.right, contraction().labels[1], Side::right);
        if (problem.empty() && !same_shape(at(form_.result).shape, at(form_.product).shape))
            problem = "an epilogue that changes the shape of the contraction's result";
        if (problem.empty()) problem = collect(form_.result, result_labels_, Side::epilogue);
        if (!problem.empty()) return problem;
        tensors_.push_back(labelled(-1, Side::output, problem_.outputs.at(0).name, row_major(at(form_.product).shape),
                                    at(form_.product).shape, result_labels_));
        return {};
    }

    // `labels` name the last axes of the shape; an axis of extent 1 where the label is longer does not move.
    Labelled labelled(int node, Side side, const std::string& array, const std::vector<Product>& strides,
                      const std::vector<Expression>& shape, const std::string& labels) const {
        Labelled tensor{node, side, array, {}};
        for (size_t i = 0; i < shape.size(); ++i) {
            char label = labels[labels.size() - shape.size() + i];
            if (!shape[i].is_literal(1)) tensor.strides[label] = strides[i];
        }
        return tensor;
    }

    // Follows pointwise operations down to what is read from memory.
    std::string collect(int id, const std::string& labels, Side side) {
        const Node& node = at(id);
        const bool epilogue = side == Side::epilogue;
        if (epilogue && id == form_.product) return {};
        if (node.family == Family::parameter || node.family == Family::constant) return {};
        if (node.shape.size() > labels.size()) return "a broadcast of a contraction's result";
        if (std::optional<View> view = view_of(form_.graph, id)) {
            Labelled tensor = labelled(id, side, view->array, view->strides, node.shape, labels);
            for (const Labelled& known : tensors_)
                if (known.node == id && known.side == side) return {};
            tensors_.push_back(tensor);
            return {};
        }
        if (node.family != Family::pointwise)
            return fmt::format("{} '{}' {} a contraction", name_of(node.family), node.op,
                               epilogue ? "after" : "before");
        for (int operand : node.operands)
            if (std::string problem = collect(operand, labels, side); !problem.empty()) return problem;
        return {};
    }

    static bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

    std::string assign_axes() {
        std::string left = contraction().labels[0], right = contraction().labels[1];
        // Vectors run along n, so n is where the result's rows lie: swap when that axis is the left operand's
        // own.
        for (size_t i = result_labels_.size(); i-- > 0;) {
            char label = result_labels_[i];
            if (extents_.at(label).is(1) || (has(left, label) && has(right, label))) continue;
            if (has(left, label)) {
                std::swap(left, right);
                std::swap(form_.left, form_.right);
                for (Labelled& tensor : tensors_)
                    if (tensor.side == Side::left) tensor.side = Side::right;
                    else if (tensor.side == Side::right) tensor.side = Side::left;
            }
            break;
        }
        std::string batch, m, n, k;
        for (char label : result_labels_) {
            bool in_left = has(left, label), in_right = has(right, label);
            (in_left && in_right ? batch : in_left ? m : n) += label;
        }
        for (char label : left + right) {
            if (has(result_labels_, label) || has(k, label)) continue;
            if (!has(left, label) || !has(right, label)) return "a sum over one operand of a contraction";
            k += label;
        }
        if (collapse(k) > 1) return "a contraction over several axes that do not lie together in memory";
        collapse(m);
        collapse(n);
        // What does not join the innermost run of rows or columns becomes a loop of its own.
        batch += m.substr(0, m.empty() ? 0 : m.size() - 1) + n.substr(0, n.empty() ? 0 : n.size() - 1);
        collapse(batch);
        build(batch, m.empty() ? '\0' : m.back(), n.empty() ? '\0' : n.back(), k.empty() ? '\0' : k[0]);
        return {};
    }

    // Joins neighbours that every tensor walks with one stride; returns how many labels remain. For k, whose
    // order is free, neighbours are tried in every order.
    size_t collapse(std::string& labels) {
        std::string kept;
        for (char label : labels)
            if (!extents_.at(label).is(1)) kept += label;
        if (kept.empty() && !labels.empty()) kept = labels.substr(0, 1);
        std::sort(kept.begin(), kept.end(), [&](char a, char b) { return labels.find(a) < labels.find(b); });
        bool joined = true;
        while (joined) {
            joined = false;
            for (size_t i = 0; i + 1 < kept.size() && !joined; ++i)
                joined = join(kept, i, i + 1) || join(kept, i + 1, i);
        }
        labels = kept;
        return labels.size();
    }

    bool join(std::string& labels, size_t outer, size_t inner) {
        char out = labels[outer], in = labels[inner];
        for (const Labelled& tensor : tensors_)
            if (!(tensor.at(out) == tensor.at(in) * extents_.at(in))) return false;
        extents_.at(in) = extents_.at(in) * extents_.at(out);
        labels.erase(outer, 1);
        return true;
    }

    void build(const std::string& batch, char m, char n, char k) {
        form_.m = m ? extents_.at(m) : Product(1);
        form_.n = n ? extents_.at(n) : Product(1);
        form_.k = k ? extents_.at(k) : Product(1);
        for (char label : batch) form_.batch.push_back(extents_.at(label));
        std::map<std::string, int> uses;
        for (const Labelled& tensor : tensors_) {
            Operand operand;
            operand.node = tensor.node;
            operand.side = tensor.side;
            operand.array = operand.name = tensor.array;
            if (int use = ++uses[tensor.array]; use > 1) operand.name += fmt::format("_{}", use);
            operand.m = m ? tensor.at(m) : Product(0);
            operand.n = n ? tensor.at(n) : Product(0);
            operand.k = k ? tensor.at(k) : Product(0);
            for (char label : batch) operand.batch.push_back(tensor.at(label));
            if (tensor.node < 0) form_.output = operand;
            else form_.operands.push_back(operand);
        }
    }
};

}  // namespace

Product::Product(const Expression& extent) {
    std::string text = extent.cpp();
    if (extent.is_literal()) number_ = extent.evaluate_integer({});
    else factors_.push_back(extent.is_symbol() ? text : "(" + text + ")");
}

std::string Product::cpp() const {
    if (factors_.empty() || number_ == 0) return std::to_string(number_);
    std::string text = number_ == 1 ? "" : std::to_string(number_);
    for (const std::string& factor : factors_) text += (text.empty() ? "" : " * ") + factor;
    return text;
}

std::string Product::times(const std::string& index) const {
    if (is(0) || index.empty() || index == "0") return {};
    std::string grouped = index.find_first_of(" ?") == std::string::npos ? index : "(" + index + ")";
    return is(1) ? index : grouped + " * " + cpp();
}

Product operator*(const Product& a, const Product& b) {
    Product result(a.number_ * b.number_);
    if (result.number_ == 0) return result;
    result.factors_ = a.factors_;
    result.factors_.insert(result.factors_.end(), b.factors_.begin(), b.factors_.end());
    std::sort(result.factors_.begin(), result.factors_.end());
    return result;
}

std::string Operand::offset(const std::string& m_index, const std::string& n_index, const std::string& k_index) const {
    std::string text;
    for (const std::string& one : {m.times(m_index), n.times(n_index), k.times(k_index)})
        if (!one.empty()) text += (text.empty() ? "" : " + ") + one;
    return text;
}

std::string Operand::address(const std::string& m_index, const std::string& n_index, const std::string& k_index) const {
    std::string moved = offset(m_index, n_index, k_index);
    return moved.empty() ? name : name + " + " + moved;
}

std::string Operand::element(const std::string& m_index, const std::string& n_index, const std::string& k_index) const {
    std::string moved = offset(m_index, n_index, k_index);
    return name + "[" + (moved.empty() ? "0" : moved) + "]";
}

const Operand* ContractionForm::operand(int node, Side side) const {
    for (const Operand& candidate : operands)
        if (candidate.node == node && candidate.side == side) return &candidate;
    return nullptr;
}

std::vector<const Operand*> ContractionForm::leaves(int node, Side side) const {
    if (node == product) return {};
    if (const Operand* own = operand(node, side)) return {own};
    std::vector<const Operand*> found;
    for (int source : graph.at(node).operands)
        for (const Operand* leaf : leaves(source, side))
            if (std::find(found.begin(), found.end(), leaf) == found.end()) found.push_back(leaf);
    return found;
}

ContractionForm find_contraction(const Problem& problem, const Graph& graph) { return Finder(problem, graph).find(); }

bool lies_in_strides(const Graph& graph, int id) { return view_of(graph, id, true).has_value(); }

}  // namespace strop::playbook
