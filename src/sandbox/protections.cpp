// What the system offers to hold children, and what it means when something is missing.
#include <unistd.h>

#include "sandbox/cell.h"
#include "sandbox/control_group.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/process.h"

namespace strop::sandbox {

static bool limits_own_threads(const Cell* cell) {
    // The system counts processes by user and group of name spaces, but never root's.
    if (cell && cell->own_users() && ::geteuid() != 0) return true;
    return ControlGroup::make(1) != nullptr;
}

const Protections& offered() {
    static const Protections protections = [] {
        std::unique_ptr<Cell> cell = Cell::make();  // not the shared one: who asks need not start any candidate
        return Protections{landlock_version(), seccomp_available(), cell != nullptr, cell && cell->own_network(),
                           limits_own_threads(cell.get())};
    }();
    return protections;
}

std::vector<std::string> weaker_protections(const Protections& protections) {
    std::vector<std::string> weaker;
    if (protections.landlock == 0)
        weaker.push_back(
            "no Landlock: kernels and compilers can read what their user may read, compilers and "
            "references write what their user may write");
    else if (protections.landlock < 6)
        weaker.push_back("an old Landlock: compilers and baselines can send signals to their user's processes");
    if (!protections.seccomp) weaker.push_back("no seccomp: kernels may ask anything of the system");
    if (!protections.name_spaces)
        weaker.push_back("no name spaces: kernels share process numbers and the network with their user");
    else if (!protections.own_network)
        weaker.push_back("no name space for the network: kernels share it with their user");
    if (!protections.thread_limit)
        weaker.push_back("no limit of threads: a kernel can start as many as its user or the system may");
    return weaker;
}

}  // namespace strop::sandbox
