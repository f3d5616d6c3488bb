// Kernels that search for the place of an extremum, as text.
#pragma once

#include "playbook/kernel_source.h"
#include "playbook/place_form.h"

namespace strop::playbook {

struct PlacePlan {
    enum class Kind {
        lanes,   // every lane remembers the place of its own extremum (rows, or columns in panels)
        blocks,  // rows: the extremum first, of one block after the other, then its place in one of them
        split,   // the same, all threads share each row
        tiles,   // columns: what a tile of them has found so far stays in the first cache while rows stream
                 // past
    };
    Kind kind = Kind::lanes;
};

KernelParts write_places(const PlaceForm& form, const PlacePlan& plan);

}  // namespace strop::playbook
