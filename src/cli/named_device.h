// --device NAME: a worker of workers.yaml, which is a kind of device too.
#pragma once

#include "cli/flags.h"

namespace strop::cli {

// Afterwards the arguments are as if `--worker NAME` had been given, and the device that its languages run on.
// UsageErrors: there is no such device or name, it has languages of two devices, or --worker was given too.
void take_named_device(Arguments& arguments);

}  // namespace strop::cli
