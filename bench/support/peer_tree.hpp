#pragma once

#include "articula/model/model.hpp"
#include "bench/peers/peer_load.hpp"

namespace articula::bench {

/// The model as the arrays of joints that a rival is built from (peer.h): a link with several joints becomes
/// several entries, the last of which carries the inertia. Throws Error for kinematic bodies.
peers::PeerTreeArrays peer_tree(const Model& model);

}  // namespace articula::bench
