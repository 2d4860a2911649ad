#include "bench/peers/peer_load.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <iterator>
#include <stdexcept>

namespace articula::peers {
namespace {

std::filesystem::path default_directory() {
  if (const char* directory = std::getenv("ARTICULA_PEERS")) {
    return directory;
  }
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

template <class Argument>
PeerModelPtr create(const PeerApi& api, PeerModel* (*constructor)(Argument, char*, int), Argument argument) {
  if (constructor == nullptr) {
    throw std::runtime_error(std::string(api.name) + " cannot be built from this description");
  }
  char reason[1000] = "";
  PeerModel* model = constructor(argument, reason, static_cast<int>(sizeof reason));
  if (model == nullptr) {
    throw std::runtime_error(std::string(api.name) + ": " + reason);
  }
  return {model, PeerModelDeleter{&api}};
}

}  // namespace

const PeerApi* load_peer(const std::string& name, std::string& reason,
                         const std::filesystem::path& directory) {
  const auto folder = directory.empty() ? default_directory() : directory;
  const auto file = folder / ("libarticula_peer_" + name + ".so");
  if (!std::filesystem::exists(file)) {
    reason = file.string() + " is not there: `make peers` installs " + name +
             ", `make bench` builds the comparison";
    return nullptr;
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    reason = dlerror();
    return nullptr;
  }
  const auto entry = reinterpret_cast<decltype(&articula_peer_api)>(dlsym(library, "articula_peer_api"));
  const PeerApi* api = entry == nullptr ? nullptr : entry();
  if (api == nullptr || api->interface_version != PEER_INTERFACE_VERSION) {
    reason =
        file.string() + " was built for another version of the interface: build it again with `make bench`";
    return nullptr;
  }
  return api;
}

PeerModelPtr create_from_tree(const PeerApi& api, const PeerTree& tree) {
  return create(api, api.create_from_tree, &tree);
}

PeerModelPtr create_from_mjcf_file(const PeerApi& api, const std::string& path) {
  return create(api, api.create_from_mjcf_file, path.c_str());
}

PeerModelPtr create_from_mjcf_text(const PeerApi& api, const std::string& text) {
  return create(api, api.create_from_mjcf_text, text.c_str());
}

std::vector<double> evaluate(const PeerModelPtr& model, const std::string& quantity,
                             const PeerStates& states) {
  const PeerApi& api = *model.get_deleter().api;
  const int size = api.quantity_size(model.get(), quantity.c_str());
  if (size < 0) {
    throw std::runtime_error(std::string(api.name) + " does not offer " + quantity);
  }
  std::vector<double> out(static_cast<std::size_t>(size) * static_cast<std::size_t>(states.count));
  if (api.evaluate(model.get(), quantity.c_str(), &states, out.data()) != PEER_OK) {
    throw std::runtime_error(std::string(api.name) + " failed to evaluate " + quantity);
  }
  return out;
}

int PeerTreeArrays::add(const PeerJoint& joint) {
  const auto append = [](std::vector<double>& array, const auto& values) {
    array.insert(array.end(), std::begin(values), std::end(values));
  };
  parent.push_back(joint.parent);
  type.push_back(joint.type);
  append(rotation, joint.rotation);
  append(translation, joint.translation);
  append(axis, joint.axis);
  armature.push_back(joint.armature);
  damping.push_back(joint.damping);
  mass.push_back(joint.mass);
  append(com, joint.com);
  append(inertia, joint.inertia);
  return static_cast<int>(parent.size()) - 1;
}

PeerTree PeerTreeArrays::view() const {
  return {static_cast<int>(parent.size()),
          parent.data(),
          type.data(),
          rotation.data(),
          translation.data(),
          axis.data(),
          armature.data(),
          damping.data(),
          mass.data(),
          com.data(),
          inertia.data(),
          {gravity[0], gravity[1], gravity[2]}};
}

}  // namespace articula::peers
