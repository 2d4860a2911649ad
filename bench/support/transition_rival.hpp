#pragma once
// MuJoCo's mjd_transitionFD, beside our Jacobians of the same steps.
//
// Its contacts are soft: under load they overlap, where ours touch, and in most states of our trajectories it
// sees no contact at all. Both are therefore asked for derivatives in the states of its trajectory, with the
// same start and controls as ours: there both are in contact.

#include "bench/peers/peer_load.hpp"
#include "bench/support/contact_scenes.hpp"

namespace articula::bench {

class TransitionRival {
 public:
  // Newton's method at its default tolerance; sensors, which our step does not evaluate, are off. A robot
  // that is no MJCF file is written as one. Throws where MuJoCo refuses it or counts other coordinates.
  TransitionRival(const PeerApi& api, const std::string& path, const Case& c);

  // From now on with this friction law, pyramid or cone.
  void use(bool cone);
  // Where ours were taken, but on its own trajectory; empty if that diverged.
  std::vector<Sample> samples(const std::vector<Sample>& ours) const;
  double contacts(const std::vector<Sample>& samples) const;  // on average
  // Mean over the samples of the least time of each, in us.
  double us(const std::vector<Sample>& samples, int repeats) const;

 private:
  const PeerApi* api_;
  const Case* case_;
  peers::PeerModelPtr model_;
};

}  // namespace articula::bench
