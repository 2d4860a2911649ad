/* One C interface of plain arrays to every rival engine (MuJoCo, Pinocchio, ...).
 *
 * A rival lives in its own shared library, libarticula_peer_NAME.so, which exports one function,
 * articula_peer_api, and hides everything else, so that its Eigen, its Boost and its compiler flags meet none
 * of ours. peer_load.hpp opens it.
 *
 * Everything that crosses this interface is in Articula's convention, which is MuJoCo's:
 * - free joint: q = (x y z, qw qx qy qz), v = (linear in the world frame, angular in the body frame);
 * - ball joint: q = (qw qx qy qz), v = angular velocity in the child frame;
 * - a derivative with respect to q is along the tangent: q moves with the velocity dq for a unit time.
 *
 * Matrices are row-major. A rival with another convention converts, outside its timed loops.
 *
 * The interface grows by new names (quantities, kernels, options, sizes), which an older rival answers with
 * "not available", and by new members at the end of PeerApi with a new interface version.
 */
#ifndef ARTICULA_BENCH_PEERS_PEER_H
#define ARTICULA_BENCH_PEERS_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_INTERFACE_VERSION 1

typedef enum PeerJointType {
  PEER_HINGE = 0,
  PEER_SLIDE = 1,
  PEER_BALL = 2,
  PEER_FREE = 3,
  PEER_FIXED = 4
} PeerJointType;

typedef enum PeerStatus {
  PEER_OK = 0,
  PEER_NOT_AVAILABLE = 1, /* this rival has no such quantity, kernel or option */
  PEER_BAD_ARGUMENT = 2,
  PEER_FAILED = 3 /* the rival itself gave up, e.g. a diverged simulation */
} PeerStatus;

/* A tree of joints, for engines that are built from arrays. A body with several joints is several entries,
 * the earlier ones without mass. Joints are listed depth first, which makes the order of q and v that of the
 * list.
 *
 * The moved frame of joint j is placement_j * motion_j(q): what is attached after the joint is given in that
 * frame. The zero of a hinge or slide is q = 0 (fold a reference angle into the placement). A free joint
 * hangs from the world with identity placement, because its q is the pose in the world. */
typedef struct PeerTree {
  int nj;
  const int* parent;         /* nj: index of the parent joint, -1 for the world */
  const int* type;           /* nj: PeerJointType */
  const double* rotation;    /* nj x 9: placement in the parent's moved frame */
  const double* translation; /* nj x 3 */
  const double* axis;        /* nj x 3: hinge and slide; ignored for the others */
  const double* armature;    /* nj: one value for all coordinates of the joint; 0 for a free joint */
  const double* damping;     /* nj */
  const double* mass;        /* nj */
  const double* com;         /* nj x 3 */
  const double* inertia;     /* nj x 9: about the centre of mass */
  double gravity[3];
} PeerTree;

/* `count` states, one after the other in each array. A null array stands for zeros. */
typedef struct PeerStates {
  int count;
  const double* q;    /* count x nq; never null */
  const double* v;    /* count x nv */
  const double* tau;  /* count x nv: generalised force, read by forward dynamics */
  const double* a;    /* count x nv: acceleration, read by inverse dynamics */
  const double* ctrl; /* count x nu */
  const double* act;  /* count x na */
} PeerStates;

typedef struct PeerModel PeerModel;

typedef struct PeerApi {
  int interface_version;
  const char* name;    /* "mujoco", "pinocchio" */
  const char* version; /* of the engine, and what it was compiled with where we compiled it */

  /* A constructor returns null and says why; one the rival does not have is itself null. */
  PeerModel* (*create_from_tree)(const PeerTree* tree, char* reason, int reason_size);
  PeerModel* (*create_from_mjcf_file)(const char* path, char* reason, int reason_size);
  PeerModel* (*create_from_mjcf_text)(const char* text, char* reason, int reason_size);
  void (*destroy)(PeerModel* model);

  /* "nq", "nv"; MuJoCo also "nu", "na", "nbody", "ngeom", "nsensordata". -1: the rival does not know it. */
  int (*size)(const PeerModel* model, const char* name);

  /* Numbers per state of a quantity, -1 where the rival does not have it. Passive forces are dampers and, in
   * MuJoCo, springs and all else it counts among them; actuators are MuJoCo's, at `ctrl`.
   *
   *   mass_matrix           M(q)                                            nv x nv
   *   bias                  c(q, v): Coriolis, centrifugal and gravity      nv
   *   inverse_dynamics      M a + c, no passive forces                      nv
   *   forward_dynamics      M^-1 (tau - c), no passive forces               nv
   *   smooth_acceleration   M^-1 (tau + passive + actuators - c)            nv
   *   inverse_dynamics_dq, inverse_dynamics_dv                              nv x nv   (Pinocchio)
   *   forward_dynamics_dq, forward_dynamics_dv, forward_dynamics_dtau       nv x nv   (Pinocchio)
   *   actuator_generalised_forces, passive_forces                           nv        (MuJoCo)
   *   actuator_forces                                                       one per force output (MuJoCo)
   *   sensors                                                               nsensordata (MuJoCo)
   *   body_masses, body_positions, body_rotations                           nbody x 1, 3, 9 (MuJoCo)
   *   contact_count                                                         1 (MuJoCo)
   */
  int (*quantity_size)(const PeerModel* model, const char* quantity);
  PeerStatus (*evaluate)(PeerModel* model, const char* quantity, const PeerStates* states, double* out);

  /* Nanoseconds per call of a kernel: minimum and median over `repeats` batches, each an average over many
   * calls that go round the states (batch_timing.hpp). The loop runs inside the rival. Every kernel starts
   * from (q, v, tau or a) alone, as ours do: nothing is kept from an earlier stage. Kernels, by their names
   * in the benchmark's rows: kinematics, rnea, crba_factor, aba, rnea_derivatives,
   * forward_dynamics_derivatives. MuJoCo, from poses that are ready: collision (the stage), narrowphase (the
   * function of the first two geoms alone); transition_fd (mjd_transitionFD, centred, eps 1e-6). */
  PeerStatus (*time_kernel)(PeerModel* model, const char* kernel, const PeerStates* states, int repeats,
                            double* min_ns, double* median_ns);

  /* Whole steps from the first of `start`. Row i of ctrl (steps x nu, or null) drives step i; the state after
   * step i is row i of q (steps x nq) and v (steps x nv), either of which may be null. */
  PeerStatus (*simulate)(PeerModel* model, const PeerStates* start, int steps, const double* ctrl, double* q,
                         double* v);

  /* MuJoCo: "timestep"; 0 or 1: "elliptic" (cone), "contact", "limit", "frictionloss", "constraint" (all of
   * them), "sensor"; "newton": that solver, at its default tolerance. */
  PeerStatus (*set_option)(PeerModel* model, const char* option, double value);
} PeerApi;

#define PEER_EXPORT __attribute__((visibility("default")))

PEER_EXPORT const PeerApi* articula_peer_api(void);

#ifdef __cplusplus
}
#endif

#endif
