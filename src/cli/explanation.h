// What a tuning run says about its tunables, for a person and as JSON.
#pragma once

#include "core/json.h"
#include "tune/measured_space.h"
#include "tune/space.h"

namespace strop::cli {

// `space`: all that is valid, of which `measured` holds some.
void print_explanation(const tune::Space& space, const tune::MeasuredSpace& measured);
Json explanation_to_json(const tune::Space& space, const tune::MeasuredSpace& measured);

}  // namespace strop::cli
