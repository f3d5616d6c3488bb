#include "sandbox/privileges.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace strop::sandbox {

bool forbid_new_privileges() { return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; }

bool drop_capabilities() {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[2] = {};
    if (::syscall(SYS_capget, &header, sets) != 0) return false;
    sets[0].inheritable = sets[1].inheritable = 0;
    if (::syscall(SYS_capset, &header, sets) != 0) return false;
    // From now on executing a program as root gives no capability.
    constexpr unsigned long no_root = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
    if (::prctl(PR_SET_SECUREBITS, no_root, 0, 0, 0) == 0) return true;
    // Not allowed to say so: executing gives no more than is there, for new privileges are forbidden.
    __user_cap_data_struct none[2] = {};
    return ::syscall(SYS_capset, &header, none) == 0;
}

}  // namespace strop::sandbox
