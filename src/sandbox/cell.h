// Name spaces for kernels: one set, made once by a process and entered by every candidate that it starts, so that a
// start costs a fork more and no more. Candidates of one process share the set; what keeps them from one another is
// what keeps them from everybody (Landlock, seccomp).
#pragma once

#include <sys/types.h>

#include <memory>

namespace strop::sandbox {

class Cell {
public:
    // Null when the system permits none.
    static std::unique_ptr<Cell> make();
    ~Cell();                       // ends whoever is still inside
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;

    // The one of this process, made when first asked for.
    static const Cell* shared();

    // As fork(): the child, a child of ours under the number that is returned, is inside. Its first process is another
    // one: the system keeps signals that a first process raises from it, and a kernel's abort() must be seen.
    pid_t fork_inside() const;

    bool own_network() const;
    bool own_users() const;        // inside, limits of a user count what is inside only

private:
    Cell() = default;
    bool enter() const;

    pid_t first_ = -1;             // holds the name spaces; ends when hold_ is closed
    int hold_ = -1, handle_ = -1, root_ = -1;
    int spaces_ = 0;               // CLONE_NEW...
};

// In a child that is inside a cell with users of its own: users of the child's own, so that its limits count nobody
// else's processes. False: as before. Async-signal-safe.
bool enter_own_users();

}  // namespace strop::sandbox
