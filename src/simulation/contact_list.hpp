#pragma once
// The solution of a contact problem in the words of the model.

#include "articula/simulation/step.hpp"

namespace articula {

// Of the last impulse_step with `work`.
void list_contacts(const Model& model, const ImpulseWork& work, double h, std::vector<StepContact>& list);
void list_loops(const Data& data, const ImpulseWork& work, std::vector<StepLoop>& list);

}  // namespace articula
