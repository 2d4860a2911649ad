#pragma once

#include "articula/model/description.hpp"

namespace articula {

// Bodies depth first, children in the order given; frames and geometries in the order of their bodies, the
// world's first. A tree written to a file and read again has this order.
void order_as_tree(Description& description);

}  // namespace articula
