// A folder in memory that only this process sees, whose large files come from huge pages.
#pragma once

namespace strop::judge {

// Its descriptor, for openat with O_TMPFILE; -1 where the system does not allow one. Made once, ends with the process.
//
// Arrays of NumPy and PyTorch lie in huge pages on systems with the usual setting (madvise), memory of memfd_create
// does not: kernels would be timed with page-table walks that their users do not pay. A file system of one's own has a
// setting of its own. It is never mounted anywhere (fsopen(2), fsmount(2)); an ordinary user makes it in a user name
// space and keeps the descriptor.
int memory_folder();

}  // namespace strop::judge
