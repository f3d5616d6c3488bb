// The dispatching function of a run: which kernels it calls where, and its source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"
#include "core/record.h"
#include "language/bundle.h"
#include "search/dispatch.h"
#include "search/search.h"

namespace strop {

struct FinalFunction {
    search::DispatchPlan dispatch;
    BundleNotes notes;
    std::string source;
    std::string finding = {};  // of sanitizers, or nothing

    Kernel kernel() const;
    // The id of the kernel that runs at a shape of that problem.
    std::string kernel_at(const Problem& problem, const Dimensions& dims) const;
};

FinalFunction final_function_of(const Problem& problem, search::DispatchPlan dispatch,
                                const std::vector<Strategy>& strategies);

// Where sanitizers found an error first, of the shapes that the function was called at in this order; nothing without
// one.
std::optional<ShapePoint> place_of_finding(const std::vector<SanitizerRun>& runs,
                                           const std::vector<ShapePoint>& points);
// What is left without a kernel; nothing where none would be left that may be called everywhere.
std::vector<search::Candidate> without(const std::vector<search::Candidate>& finalists, const std::string& kernel);
// The winner that the record's sanitizers found an error in leaves the finalists; the reserves take their place where
// none is left. The line that says so; empty where nobody can be named, or nobody is left.
std::string drop_winner_at_fault(const Problem& problem, const FinalFunction& function,
                                 const std::vector<ShapePoint>& sanitized, search::Result& found, RunRecord& record);

}  // namespace strop
