// Name spaces for kernels: one set, made once by a process and entered by every candidate that it starts. Processes and
// mounts each candidate has for itself, below those of the set: it can name no other candidate.
#pragma once

#include <sys/types.h>

#include <memory>

namespace strop::sandbox {

// The first process of a name space, which nobody talks to. When it ends, everybody inside does.
class Keeper {
public:
    Keeper(pid_t pid, int hold) : pid_(pid), hold_(hold) {}
    ~Keeper();  // who was started inside must have been waited for
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    pid_t pid() const { return pid_; }

private:
    pid_t pid_;
    int hold_;  // it ends when this is closed, as it is when we end
};

class Cell {
public:
    // Null when the system permits none.
    static std::unique_ptr<Cell> make();
    ~Cell();  // ends whoever is still inside
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    // The one of this process, made when first asked for.
    static const Cell* shared();

    // As fork(): the child, a child of ours under the number that is returned, is inside, in a name space of processes
    // of its own. The first process there is another one, the keeper: the system keeps signals that a first process
    // raises from it, and a kernel's abort() must be seen.
    pid_t fork_inside(std::unique_ptr<Keeper>& keeper) const;

    bool own_network() const;
    bool own_users() const;  // inside, limits of a user count what is inside only

private:
    Cell() = default;
    bool enter() const;

    std::unique_ptr<Keeper> keeper_;
    int handle_ = -1, root_ = -1;
    int spaces_ = 0;  // CLONE_NEW...
};

// In a child that is inside a cell with users of its own: users of the child's own, so that its limits count nobody
// else's processes. False: as before. Async-signal-safe.
bool enter_own_users();

}  // namespace strop::sandbox
