#pragma once
// Ridders' extrapolated central differences: the reference that derivatives are held against.

#include <functional>

#include "articula/math/types.hpp"

namespace articula {

struct Differences {
  VectorX derivative;
  VectorX error;     // estimated, per component: of the extrapolation, and rounding
  VectorX rounding;  // the part of it that noise in f explains
};

// d f(t)/dt at t = 0. Steps shrink from `step` by sqrt 2; of the extrapolations, the one with the smallest
// estimated error is taken, for each component apart.
//
// Central differences of a smooth f have errors in h^2, h^4, ...; those of one whose second derivative jumps
// at t = 0 (as of t |t|) in h, h^2, .... `jumps` extrapolates for both and takes what is better.
//
// f is taken to be known to the last digit of its largest number, or to `noise` where that is more: long
// steps are then preferred to short ones that agree by chance. Where `enough` says that the result is good,
// no shorter steps are taken.
Differences ridders_differences(const std::function<VectorX(double)>& f, double step, bool jumps = false,
                                double noise = 0.0,
                                const std::function<bool(const Differences&)>& enough = nullptr);
// The limit of the derivative to one side, t > 0 or where `step` is negative t < 0, from extrapolated
// differences (f(h) - f(h/2)) / (h/2), with errors in h, h^2, .... f may jump at t = 0: without restitution
// there is no bounce, and with little of it a small one in place of touching.
Differences one_sided_differences(const std::function<VectorX(double)>& f, double step);
// Of two, component by component, what has the smaller estimated error.
void keep_better(Differences& best, const Differences& other);

// The same from several first steps, for functions whose scale and noise are not known.
Differences ridders_differences(const std::function<VectorX(double)>& f, std::initializer_list<double> steps,
                                bool jumps = false);

// The mean of so many tables (at least four) whose first steps are a little shorter each, from `step` down to
// step / sqrt 2, so that no two see f at one place: for functions whose noise is all that a table does not
// know. It is less in the mean by the root of their number. The error is that of the mean, as tables differ,
// and what those of longer steps differ by from those of shorter ones.
Differences mean_of_tables(const std::function<VectorX(double)>& f, double step, int tables, bool jumps,
                           double noise);

// max |A - R| / max(|R|, 1e-3 max |R|, 1e-9)
double relative_error(const MatrixX& A, const MatrixX& R);

}  // namespace articula
