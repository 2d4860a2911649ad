// Opens a rival's shared library at run time, and wraps its C interface for tests and the command line.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/peers/peer.h"

namespace articula::peers {

// The rival's function table, or null with the reason. Looks for libarticula_peer_NAME.so in `directory` if
// one is given, else in $ARTICULA_PEERS, else beside the running executable. A loaded rival stays loaded.
const PeerApi* load_peer(const std::string& name, std::string& reason,
                         const std::filesystem::path& directory = {});

struct PeerModelDeleter {
  const PeerApi* api = nullptr;
  void operator()(PeerModel* model) const { api->destroy(model); }
};
using PeerModelPtr = std::unique_ptr<PeerModel, PeerModelDeleter>;

// These throw std::runtime_error with the rival's own message.
PeerModelPtr create_from_tree(const PeerApi& api, const PeerTree& tree);
PeerModelPtr create_from_mjcf_file(const PeerApi& api, const std::string& path);
PeerModelPtr create_from_mjcf_text(const PeerApi& api, const std::string& text);

// The quantity at every state, one after the other. Throws where the rival does not have it.
std::vector<double> evaluate(const PeerModelPtr& model, const std::string& quantity,
                             const PeerStates& states);

// A PeerTree that owns its arrays.
struct PeerJoint {
  int parent = -1;
  PeerJointType type = PEER_HINGE;
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double translation[3] = {0, 0, 0};
  double axis[3] = {0, 0, 1};
  double armature = 0.0;
  double damping = 0.0;
  double mass = 0.0;
  double com[3] = {0, 0, 0};
  double inertia[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
};

struct PeerTreeArrays {
  std::vector<int> parent, type;
  std::vector<double> rotation, translation, axis, armature, damping, mass, com, inertia;
  double gravity[3] = {0, 0, -9.81};

  int add(const PeerJoint& joint);  // the new joint's index
  PeerTree view() const;            // valid until the next add
};

}  // namespace articula::peers
