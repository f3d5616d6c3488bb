// Convolutions in disguise: a contraction of filters with sliding windows of an image, however its axes are
// ordered, split into groups, padded, strided and dilated.
#include <algorithm>
#include <set>

#include "graph/rewrite.h"

namespace strop {

namespace {

// What an axis of a view of the image walks along.
struct Axis {
    enum class Kind { whole, part, output, kernel, unit };
    Kind kind = Kind::whole;
    int source = -1;      // axis of the image
    Expression step = 1;  // output: stride, kernel: dilation
};

struct WindowView {
    int image = -1;  // the node under the window
    std::vector<Axis> axes;
};

bool is_layout(const Node& node, const char* op) { return node.family == Family::layout && node.op == op; }

class Raiser {
public:
    explicit Raiser(const Graph& old) : old_(old) {
        for (const Node& node : old.nodes)
            if (node.family == Family::input)
                for (const Expression& extent : node.shape) known_extents_.push_back(extent);
    }

    Graph run() {
        for (const Node& node : old_.nodes) {
            Node copy = node;
            for (int& operand : copy.operands) operand = places_[static_cast<size_t>(operand)];
            std::optional<int> raised;
            if (node.family == Family::contraction)
                for (size_t side = 0; side < 2 && !raised; ++side) raised = raise_either(copy, side);
            places_.push_back(raised ? *raised : out_.add(std::move(copy)));
        }
        std::vector<int> outputs;
        for (int id : old_.outputs) outputs.push_back(places_[static_cast<size_t>(id)]);
        return out_.finish(outputs);
    }

private:
    // The labels of one contraction by what they mean for a convolution.
    struct Roles {
        std::string batch, group, channel, filter;  // one letter each, or none
        std::map<int, char> out, kernel;            // by the image's axis
        std::map<int, Expression> stride, dilation;
        std::map<char, int> source;  // image axis of batch, group, channel
    };

    const Graph& old_;
    GraphWriter out_;
    std::vector<int> places_;
    std::vector<Expression> known_extents_;

    // ---- the image's side ------------------------------------------------------------------------

    std::optional<WindowView> view_of(int id) const {
        const Node& node = out_.at(id);
        if (node.family != Family::layout) return std::nullopt;
        if (node.op == "window") return view_of_window(node);
        std::optional<WindowView> view;
        if (node.op == "transpose" || node.op == "slice" || node.op == "reshape") view = view_of(node.operands[0]);
        if (!view) return std::nullopt;
        if (node.op == "slice") return sliced(std::move(*view), node);
        if (node.op == "reshape") return split(std::move(*view), node);
        std::vector<Axis> axes;
        for (int axis : node.axes) axes.push_back(view->axes[static_cast<size_t>(axis)]);
        view->axes = axes;
        return view;
    }

    WindowView view_of_window(const Node& node) const {
        WindowView view;
        view.image = node.operands[0];
        size_t rank = out_.at(view.image).shape.size();
        for (size_t i = 0; i < rank; ++i) view.axes.push_back({Axis::Kind::whole, static_cast<int>(i), 1});
        for (int axis : node.axes) {
            view.axes[static_cast<size_t>(axis)].kind = Axis::Kind::output;
            view.axes.push_back({Axis::Kind::kernel, axis, 1});
        }
        return view;
    }

    // Steps along windows are strides, within windows dilations; anything else is no convolution.
    std::optional<WindowView> sliced(WindowView view, const Node& node) const {
        const Shape& extents = out_.at(node.operands[0]).shape;
        for (size_t i = 0; i < view.axes.size(); ++i) {
            bool whole = node.begin[i].is_literal(0) && node.end[i] == extents[i];
            if (!whole) return std::nullopt;
            if (node.step[i].is_literal(1)) continue;
            Axis& axis = view.axes[i];
            bool window = axis.kind == Axis::Kind::output || axis.kind == Axis::Kind::kernel;
            if (!window || !axis.step.is_literal(1)) return std::nullopt;
            axis.step = node.step[i];
        }
        return view;
    }

    // Whole axes may fall into two parts; unit axes come and go.
    std::optional<WindowView> split(WindowView view, const Node& node) const {
        const Shape& from = out_.at(node.operands[0]).shape;
        std::vector<Axis> axes;
        size_t i = 0;
        for (size_t j = 0; j < node.shape.size(); ++j) {
            if (i < from.size() && from[i] == node.shape[j]) {
                const bool alone = j + 1 < node.shape.size() && node.shape[j + 1].is_literal(1) &&
                                   (i + 1 == from.size() || !from[i + 1].is_literal(1));
                if (alone && view.axes[i].kind == Axis::Kind::whole) {  // channels in groups of one
                    axes.insert(axes.end(), 2, {Axis::Kind::part, view.axes[i++].source, 1});
                    ++j;
                    continue;
                }
                axes.push_back(view.axes[i++]);
            } else if (node.shape[j].is_literal(1)) {
                axes.push_back({Axis::Kind::unit, -1, 1});
            } else if (i < from.size() && view.axes[i].kind == Axis::Kind::whole && j + 1 < node.shape.size() &&
                       product(node.shape[j], node.shape[j + 1]) == from[i]) {
                axes.insert(axes.end(), 2, {Axis::Kind::part, view.axes[i++].source, 1});
                ++j;
            } else {
                return std::nullopt;
            }
        }
        if (i != from.size()) return std::nullopt;
        view.axes = axes;
        return view;
    }

    // a * b, where groups * (C // groups) is C: the reshape that made both says so.
    Expression product(const Expression& a, const Expression& b) const {
        if (a.is_literal() && b.is_literal()) return a * b;
        for (const Expression& extent : known_extents_)
            if (Expression::floor_divide(extent, a) == b || Expression::floor_divide(extent, b) == a) return extent;
        return a * b;
    }

    // ---- roles -----------------------------------------------------------------------------------

    static bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

    static bool take(std::string& role, char label) {
        role += label;
        return role.size() == 1;
    }

    bool assign_axis(Roles& roles, const Axis& axis, char label, bool filtered, bool kept) const {
        switch (axis.kind) {
            case Axis::Kind::output:
                roles.out[axis.source] = label;
                roles.stride.emplace(axis.source, axis.step);
                return kept && !filtered;
            case Axis::Kind::kernel:
                roles.kernel[axis.source] = label;
                roles.dilation.emplace(axis.source, axis.step);
                return filtered && !kept;
            case Axis::Kind::unit: return false;
            default: break;
        }
        roles.source[label] = axis.source;
        if (filtered && kept) return take(roles.group, label);
        return take(filtered ? roles.channel : roles.batch, label);
    }

    std::optional<Roles> roles_of(const WindowView& view, const std::string& image, const std::string& filters,
                                  const std::string& result) const {
        Roles roles;
        for (size_t i = 0; i < image.size(); ++i)
            if (!assign_axis(roles, view.axes[i], image[i], has(filters, image[i]), has(result, image[i])))
                return std::nullopt;
        for (char label : filters)
            if (!has(image, label) && !take(roles.filter, label)) return std::nullopt;
        bool paired = !roles.out.empty() && roles.out.size() == roles.kernel.size();
        return paired && parts_belong_together(roles, view) ? std::optional(roles) : std::nullopt;
    }

    // Both parts of a split axis must be used, the group before the channel.
    static bool parts_belong_together(const Roles& roles, const WindowView& view) {
        std::map<int, int> parts;
        for (const Axis& axis : view.axes)
            if (axis.kind == Axis::Kind::part) ++parts[axis.source];
        for (const auto& [source, count] : parts) {
            bool pair = !roles.group.empty() && !roles.channel.empty() && roles.source.at(roles.group[0]) == source &&
                        roles.source.at(roles.channel[0]) == source;
            if (!pair) return false;
        }
        return true;
    }

    // ---- merged axes -----------------------------------------------------------------------------

    // windows.reshape(N*P*Q, C*R*S) @ filters.reshape(K, C*R*S).T: the product with the axes apart.
    std::optional<int> raise_either(const Node& node, size_t side) {
        if (std::optional<int> raised = raise(node, side)) return raised;
        if (!is_layout(out_.at(node.operands[side]), "reshape")) return std::nullopt;
        if (!view_of(out_.at(node.operands[side]).operands[0])) return std::nullopt;
        std::map<char, Shape> extents;
        Node apart = node;
        for (size_t i = 0; i < 2; ++i) {
            const Node& operand = out_.at(node.operands[i]);
            bool reshaped = is_layout(operand, "reshape");
            const Shape& inner = reshaped ? out_.at(operand.operands[0]).shape : operand.shape;
            if (!take_apart(node.labels[i], operand.shape, inner, extents)) return std::nullopt;
            if (reshaped) apart.operands[i] = operand.operands[0];
        }
        rename_apart(apart, extents);
        std::optional<int> raised = raise(apart, side);
        return raised ? std::optional(out_.reshape(*raised, node.shape)) : std::nullopt;
    }

    // The extents behind each label; a label that both operands have must fall apart alike.
    static bool take_apart(const std::string& labels, const Shape& merged, const Shape& inner,
                           std::map<char, Shape>& extents) {
        size_t next = 0;
        for (size_t i = 0; i < merged.size(); ++i) {
            Shape parts;
            Expression whole = 1;
            while (next < inner.size() && (parts.empty() || !same_value(whole, merged[i]))) {
                parts.push_back(inner[next]);
                whole = whole * inner[next++];
            }
            if (!same_value(whole, merged[i])) return false;
            auto [known, added] = extents.emplace(labels[i], parts);
            if (!added &&
                !std::equal(parts.begin(), parts.end(), known->second.begin(), known->second.end(), same_value))
                return false;
        }
        return next == inner.size();
    }

    static void rename_apart(Node& node, const std::map<char, Shape>& extents) {
        std::map<char, std::string> letters;
        char next = 'a';
        Shape shape;
        for (const auto& [label, parts] : extents)
            for (size_t i = 0; i < parts.size(); ++i) letters[label] += next++;
        for (char label : node.labels[2]) shape.insert(shape.end(), extents.at(label).begin(), extents.at(label).end());
        for (std::string& labels : node.labels) {
            std::string apart;
            for (char label : labels) apart += letters[label];
            labels = apart;
        }
        node.shape = shape;
    }

    // ---- building --------------------------------------------------------------------------------

    std::optional<int> raise(const Node& node, size_t side) {
        std::optional<WindowView> view = view_of(node.operands[side]);
        if (!view) return std::nullopt;
        std::optional<Roles> roles = roles_of(*view, node.labels[side], node.labels[1 - side], node.labels[2]);
        if (!roles) return std::nullopt;
        std::map<char, Expression> extents;
        for (size_t i = 0; i < 2; ++i)
            for (size_t j = 0; j < node.labels[i].size(); ++j)
                extents.emplace(node.labels[i][j], out_.at(node.operands[i]).shape[j]);
        for (size_t j = 0; j < node.labels[2].size(); ++j) extents.insert_or_assign(node.labels[2][j], node.shape[j]);
        Node convolution;
        convolution.family = Family::convolution;
        convolution.dtype = node.dtype;
        int image = strip_padding(view->image, *roles, convolution.padding);
        convolution.operands = {arrange_image(image, *roles),
                                arrange_filters(node.operands[1 - side], node.labels[1 - side], *roles, extents)};
        for (const auto& [axis, stride] : roles->stride) convolution.stride.push_back(stride);
        for (const auto& [axis, dilation] : roles->dilation) convolution.dilation.push_back(dilation);
        if (!roles->group.empty()) convolution.groups = extents.at(roles->group[0]);
        convolution.shape = {out_.at(convolution.operands[0]).shape[0], out_.at(convolution.operands[1]).shape[0]};
        for (const auto& [axis, label] : roles->out) convolution.shape.push_back(extents.at(label));
        return arrange_result(out_.add(std::move(convolution)), node, *roles, extents);
    }

    // The image under equal zero padding on both sides of the windowed axes only.
    int strip_padding(int image, const Roles& roles, std::vector<Expression>& padding) const {
        const Node& node = out_.at(image);
        padding.assign(roles.out.size(), Expression(0));
        if (!is_layout(node, "pad") || node.pad_value != 0) return image;
        for (size_t i = 0; i < node.begin.size(); ++i) {
            bool windowed = roles.out.count(static_cast<int>(i)) > 0;
            bool fits =
                windowed ? node.begin[i] == node.end[i] : node.begin[i].is_literal(0) && node.end[i].is_literal(0);
            if (!fits) return image;
        }
        padding.clear();
        for (const auto& [axis, label] : roles.out) padding.push_back(node.begin[static_cast<size_t>(axis)]);
        return node.operands[0];
    }

    // As [N, C, spatial...].
    int arrange_image(int image, const Roles& roles) {
        const Shape shape = out_.at(image).shape;
        std::vector<int> order;
        Shape arranged;
        auto append = [&](const std::string& role) {
            if (role.empty()) return Expression(1);
            int axis = roles.source.at(role[0]);
            if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
            return shape[static_cast<size_t>(axis)];
        };
        arranged.push_back(append(roles.batch));
        Expression groups = append(roles.group), channels = append(roles.channel);
        bool one_axis = !roles.group.empty() && !roles.channel.empty() &&
                        roles.source.at(roles.group[0]) == roles.source.at(roles.channel[0]);
        arranged.push_back(one_axis ? channels : product(groups, channels));
        for (const auto& [axis, label] : roles.out) {
            order.push_back(axis);
            arranged.push_back(shape[static_cast<size_t>(axis)]);
        }
        return out_.reshape(out_.transpose(image, order), arranged);
    }

    // As [K, C/groups, kernel...].
    int arrange_filters(int filters, const std::string& labels, const Roles& roles,
                        const std::map<char, Expression>& extents) {
        std::string wanted = roles.group + roles.filter + roles.channel;
        for (const auto& [axis, label] : roles.kernel) wanted += label;
        std::vector<int> order;
        for (char label : wanted) order.push_back(static_cast<int>(labels.find(label)));
        auto extent = [&](const std::string& role) { return role.empty() ? Expression(1) : extents.at(role[0]); };
        Shape shape = {product(extent(roles.group), extent(roles.filter)), extent(roles.channel)};
        for (const auto& [axis, label] : roles.kernel) shape.push_back(extents.at(label));
        return out_.reshape(out_.transpose(filters, order), shape);
    }

    // From [N, K, spatial...] to what the contraction promised.
    int arrange_result(int convolution, const Node& node, const Roles& roles,
                       const std::map<char, Expression>& extents) {
        std::string labels = roles.batch + roles.group + roles.filter;
        for (const auto& [axis, label] : roles.out) labels += label;
        Shape shape;
        for (char label : labels) shape.push_back(extents.at(label));
        std::vector<int> order;
        for (char label : node.labels[2]) order.push_back(static_cast<int>(labels.find(label)));
        return out_.transpose(out_.reshape(convolution, shape), order);
    }
};

}  // namespace

Graph raise_convolutions(const Graph& graph) { return Raiser(graph).run(); }

}  // namespace strop
