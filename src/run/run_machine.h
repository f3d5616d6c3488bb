// The machine that a run plans with. Its ceilings are kept in the store: a resumed or replayed run plans with the same.
#pragma once

#include <string>

#include "core/machine.h"
#include "knowledge/store.h"

namespace strop {

class RunMachine {
public:
    // What the store has of the run; else this machine, whose ceilings are measured again when they are old.
    // EnvironmentError when they cannot be measured.
    RunMachine(Store& store, std::string run);

    const Machine& machine() const { return machine_; }
    bool is_new() const { return is_new_; }   // nothing was planned with it yet
    void raise();                             // measures again and keeps the higher figures

private:
    void keep();

    Store& store_;
    std::string run_;
    Machine machine_;
    bool is_new_ = false;
};

}  // namespace strop
