// Small functions that the kernels of several loop strategies share, as text.
#pragma once

#include <string>

namespace strop::playbook {

std::string tail_helpers();     // load_part, store_part
std::string put_helper();       // put: streamed or not
std::string mask_helpers();     // load_mask_part, store_mask_part
std::string product_helper();   // product
std::string scratch_helper();   // scratch
std::string walkers();          // first, each_vector
std::string aligned_walkers();  // each_aligned, put_aligned
std::string strided_helpers();  // load_strided, store_strided
std::string group_helpers();    // each_row_group

}  // namespace strop::playbook
