/* The one function of libarticula_peer_ode_dantzig.so. */
#ifndef ARTICULA_BENCH_PEERS_BOXED_LCP_H
#define ARTICULA_BENCH_PEERS_BOXED_LCP_H

#ifdef __cplusplus
extern "C" {
#endif

/* Finds x with w = A x + b, low <= x <= high, w >= 0 at the lower bound, w <= 0 at the upper one, w = 0 between.
 * Where normal[i] >= 0 the bounds are -high[i] x[normal[i]] and high[i] x[normal[i]]. A (n x n, row-major) is
 * symmetric and kept. Returns 1 if the solver says that it succeeded. */
typedef int (*BoxedLcp)(int n, const double* A, const double* b, const double* low, const double* high,
                        const int* normal, double* x);

__attribute__((visibility("default"))) int articula_boxed_lcp(int n, const double* A, const double* b,
                                                              const double* low, const double* high,
                                                              const int* normal, double* x);

#ifdef __cplusplus
}
#endif

#endif
