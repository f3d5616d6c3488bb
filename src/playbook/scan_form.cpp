#include "playbook/scan_form.h"

#include <fmt/format.h>

#include "playbook/argument_names.h"

namespace strop::playbook {

namespace {

class Recogniser {
public:
    Recogniser(const Problem& problem, const Graph& graph) {
        form_.problem = problem;
        form_.graph = graph;
    }

    ScanForm run() {
        read();
        return std::move(form_);
    }

private:
    bool fail(const std::string& what) {
        form_.lacks = what;
        return false;
    }
    const Node& node(int id) const { return form_.graph.at(id); }

    bool reverses(const Node& one, int axis) const {
        return one.family == Family::layout && one.op == "reverse" && one.axes == std::vector<int>{axis};
    }

    bool read() {
        std::vector<int> found;
        for (const Node& node : form_.graph.nodes)
            if (node.family == Family::scan) found.push_back(node.id);
        if (found.size() != 1) return fail(found.empty() ? "a scan" : "several scans");
        if (form_.graph.outputs.size() != 1 || form_.problem.outputs.size() != 1)
            return fail("several outputs of a scan");
        const std::map<std::string, Expression> original = free_names(form_.problem, form_.graph, axis_kernel_names());
        const Node& scan = node(found[0]);
        const int axis = scan.axes.at(0);
        form_.op = scan.op;
        int source = scan.operands[0];
        form_.scanned = scan.id;
        if (reverses(node(source), axis)) {
            for (const Node& user : form_.graph.nodes)
                if (reverses(user, axis) && user.operands[0] == scan.id) form_.scanned = user.id;
            if (form_.scanned == scan.id) return fail("a scan of a reversal that is not reversed again");
            form_.backwards = true;
            source = node(source).operands[0];
        }
        form_.nest = axis_nest(scan.shape, axis);
        form_.depth = form_.nest.depth.substitute(original);
        form_.y = form_.problem.outputs[0].name;
        return read_parts(scan, source);
    }

    bool read_parts(const Node& scan, int source) {
        int result = form_.graph.outputs[0];
        while (node(result).family == Family::layout && node(result).op == "reshape") result = node(result).operands[0];
        if (scan.dtype != DType::float32 || node(source).dtype != DType::float32 ||
            node(result).dtype != DType::float32)
            return fail("a scan of values of type " + name_of(scan.dtype));
        if (computed_in(form_.problem.outputs[0].dtype) != DType::float32)
            return fail("outputs of type " + name_of(form_.problem.outputs[0].dtype));
        if (!(node(result).shape == scan.shape)) return fail("a scan whose result has another shape");
        form_.before = pointwise_part(form_.graph, source);
        form_.after = pointwise_part(form_.graph, result, form_.scanned);
        for (const PointwisePart* part : {&form_.before, &form_.after})
            for (const std::string& lacks : {part->lacks, unreadable(form_.nest, *part)})
                if (!lacks.empty()) return fail(lacks);
        return true;
    }

    ScanForm form_;
};

}  // namespace

ScanForm scan_form(const Problem& problem, const Graph& graph) { return Recogniser(problem, graph).run(); }

}  // namespace strop::playbook
