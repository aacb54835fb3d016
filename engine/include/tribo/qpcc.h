// Tribo, public: inverse dynamics that choose their contacts, as plain matrices: a quadratic program with the contact
// law as its constraint (QPCC).
//
//     minimise    f = ½ ‖A λ_a + B λ_c + b‖²
//     subject to  λ_a ∈ [lower, upper],   σ = C λ_a + D λ_c + g,
//                 per contact:  K_μ ∋ λ ⊥ σ + Γ(σ) ∈ K_μ*,   Γ(σ) = (0, 0, μ ‖σ_T‖)
//
// λ_a are impulses of actuators [N·m·s, N·s], λ_c of contacts [N·s], σ their velocities [m/s]; tangents first, the
// normal last. Each contact breaks (λ = 0), sticks (σ = 0) or slides; which, is found with the impulses.
// After Ménager et al., "Frictional contact-implicit inverse dynamics".
//
// Ownership. A solver belongs to whoever created it, until tribo_qpcc_destroy (NULL is allowed). Problem and warm start
// stay the caller's and are only read during a call. The arrays of a solution are the solver's, until its next solve.
//
// Threads. A solver is used by one thread at a time, different solvers by different threads. The other functions keep
// nothing. A solve makes no heap call, and its answer has the same bits whatever was solved before.
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// All arrays belong to the caller. Matrices are column-major; nc = Σ dim are the rows of the contacts.
typedef struct TriboQpcc {
  int na, ncon, nres;           // actuators, contacts, residuals
  const double *A, *B, *b;      // (nres × na), (nres × nc), (nres)
  const double *C, *D, *g;      // (nc × na), (nc × nc) symmetric, positive semidefinite; (nc) [m/s]
  const double *lower, *upper;  // (na) bounds of λ_a; infinite: none
  const double* mu;             // (ncon) friction, ≥ 0
  const int* dim;               // (ncon) 1: without friction, 2: in the plane, 3: in space
  const unsigned char* held;    // (ncon) 1: bilateral, σ = 0 whatever λ is; NULL: none
  const int* group;  // (ncon) contacts of one pair of bodies share a number: modes are also changed for all of
                     // them together, as a block starts to slide on all its corners; NULL: none do
} TriboQpcc;

typedef enum TriboQpccMode {
  TRIBO_QPCC_STICK,  // σ = 0, λ ∈ K; without friction: closed
  TRIBO_QPCC_SLIDE,  // λ = n (−μ u, 1), σ = (s u, 0), n, s ≥ 0
  TRIBO_QPCC_BREAK,  // λ = 0, σ_N ≥ 0
  TRIBO_QPCC_HELD,   // σ = 0
} TriboQpccMode;

typedef enum TriboQpccOutcome {
  TRIBO_QPCC_SOLVED,      // the contact law holds, and no change of modes that was asked for lowers f
  TRIBO_QPCC_LOCAL,       // the contact law holds; other modes were not looked at, or not all
  TRIBO_QPCC_MAX_ITER,    // the iterations ended with more than `tol`
  TRIBO_QPCC_MAX_TIME,    // the time ended; the best point so far
  TRIBO_QPCC_INFEASIBLE,  // no point obeys the contact law within the bounds; the one that misses it least
} TriboQpccOutcome;
TRIBO_API const char* tribo_qpcc_mode_name(TriboQpccMode mode);
TRIBO_API const char* tribo_qpcc_outcome_name(TriboQpccOutcome outcome);

// How a solve goes about it. TRIBO_QPCC_START_… are the points from which modes are improved.
enum {
  TRIBO_QPCC_START_LAST = 1,   // modes of the warm start
  TRIBO_QPCC_START_ALM = 2,    // modes of the augmented Lagrangian (paper, algorithm 1)
  TRIBO_QPCC_START_STICK = 4,  // all stick, and those stick that the tasks would press
  TRIBO_QPCC_START_BREAK = 8,  // all break
};
typedef struct TriboQpccSettings {
  double tol;           // [m/s] natural-map residual of an answer
  int alm_iterations;   // of the augmented Lagrangian
  double xi, eta, rho;  // its penalties of λ_a, λ_c and σ at the start
  double grow;          // by which they grow
  int flips;            // 0 none; 1 to adjacent modes; 2 all single; 3 also pairs, up to 8 contacts; 4 until proved
  int starts;           // sum of TRIBO_QPCC_START_…; ALM alone with flips 0 is the paper's method
  int nodes;            // most quadratic programs of a proof or of a search for any feasible modes
  double margin;        // relative gain of f below which other modes are not better: against chatter
  double max_time;      // [s] 0: none
} TriboQpccSettings;
TRIBO_API TriboQpccSettings tribo_qpcc_settings_default(void);
TRIBO_API const TriboSetting* tribo_qpcc_settings(int* count);

// What is known before a solve, in this problem's order.
typedef struct TriboQpccWarm {
  const TriboQpccMode* mode;          // (ncon)
  const double* slip;                 // (2 ncon) slip direction u, or 0 0; NULL: not known
  const double *lambda_a, *lambda_c;  // (na), (nc), of the ALM's start; NULL: zero
} TriboQpccWarm;

typedef struct TriboQpccSolution {
  TriboQpccOutcome outcome;
  const double *lambda_a, *lambda_c;  // (na), (nc)
  const double* sigma;                // (nc) [m/s]
  const TriboQpccMode* mode;          // (ncon)
  const double* slip;                 // (2 ncon) unit slip direction u of sliding contacts, 0 of others
  const double* nu;                   // (nc) multipliers of σ, for tribo_qpcc_kkt
  double f, bound;                    // objective; and what no answer can be below, −∞ when that was not looked for
  double nat;                         // [m/s] natural-map residual, by the solver's own account
  int worst;                          // INFEASIBLE: the contact that stands most in the way, −1: a bound of λ_a
  int alm_iterations, factorisations;  // of the augmented Lagrangian
  int qps;                             // quadratic programs of fixed modes
  double time;                         // wall [s]
} TriboQpccSolution;

typedef struct TriboQpccSolver TriboQpccSolver;
// A solver for problems up to these sizes; all its memory. *out is NULL after a failure.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_qpcc_create(int max_na, int max_ncon, int max_nres, TriboQpccSolver** out);
TRIBO_API void tribo_qpcc_destroy(TriboQpccSolver* solver);
// Refuses what is not finite, lower > upper, μ < 0, and a D that is not symmetric or not positive semidefinite to 1e-8.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_qpcc_solve(TriboQpccSolver* solver, const TriboQpcc* problem,
                                                       const TriboQpccSettings* settings, const TriboQpccWarm* warm,
                                                       TriboQpccSolution* out);

// How good an answer is, from the raw problem, by code that shares nothing with the solver.
typedef struct TriboQpccResiduals {
  double f;  // objective
  double nat;  // [m/s] max dᵢ ‖λᵢ − P_K(λᵢ − (σᵢ + Γ)/dᵢ)‖∞, dᵢ the mean diagonal of block i of D
  double box;  // [N·m·s, N·s] by how much λ_a leaves its bounds
  int worst;   // the contact with the largest nat, −1 without contacts
} TriboQpccResiduals;
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_qpcc_residual(const TriboQpcc* problem, const double* lambda_a,
                                                          const double* lambda_c, TriboQpccResiduals* out);
// First-order optimality of the program of fixed modes, slip directions included, at an answer with its multipliers:
// the largest violation of stationarity, of a sign or of complementarity over the sum of the terms it is made of. [1]
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_qpcc_kkt(const TriboQpcc* problem, const TriboQpccSolution* answer,
                                                     double* out);

// The projection of the augmented Lagrangian, (22) of the paper: the point of the contact law nearest to (l, s) in
// ½ eta ‖λ − l‖² + ½ rho ‖σ − s‖², its mode, and what it costs. The slip direction is the root of a quartic.
// last: the mode that wins a tie.
TRIBO_API double tribo_qpcc_project(int dim, double mu, double eta, double rho, const double* l, const double* s,
                                    TriboQpccMode last, double* lambda, double* sigma, TriboQpccMode* mode);

#ifdef __cplusplus
}
#endif
