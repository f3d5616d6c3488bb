#include "run/profiling.h"

#include "device/machine.h"
#include "playbook/playbook.h"
#include "problem/trace.h"
#include "run/diagnosis.h"
#include "run/roofline.h"

namespace strop {

report::ProfileReport profile_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                                     const Configuration& configuration) {
    report::ProfileReport report;
    report.kernel = kernel.id;
    report.problem = problem.name;
    report.compiler = worker.toolchain();
    report.machine = measured_machine();
    report.profile = worker.profile({kernel, configuration, problem.points, Effort::full, {}});
    const playbook::Playbook playbook(problem, trace_reference(problem), report.machine);
    for (const PointProfile& point : report.profile.points) {
        const Roofline line = roofline(problem, playbook.graph(), report.machine, point.point.dims);
        ShapeReport shape;
        shape.label = point.point.label;
        shape.dims = point.point.dims;
        shape.nanoseconds = point.time.median_ns;
        shape.low_ns = point.time.low_ns;
        shape.high_ns = point.time.high_ns;
        shape.roofline_ns = line.nanoseconds;
        if (shape.nanoseconds > 0) shape.roofline_share = line.nanoseconds / shape.nanoseconds;
        shape.bound = line.bound;
        shape.bytes = line.bytes;
        shape.flops = line.flops;
        report.shapes.push_back(shape);
        report.diagnoses.push_back(diagnose(point, line, report.machine));
    }
    return report;
}

}  // namespace strop
