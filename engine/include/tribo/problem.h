// Tribo, public: the contact problem of one step, and how good an answer to it is. <tribo/solver.h> has the solvers.
//
//     find λ ∈ K:   K ∋ λ ⊥ σ + Γ(σ) ∈ K*,    σ = (G + R) λ + g,    G = J M⁻¹ Jᵀ
//
// K is a product of cones, one per constraint. λ are impulses [N·s, N·m·s], σ constraint velocities [m/s, rad/s], each
// in the frame of its constraint.
//
// Ownership. A problem is a plain struct; what it points to belongs to the caller and is only read during a call.
//
// Threads. The functions below keep nothing: any number of threads may call them, also on the same problem.
#pragma once

#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TriboConeKind {
  TRIBO_CONE_FREE,      // λ ∈ ℝᵈ, d = 1…6: bilateral rows
  TRIBO_CONE_NONNEG,    // λ ≥ 0, d = 1: frictionless contact, joint limit
  TRIBO_CONE_BOX,       // lo ≤ λ ≤ hi, d = 1: dry friction, bounded motor; an infinite bound is no bound
  TRIBO_CONE_FRICTION,  // ‖D⁻¹ λ_f‖ ≤ λ_N, D = diag(mu), d = 3…6: friction rows first, normal row last;
                        // Γ(σ) = ‖D σ_f‖ on the normal row. mu[0] = mu[1] = μ, d = 3 is Coulomb's cone
} TriboConeKind;

typedef struct TriboCone {
  TriboConeKind kind;
  int row;        // first row
  int dim;        // rows
  double mu[5];   // FRICTION: sliding 1, sliding 2, torsion [m], rolling 1, rolling 2 [m]
  double lo, hi;  // BOX [N·s, N·m·s]
} TriboCone;

// The problem. All arrays belong to the caller and are only read.
// The Delassus matrix is given in one of two ways: by the motion (nblock > 0: mass blocks and Jacobian terms),
// or explicitly (G_col != NULL: compressed columns, both triangles stored, rows increasing).
typedef struct TriboProblem {
  int nrow, ncone;
  const TriboCone* cones;  // (ncone) in row order, without holes
  const double* g;         // (nrow) free constraint velocity plus bias [m/s, rad/s]
  const double* R;         // (nrow) compliance, ≥ 0 [1/kg, 1/(kg·m²)], or NULL for rigid

  int nblock;                    // motion blocks: free bodies and trees
  const int* block_dim;          // (nblock) degrees of freedom of a block
  const size_t* block_at;        // (nblock) where the block starts in mass and minv, in doubles
  const double* mass;            // dense symmetric row-major dim × dim matrices, one per block [kg, kg·m, kg·m²]
  const double* minv;            // their inverses, same layout
  const int* const* dof_parent;  // (nblock) of a tree: (block_dim) its next degree of freedom on the way to the root,
                                 // −1 at the root; NULL for other blocks, and NULL for all of them when not known
  const int* term_first;         // (ncone + 1) terms of cone c: term_first[c] … term_first[c+1]−1
  const int* term_block;         // (nterm) block a term acts on; increasing within a cone
  const size_t* term_at;         // (nterm) where the term starts in jac, in doubles
  const double* jac;             // dense row-major cone.dim × block_dim matrices, one per term

  const int* G_col;     // (nrow + 1) where columns start
  const int* G_row;     // (nnz) rows of the entries
  const double* G_val;  // (nnz) entries of G [1/kg, 1/(kg·m²)]
} TriboProblem;

// Checks sizes, order, finiteness, bounds and signs.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_problem_validate(const TriboProblem* problem);

// How good an answer is, recomputed from the raw problem by code that shares nothing with any solver.
typedef struct TriboResiduals {
  double prim;  // ‖λ − P_K(λ)‖∞ [N·s]
  double dual;  // ‖σ̂ − P_K*(σ̂)‖∞, σ̂ = σ + Γ(σ) [m/s]
  double comp;  // max |λᵢᵀ σ̂ᵢ| [J]
  double nat;  // max dᵢ ‖λᵢ − P_K(λᵢ − σ̂ᵢ/dᵢ)‖∞, dᵢ the mean diagonal of block i of G + R [m/s]
  double natmap_unit;  // ‖dλ − P_K(dλ − σ̂)‖ / max(‖g‖, ‖dλ‖, ‖σ‖), d the mean diagonal of G + R
  double floor;        // what rounding allows for nat: 50 ε max dᵢ‖λᵢ‖, at most 1e-8 [m/s]
  int worst;           // cone with the largest nat, −1 without cones
} TriboResiduals;

// sigma (nrow) receives σ and may be NULL only if nrow is 0.
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_problem_residuals(const TriboProblem* problem, const double* lambda,
                                                              double* sigma, TriboResiduals* out);
// The same without a heap call: workspace holds tribo_problem_workspace(problem) doubles.
TRIBO_API size_t tribo_problem_workspace(const TriboProblem* problem);
TRIBO_API TRIBO_NODISCARD TriboStatus tribo_problem_residuals_in(const TriboProblem* problem, const double* lambda,
                                                                 double* sigma, double* workspace, TriboResiduals* out);

#ifdef __cplusplus
}
#endif
