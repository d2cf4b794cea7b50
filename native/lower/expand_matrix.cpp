// Expansions of matrix algebra into columns and lanes. Products sum from column 0 up, as Dot does.
#include <array>

#include "lower/expand.h"

namespace lcpy {
namespace {

struct Grid {
  uint32_t n = 0;
  std::array<std::array<ValueId, 4>, 4> at;  // [row][column]
};

Grid elements(Expander& e, ValueId m) {
  Grid g;
  g.n = e.type(m).lanes();
  for (uint32_t c = 0; c < g.n; c++) {
    const ValueId column = e.part(m, c);
    for (uint32_t r = 0; r < g.n; r++) g.at[r][c] = e.lane(column, r);
  }
  return g;
}

ValueId assemble(Expander& e, Type type, const Grid& g) {
  std::array<ValueId, 4> columns, lanes;
  for (uint32_t c = 0; c < g.n; c++) {
    for (uint32_t r = 0; r < g.n; r++) lanes[r] = g.at[r][c];
    columns[c] = e.gather(type.component(c), {lanes.data(), g.n});
  }
  return e.gather(type, {columns.data(), g.n});
}

// a*b - c*d
ValueId minor2(Expander& e, ValueId a, ValueId b, ValueId c, ValueId d) {
  return e.sub(e.mul(a, b), e.mul(c, d));
}

ValueId column_sum(Expander& e, ValueId m, ValueId v) {
  ValueId sum;
  for (uint32_t c = 0; c < e.type(m).lanes(); c++) {
    const ValueId term = e.mul(e.part(m, c), e.lane(v, c));
    sum = sum ? e.add(sum, term) : term;
  }
  return sum;
}

// The six minors of the upper two rows of a 4×4 matrix, and of the lower two, by column pairs
// 01 02 03 12 13 23.
struct Minors {
  std::array<ValueId, 6> upper, lower;
};
Minors minors4(Expander& e, const Grid& g) {
  constexpr uint32_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  Minors m;
  for (uint32_t i = 0; i < 6; i++) {
    const uint32_t p = pairs[i][0], q = pairs[i][1];
    m.upper[i] = minor2(e, g.at[0][p], g.at[1][q], g.at[0][q], g.at[1][p]);
    m.lower[i] = minor2(e, g.at[2][p], g.at[3][q], g.at[2][q], g.at[3][p]);
  }
  return m;
}
// Laplace's expansion: pair i of the upper rows meets the complementary pair of the lower ones.
ValueId determinant4(Expander& e, const Minors& m) {
  ValueId sum = e.mul(m.upper[0], m.lower[5]);
  sum = e.sub(sum, e.mul(m.upper[1], m.lower[4]));
  sum = e.add(sum, e.mul(m.upper[2], m.lower[3]));
  sum = e.add(sum, e.mul(m.upper[3], m.lower[2]));
  sum = e.sub(sum, e.mul(m.upper[4], m.lower[1]));
  return e.add(sum, e.mul(m.upper[5], m.lower[0]));
}

// Cofactor of element (r, c) of a 3×3 matrix; the cyclic rows and columns carry the sign.
ValueId cofactor3(Expander& e, const Grid& g, uint32_t r, uint32_t c) {
  const uint32_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
  return minor2(e, g.at[r1][c1], g.at[r2][c2], g.at[r1][c2], g.at[r2][c1]);
}
ValueId determinant3(Expander& e, const Grid& g, const std::array<ValueId, 3>& cofactors) {
  ValueId sum = e.mul(g.at[0][0], cofactors[0]);
  for (uint32_t c = 1; c < 3; c++) sum = e.add(sum, e.mul(g.at[0][c], cofactors[c]));
  return sum;
}

// ±(a*m0 - b*m1 + c*m2)
ValueId cofactor4(Expander& e, bool negative, ValueId a, ValueId m0, ValueId b, ValueId m1,
                  ValueId c, ValueId m2) {
  const ValueId value = e.add(minor2(e, a, m0, b, m1), e.mul(c, m2));
  return negative ? e.unary(Op::Neg, value) : value;
}

Grid adjugate4(Expander& e, const Grid& g, const Minors& m) {
  // Row i of the adjugate leaves out column i of the matrix: the other three columns, and their
  // pairs among the six.
  constexpr uint32_t columns[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
  constexpr uint32_t pair[4][3] = {{5, 4, 3}, {5, 2, 1}, {4, 2, 0}, {3, 1, 0}};
  // Column j leaves out row j: it expands along the row that shares a pair with it.
  constexpr uint32_t partner[4] = {1, 0, 3, 2};
  Grid out;
  out.n = 4;
  for (uint32_t i = 0; i < 4; i++)
    for (uint32_t j = 0; j < 4; j++) {
      const auto& row = g.at[partner[j]];
      const auto& minors = j < 2 ? m.lower : m.upper;
      out.at[i][j] =
          cofactor4(e, ((i + j) & 1) != 0, row[columns[i][0]], minors[pair[i][0]],
                    row[columns[i][1]], minors[pair[i][1]], row[columns[i][2]], minors[pair[i][2]]);
    }
  return out;
}

}  // namespace

ValueId expand_mat_mul(Expander& e, const ExpandCall& call) {
  const ValueId a = call.args[0], b = call.args[1];
  const bool left = e.type(a).is_matrix(), right = e.type(b).is_matrix();
  if (!left && !right) return e.emit(Op::Dot, call.type, {a, b});
  if (!right) return column_sum(e, a, b);
  std::array<ValueId, 4> parts;
  const uint32_t n = e.type(b).lanes();
  for (uint32_t c = 0; c < n; c++) {
    const ValueId column = e.part(b, c);
    parts[c] = left ? column_sum(e, a, column)
                    : e.emit(Op::Dot, Type::of(call.type.scalar()), {a, column});
  }
  return e.gather(call.type, {parts.data(), n});
}

ValueId expand_outer_product(Expander& e, const ExpandCall& call) {
  std::array<ValueId, 4> columns;
  const uint32_t n = call.type.lanes();
  for (uint32_t c = 0; c < n; c++) columns[c] = e.mul(call.args[0], e.lane(call.args[1], c));
  return e.gather(call.type, {columns.data(), n});
}

ValueId expand_transpose(Expander& e, const ExpandCall& call) {
  const Grid g = elements(e, call.args[0]);
  Grid out;
  out.n = g.n;
  for (uint32_t r = 0; r < g.n; r++)
    for (uint32_t c = 0; c < g.n; c++) out.at[r][c] = g.at[c][r];
  return assemble(e, call.type, out);
}

ValueId expand_determinant(Expander& e, const ExpandCall& call) {
  const Grid g = elements(e, call.args[0]);
  if (g.n == 2) return minor2(e, g.at[0][0], g.at[1][1], g.at[0][1], g.at[1][0]);
  if (g.n == 4) return determinant4(e, minors4(e, g));
  return determinant3(e, g, {cofactor3(e, g, 0, 0), cofactor3(e, g, 0, 1), cofactor3(e, g, 0, 2)});
}

ValueId expand_inverse(Expander& e, const ExpandCall& call) {
  const Grid g = elements(e, call.args[0]);
  Grid adjugate;
  adjugate.n = g.n;
  ValueId determinant;
  if (g.n == 2) {
    determinant = minor2(e, g.at[0][0], g.at[1][1], g.at[0][1], g.at[1][0]);
    adjugate.at[0] = {g.at[1][1], e.unary(Op::Neg, g.at[0][1])};
    adjugate.at[1] = {e.unary(Op::Neg, g.at[1][0]), g.at[0][0]};
  } else if (g.n == 3) {
    for (uint32_t r = 0; r < 3; r++)
      for (uint32_t c = 0; c < 3; c++) adjugate.at[c][r] = cofactor3(e, g, r, c);
    determinant = determinant3(e, g, {adjugate.at[0][0], adjugate.at[1][0], adjugate.at[2][0]});
  } else {
    const Minors m = minors4(e, g);
    determinant = determinant4(e, m);
    adjugate = adjugate4(e, g, m);
  }
  for (uint32_t r = 0; r < g.n; r++)
    for (uint32_t c = 0; c < g.n; c++) adjugate.at[r][c] = e.div(adjugate.at[r][c], determinant);
  return assemble(e, call.type, adjugate);
}

}  // namespace lcpy
