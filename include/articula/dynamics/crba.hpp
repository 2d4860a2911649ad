#pragma once
// The mass matrix by the composite-rigid-body algorithm, and its factor that follows the tree.
//
// M_de is not zero only if one of d, e is an ancestor of the other. Row d of a tree-sparse matrix
// holds the entries for d's ancestors, root first, then d itself (Structure::path). In
//     M = L^T D L          (L unit lower triangular)
// L has the same pattern: elimination from the leaves makes no fill.

#include "articula/kinematics/forward.hpp"

namespace articula {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowMatrixRef = Eigen::Ref<RowMatrix>;

// Fills data.mass; armature included.
void crba(const Model& model, Data& data, const ConstVectorRef& q);
// The same after forward_kinematics and rotate_inertias.
void composite_mass_matrix(const Model& model, Data& data);

// Factors M + diag(extra) (extra may be null) into data.factor and data.inverse_diagonal.
// False if a pivot is not positive: the matrix is singular to rounding.
[[nodiscard]] bool factor_mass_matrix(const Model& model, Data& data, const double* extra = nullptr);

// x <- (factored matrix)^-1 x; one column, or all columns of a row-major matrix.
void solve_mass_matrix(const Model& model, const Data& data, VectorRef x);
void solve_mass_matrix_columns(const Model& model, const Data& data, RowMatrixRef x);
// The same in two halves, with root_inverse = D^-1/2:  x <- D^-1/2 L^-T x,  then x <- L^-1 D^-1/2 x.
void project_vector(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                    VectorX& x);
void recover_vector(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                    VectorX& x);
void project_columns(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                     RowMatrixRef x);
void recover_columns(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                     RowMatrixRef x);

// The inverse of the factored matrix, dense and exactly symmetric.
void inverse_mass_matrix(const Model& model, const Data& data, RowMatrixRef inverse);

// y = M x from data.mass, and the dense symmetric M.
void multiply_mass_matrix(const Model& model, const Data& data, const ConstVectorRef& x, VectorRef y);
void dense_mass_matrix(const Model& model, const Data& data, MatrixRef M);

}  // namespace articula
