#pragma once
// Times of gradients that papers print, and ours of the same robots.

#include "cli/rows.hpp"

namespace articula::cli {

void nimble_jacobians(Report& report, bool full);  // Nimble, tables II and III
void simple_timings(Report& report, bool full);    // Simple, table 3

}  // namespace articula::cli
