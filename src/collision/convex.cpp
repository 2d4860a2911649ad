// Signed distance of convex cores: GJK while they are apart, an expanding polytope where they overlap. On
// curved shapes both are stopped early and finished by Newton's method on the features they found
// (polish.cpp); a solution counts only if it is proven: its two points lie on the shapes, and no part of the
// shapes reaches farther along its normal.

#include "convex.hpp"

#include <algorithm>

#include "articula/collision/narrowphase.hpp"
#include "beside.hpp"
#include "bulge.hpp"
#include "candidates.hpp"
#include "epa.hpp"
#include "inner_ball.hpp"
#include "polish.hpp"
#include "starts.hpp"
#include "walk.hpp"

namespace articula::collision {
namespace {

// Proof of a polished solution, relative to the size of the shapes; and what is enough where features are so
// nearly parallel or round that none has a solution of its own: half of the accuracy that is promised.
constexpr double proof = 2e-12;
constexpr double promised_curved = 5e-9, promised_flat = 5e-11;

bool has_curved(const ConvexPair& pair) { return is_curved(*pair.a) || is_curved(*pair.b); }
bool is_polyhedral(const Shape& s) { return s.type == ShapeType::box || s.type == ShapeType::mesh; }
double promised(const ConvexPair& pair) {
  return (is_polyhedral(*pair.a) && is_polyhedral(*pair.b) ? promised_flat : promised_curved) * pair.size;
}

Placement at_origin() { return {}; }

Patch core_patch(const Shape& shape, const Placement& at, Feature feature) {
  Patch patch = make_patch(shape, at, feature);
  if (core_radius(shape) > 0) patch.radius = 0;
  return patch;
}

// Where an iteration stands: nearest points of the cores, direction from A to B, and simplex.
struct Estimate {
  Vec3 a, b, n;
  const DifferencePoint* points[4];
  double weight[4];
  int count = 0;
};

Ending ending(const Estimate& e, const ConvexPair& pair, bool second) {
  Ending end;
  end.x = second ? transpose_times(pair.b_in_a.R, e.b - pair.b_in_a.p) : e.a;
  end.n = second ? transpose_times(pair.b_in_a.R, -e.n) : e.n;
  int order[4] = {0, 1, 2, 3};
  for (int i = 1; i < e.count; ++i)  // heaviest first
    for (int j = i; j > 0 && e.weight[order[j]] > e.weight[order[j - 1]]; --j)
      std::swap(order[j], order[j - 1]);
  for (int i = 0; i < e.count; ++i) {
    const int vertex = second ? e.points[order[i]]->vertex_b : e.points[order[i]]->vertex_a;
    bool seen = false;
    for (int j = 0; j < end.count; ++j) seen |= end.vertices[j] == vertex;
    if (!seen) end.vertices[end.count++] = vertex;
  }
  return end;
}

// A solution of two features as the result, if it is proven: its points lie on the features, and no part of
// the shapes reaches farther along its normal.
bool accept(const ConvexPair& pair, Feature fa, Feature fb, const Match& m, Vec3 b_local,
            ConvexDistance& result) {
  if (!(std::abs(difference_extent(pair, m.n) + m.distance) <= proof * pair.size)) return false;
  const double beyond = 0.2 * promised(pair);
  if (!lies_on(*pair.a, fa, m.a, beyond) || !lies_on(*pair.b, fb, b_local, beyond)) return false;
  result.distance = m.distance;
  result.normal = m.n;
  result.a = m.a;
  result.b = m.b;
  result.feature_a = fa;
  result.feature_b = fb;
  return true;
}

// A face that bulges against another feature: on one of its triangles or creases.
bool solve_bulge(const ConvexPair& pair, Feature fa, Feature fb, const Estimate& e, double ceiling,
                 ConvexDistance& result) {
  const bool of_a = fa.kind == FeatureKind::face;
  const BulgeParts bulge =
      of_a ? bulge_parts(*pair.a, at_origin(), fa.index) : bulge_parts(*pair.b, pair.b_in_a, fb.index);
  const Patch other = of_a ? core_patch(*pair.b, pair.b_in_a, fb) : core_patch(*pair.a, at_origin(), fa);
  for (int i = 0; i < bulge.count; ++i) {
    const BulgePart& part = bulge.list[i];
    const Match m = polish(of_a ? part.patch : other, of_a ? other : part.patch, e.a, e.b, e.n, pair.size);
    if (!m.converged || -m.distance > ceiling) continue;
    const Vec3 b_local = transpose_times(pair.b_in_a.R, m.b - pair.b_in_a.p);
    if (part.holds(of_a ? m.a : b_local, 1e-12 * pair.size) && accept(pair, fa, fb, m, b_local, result))
      return true;
  }
  return false;
}

// Solves a pair of features; where the solution does not belong to them, goes on to the neighbours it points
// to, at most `steps` times. `ceiling` is the depth (minus distance) above which a solution is of no
// interest.
bool walk_to_solution(const ConvexPair& pair, Feature fa, Feature fb, const Estimate& e, double ceiling,
                      int steps, ConvexDistance& result) {
  Vec3 a = e.a, b = e.b, n = e.n;
  for (;;) {
    if (fa.kind == FeatureKind::face && fb.kind == FeatureKind::face) return false;
    if (!is_flat(*pair.a, fa, pair.size) || !is_flat(*pair.b, fb, pair.size))
      return solve_bulge(pair, fa, fb, e, ceiling, result);
    const Match m = polish(core_patch(*pair.a, at_origin(), fa), core_patch(*pair.b, pair.b_in_a, fb), a, b,
                           n, pair.size);
    if (!m.converged) return false;
    const Vec3 b_local = transpose_times(pair.b_in_a.R, m.b - pair.b_in_a.p);
    const Feature next_a = walk(*pair.a, fa, m.a, m.n, pair.size);
    const Feature next_b =
        next_a == fa ? walk(*pair.b, fb, b_local, -transpose_times(pair.b_in_a.R, m.n), pair.size) : fb;
    if (next_a == fa && next_b == fb)
      return !(-m.distance > ceiling) && accept(pair, fa, fb, m, b_local, result);
    if (steps-- == 0) return false;
    fa = next_a, fb = next_b, a = m.a, b = m.b, n = m.n;
  }
}

enum class Effort { quick, thorough };

// From the likeliest pair of features; thoroughly: from all pairs the estimate may mean.
bool polish_estimate(const ConvexPair& pair, const Estimate& e, double ceiling, Effort effort,
                     ConvexDistance& result) {
  const Ending end_a = ending(e, pair, false), end_b = ending(e, pair, true);
  // A rough estimate that leads far off is better refined.
  const int steps = effort == Effort::quick ? 3 : 8;
  if (walk_to_solution(pair, likeliest(*pair.a, end_a), likeliest(*pair.b, end_b), e, ceiling, steps, result))
    return true;
  if (effort == Effort::quick) return false;
  const Candidates ca = candidates(*pair.a, end_a), cb = candidates(*pair.b, end_b);
  for (int total = 1; total < ca.count + cb.count - 1; ++total)
    for (int i = std::max(0, total - cb.count + 1); i <= std::min(total, ca.count - 1); ++i)
      if (walk_to_solution(pair, ca.list[i], cb.list[total - i], e, ceiling, 0, result)) return true;
  return false;
}

// All pairs of features that lie flat against the estimate.
bool polish_flat(const ConvexPair& pair, const Estimate& e, double ceiling, ConvexDistance& result) {
  const FlatFeatures a = flat_features(*pair.a, e.n);
  const FlatFeatures b = flat_features(*pair.b, -transpose_times(pair.b_in_a.R, e.n));
  const auto any = [&](const Feature* of_a, int count_a, const Feature* of_b, int count_b) {
    for (int i = 0; i < count_a; ++i)
      for (int j = 0; j < count_b; ++j)
        if (walk_to_solution(pair, of_a[i], of_b[j], e, ceiling, 0, result)) return true;
    return false;
  };
  return any(a.face, a.faces, b.point, b.points) || any(a.point, a.points, b.face, b.faces) ||
         any(a.line, a.lines, b.line, b.lines) || any(a.line, a.lines, b.point, b.points) ||
         any(a.point, a.points, b.line, b.lines) || any(a.point, a.points, b.point, b.points);
}

// Features of polyhedral cores (of curved ones: the likeliest) where nothing is left to polish.
void name_features(const ConvexPair& pair, const Estimate& e, ConvexDistance& result) {
  result.feature_a = likeliest(*pair.a, ending(e, pair, false));
  result.feature_b = likeliest(*pair.b, ending(e, pair, true));
}

// The result along e.n, about the middle of the estimate's points.
void place_halfway(const ConvexPair& pair, const Estimate& e, double extent, ConvexDistance& result) {
  const Vec3 middle = (e.a + e.b) * 0.5;
  result.distance = -extent;
  result.normal = e.n;
  result.a = middle + e.n * (0.5 * extent);
  result.b = middle - e.n * (0.5 * extent);
  name_features(pair, e, result);
}

// The nearest point of a simplex, without a direction.
Estimate mixed(const GjkResult& g) {
  Estimate e;
  e.count = g.count;
  for (int i = 0; i < g.count; ++i) {
    e.points[i] = &g.simplex[i];
    e.weight[i] = g.weight[i];
    e.a += g.simplex[i].a * g.weight[i];
    e.b += g.simplex[i].b * g.weight[i];
  }
  return e;
}

// -------------------------------------------------------------------- apart

bool separated(const ConvexPair& pair, double margin, GjkResult& g, ConvexDistance& result) {
  const bool curved = has_curved(pair);
  const double finest = 1e-13 * pair.size;
  for (double tolerance = curved ? 3e-2 * pair.size : finest;; tolerance *= 0.03) {
    gjk(pair, margin, std::max(tolerance, finest), g);
    if (g.status == GjkStatus::touching) return false;
    if (g.status == GjkStatus::beyond) {
      result.beyond = true;
      result.distance = g.lower;
      return true;
    }
    Estimate e = mixed(g);
    e.n = g.v * (-1.0 / g.distance);
    const bool last = tolerance <= finest, sure = g.lower > 0;
    const double ceiling = sure ? 1e-10 * pair.size - 0.1 * g.lower : promised(pair);
    const bool proven = !curved && g.gap <= proof * pair.size;
    if (!proven && (curved || last) &&
        polish_estimate(pair, e, ceiling, last ? Effort::thorough : Effort::quick, result))
      return true;
    if (!last) continue;
    if (!proven && polish_flat(pair, e, ceiling, result)) return true;
    const Reach reach = proven ? Reach{e.n, -g.distance} : least_beside(pair, e.n);
    result.exact = g.distance + reach.extent <= promised(pair);
    if (!sure && !result.exact) return false;  // nothing says that they are apart
    e.n = reach.n;
    place_halfway(pair, e, reach.extent, result);
    return true;
  }
}

// -------------------------------------------------------------------- overlapping

// Nearest point of a face's plane to the origin, as a mix of the face's corners; false if it is outside.
bool face_estimate(Polytope& P, int f, Estimate& e) {
  const Polytope::Face& face = P.face(f);
  e = {};
  e.n = face.n;
  e.count = 3;
  for (int i = 0; i < 3; ++i) e.points[i] = &P.point(face.point[i]);
  const Vec3 v = face.n * face.offset;
  double total = 0;
  bool inside = true;
  for (int i = 0; i < 3; ++i) {
    const Vec3 p = e.points[(i + 1) % 3]->w - v, q = e.points[(i + 2) % 3]->w - v;
    e.weight[i] = dot(face.n, cross(p, q));
    const double scale = norm(p) * norm(q);
    inside &= e.weight[i] >= -1e-12 * scale;
    e.weight[i] = std::max(e.weight[i], 0.0);
    total += e.weight[i];
  }
  for (int i = 0; i < 3; ++i) {
    e.weight[i] = total > 0 ? e.weight[i] / total : 1.0 / 3;
    e.a += e.points[i]->a * e.weight[i];
    e.b += e.points[i]->b * e.weight[i];
  }
  return inside;
}

// A face with the nearest point on it, among those with offsets from `low` to `limit` along which A - B
// reaches no farther than `limit`.
bool holding_face(const ConvexPair& pair, Polytope& P, double low, double limit, Estimate& e) {
  for (int f = 0; f < P.face_count; ++f) {
    Estimate other;
    if (!P.face(f).alive || !(P.face(f).offset <= limit) || P.face(f).offset < low) continue;
    if (P.key[f] < INFINITY && difference_extent(pair, P.face(f).n) <= limit && face_estimate(P, f, other)) {
      e = other;
      return true;
    }
  }
  return false;
}

// The first face that holds the nearest point to the origin on its plane, no farther than `limit`, and lies
// below the surface is replaced by those above it.
bool grow_holding_face(const ConvexPair& pair, Polytope& P, double low, double limit) {
  for (int f = 0; f < P.face_count; ++f) {
    Estimate e;
    if (!P.face(f).alive || !(P.face(f).offset <= limit) || P.face(f).offset < low) continue;
    if (face_estimate(P, f, e)) return expand(P, f, difference_support(pair, P.face(f).n));
  }
  return false;
}

// Faces of one facet of A - B tie: the one that holds the nearest point gives the features. Where the origin
// is on an edge or a corner of A - B, faces pass through it that are no part of its surface. The face whose
// normal reached least may have been one that lay far below the surface, and is gone: then the one above it,
// which reaches as far to what is promised. The nearest point may also be on a facet that is nearly parallel
// (a tilt of 1e-9), and not yet found.
void finish_on_face(const ConvexPair& pair, Polytope& P, int lowest, ConvexDistance& result) {
  Estimate e;
  const double least = difference_extent(pair, P.face(lowest).n), promise = promised(pair);
  const bool below = least - P.face(lowest).offset > promise;
  const double limit = below ? least + promise : P.face(lowest).offset + 1e-11 * pair.size;
  const double low = below ? least - promise : -INFINITY;
  if (!face_estimate(P, lowest, e) || below) {
    constexpr int facets = 16;
    for (int i = 0; i < facets && !holding_face(pair, P, low, limit, e); ++i)
      if (!grow_holding_face(pair, P, low, limit)) break;
  }
  const Reach reach = P.thin ? least_beside(pair, e.n) : Reach{e.n, difference_extent(pair, e.n)};
  const double depth = reach.extent;
  e.n = reach.n;
  if (P.thin && polish_flat(pair, e, depth + 1e-12 * pair.size, result)) return;
  place_halfway(pair, e, depth, result);
}

// Out of storage, on nearly round differences that reach almost equally far in all directions: descend from
// the direction that reached least so far, from every face that may still hide the deepest point, and from
// the directions in which the shapes reach least.
bool polish_all(const ConvexPair& pair, Polytope& P, int best_face, double tolerance, double& best,
                ConvexDistance& result) {
  bool found = false;
  const auto keep = [&](const ConvexDistance& solution) {
    if (found && !(-solution.distance < best)) return;
    best = -solution.distance;
    result = solution;
    found = true;
  };
  const auto descend = [&](const Estimate& e) {
    ConvexDistance solution;
    if (polish_estimate(pair, e, best + (found ? 0.0 : tolerance), Effort::thorough, solution))
      keep(solution);
  };
  const auto farthest = [](const DifferencePoint& p, Vec3 n) {
    Estimate e;
    e.a = p.a, e.b = p.b, e.n = n;
    e.count = 1, e.points[0] = &p, e.weight[0] = 1;
    return e;
  };
  if (best_face >= 0) {
    const DifferencePoint p = difference_support(pair, P.face(best_face).n);
    descend(farthest(p, P.face(best_face).n));
  }
  for (int f = 0; f < P.face_count; ++f) {
    if (!P.face(f).alive || !(P.key[f] < best)) continue;
    Estimate e;
    face_estimate(P, f, e);
    descend(e);
  }
  const Starts starts = starts_of(pair, P);
  for (int i = 0; i < starts.count; ++i) {
    const Start& start = starts.list[i];
    const DifferencePoint p = difference_support(pair, start.n);
    const Estimate e = farthest(p, start.n);
    descend(e);
    // Along the edges at the farthest corners: a corner by itself leads far off where the other shape is
    // round about it.
    const auto along_edges = [&](const Shape& shape, int vertex, bool second) {
      if (!is_polyhedral(shape)) return;
      const EdgesAt edges(shape, vertex);
      const Candidates others = candidates(second ? *pair.a : *pair.b, ending(e, pair, !second));
      for (int k = 0; k < edges.count * others.count; ++k) {
        const Feature edge{FeatureKind::line, edges.list[k % edges.count]};
        const Feature other = others.list[k / edges.count];
        ConvexDistance solution;
        if (walk_to_solution(pair, second ? other : edge, second ? edge : other, e, best, 8, solution))
          keep(solution);
      }
    };
    along_edges(*pair.a, p.vertex_a, false);
    along_edges(*pair.b, p.vertex_b, true);
    if (start.face_a < 0 && start.face_b < 0) continue;
    // A face by its name: its corners would have to be found one by one.
    const Feature a = start.face_a >= 0 ? Feature{FeatureKind::face, start.face_a}
                                        : likeliest(*pair.a, ending(e, pair, false));
    const Feature b = start.face_b >= 0 ? Feature{FeatureKind::face, start.face_b}
                                        : likeliest(*pair.b, ending(e, pair, true));
    ConvexDistance solution;
    if (walk_to_solution(pair, a, b, e, best, 8, solution)) keep(solution);
  }
  return found;
}

// Where GJK last saw the shapes apart, or, if it never did, where it found that they touch.
Estimate last_estimate(const GjkResult& g) {
  if (g.count < 4) return mixed(g);
  Estimate e;
  e.a = g.last_a;
  e.b = g.last_b;
  e.count = 3;  // the fourth point closed the simplex
  for (int i = 0; i < 3; ++i) {
    e.points[i] = &g.simplex[i];
    e.weight[i] = g.weight[i];
  }
  return e;
}

// A shallow overlap has its deepest points near where GJK last saw the shapes apart.
bool polish_shallow(const ConvexPair& pair, const GjkResult& g, ConvexDistance& result) {
  const double length = norm(g.last_v);
  if (!(length > 0)) return false;
  Estimate e = last_estimate(g);
  e.n = g.last_v * (-1.0 / length);
  return polish_estimate(pair, e, 0.1 * pair.size, Effort::quick, result);
}

// A - B is hardly more than a line or a piece of a plane, beyond the sizes that are promised: out of it by
// the shorter of the ways across.
void out_of_thin(const ConvexPair& pair, const GjkResult& g, Polytope& P, ConvexDistance& result) {
  const Vec3 along = P.point_count > 1 ? P.point(1).w - P.point(0).w : Vec3(1, 0, 0);
  const Vec3 first = unit(P.point_count > 2 ? cross(along, P.point(2).w - P.point(0).w) : any_across(along));
  Estimate e = last_estimate(g);
  double extent = INFINITY;
  for (const Vec3 n : {first, -first, unit(cross(along, first)), -unit(cross(along, first))}) {
    if (!(difference_extent(pair, n) < extent)) continue;
    extent = difference_extent(pair, n);
    e.n = n;
  }
  result.exact = extent <= promised(pair);
  if (!polish_estimate(pair, e, extent, Effort::thorough, result)) place_halfway(pair, e, extent, result);
}

// A proven solution as a corner of the polytope: the faces around it then lie hardly below it, and need no
// more search. False if the polytope could not take it.
bool insert_solution(const ConvexPair& pair, const ConvexDistance& solution, Polytope& P) {
  DifferencePoint p = difference_support(pair, solution.normal);  // for its vertices
  p.a = solution.a;
  p.b = solution.b;
  p.w = p.a - p.b;
  int seen = -1;
  double height = P.visible;
  for (int f = 0; f < P.face_count; ++f) {
    const double above = dot(P.face(f).n, p.w) - P.face(f).offset;
    if (P.face(f).alive && above > height) {
      height = above;
      seen = f;
    }
  }
  return seen < 0 || expand(P, seen, p);
}

// Proven to be. A ball that is no larger than the depth leaves room for a tie.
bool is_shallowest(const ConvexPair& pair, ConvexDistance& solution) {
  const double beyond = inner_ball(pair, solution) + solution.distance;
  solution.tie = beyond >= 0 && beyond <= 1e-11 * pair.size;
  return beyond >= 0;
}

// Whether no neighbour is nearer, but for rounding: every way out has such a face.
bool is_lowest_about(Polytope& P, const Polytope::Face& face, double rounding) {
  return std::all_of(face.neighbour, face.neighbour + 3,
                     [&](int g) { return P.face(g).offset >= face.offset - rounding; });
}

// Whether another way out is as short, to what is promised, in a direction that is not a neighbour's: that of
// a face left, or, on curved shapes, of the solution it leads to.
bool has_tie(const ConvexPair& pair, Polytope& P, const ConvexDistance& found) {
  const double limit = 2 * promised(pair) - found.distance;
  const auto elsewhere = [&](Vec3 n) { return dot(n, found.normal) < flat_cosine; };
  for (int f = 0; f < P.face_count; ++f) {
    const Polytope::Face& face = P.face(f);
    if (!face.alive || !(face.offset <= limit && P.key[f] <= limit) || !elsewhere(face.n)) continue;
    if (!is_lowest_about(P, face, promised(pair))) continue;
    if (difference_extent(pair, face.n) <= limit) return true;
    if (!has_curved(pair)) continue;
    Estimate e;
    face_estimate(P, f, e);
    ConvexDistance other;
    if (polish_estimate(pair, e, limit, Effort::quick, other) && elsewhere(other.normal)) return true;
  }
  return false;
}

// Whether the farthest points along n, little off a shallow solution's normal, are on the features of the
// solution: between them there is no other.
bool leads_to(const ConvexPair& pair, Vec3 n, const DifferencePoint& p, const ConvexDistance& solution) {
  return -solution.distance <= 0.1 * std::min(size_of(*pair.a), size_of(*pair.b)) &&
         dot(n, solution.normal) > 0.98 && holds_support(*pair.a, solution.feature_a, p.vertex_a, n) &&
         holds_support(*pair.b, solution.feature_b, p.vertex_b, -transpose_times(pair.b_in_a.R, n));
}

// Best first over the faces: a face is settled when the shapes reach no farther along its normal, or, on
// curved shapes, when polishing from it leads to a proven solution that is barely deeper than the face
// itself.
void overlapping(const ConvexPair& pair, const GjkResult& g, ConvexDistance& result) {
  Polytope P;
  const bool curved = has_curved(pair);
  const double tolerance = (curved ? 1e-11 : 1e-12) * pair.size;
  // Edges and corners make solutions that differ little lie close together.
  const bool smooth = is_curved(*pair.a) && is_curved(*pair.b);
  const double resolved = (smooth ? 1e-3 : 1e-4) * pair.size;
  const auto settled = [&](double depth) {
    return std::min(promised_curved * pair.size, std::max(0.01 * depth, tolerance));
  };
  double best = INFINITY;
  int best_face = -1;
  bool polished = false;
  if (curved && polish_shallow(pair, g, result)) {
    best = -result.distance;
    polished = true;
    if (is_shallowest(pair, result)) return;
  }
  result.exact = false;
  if (!begin_polytope(pair, g, P)) {
    if (!polished) out_of_thin(pair, g, P, result);
    return;
  }
  if (polished) {
    if (!insert_solution(pair, result, P) && !begin_polytope(pair, g, P)) return;
  }
  for (;;) {
    const int f = lowest_face(P);
    if (f < 0 || P.key[f] >= best - tolerance) {
      // The direction may have come from a face below the surface that was parallel to a facet by chance
      // (boxes have parallel edges): only a face on the surface has the facet's corners.
      if (f >= 0 && difference_extent(pair, P.face(f).n) <= best + tolerance) best_face = f;
      result.exact = true;
      break;
    }
    // Below the solution already found by less than half of the accuracy that is promised; of solutions that
    // hardly overlap at all the shallowest still counts.
    if (polished && best - P.face(f).offset <= settled(best)) {
      P.key[f] = best;
      continue;
    }
    const DifferencePoint p = difference_support(pair, P.face(f).n);
    const double extent = dot(P.face(f).n, p.w), gap = extent - P.face(f).offset;
    if (polished && best - P.face(f).offset <= resolved && leads_to(pair, P.face(f).n, p, result)) {
      P.key[f] = INFINITY;
      continue;
    }
    if (extent < (polished ? best - tolerance : best)) {
      best = extent;
      best_face = f;
      polished = false;
      if (gap <= tolerance) {
        result.exact = true;
        break;
      }
    }
    if (curved && gap <= (polished ? 3e-4 : 1e-3) * pair.size) {
      Estimate e;
      face_estimate(P, f, e);
      ConvexDistance solution;
      if (polish_estimate(pair, e, extent + tolerance,
                          gap <= 1e-5 * pair.size ? Effort::thorough : Effort::quick, solution)) {
        const double depth = -solution.distance;
        if (depth < best || (!polished && depth < best + tolerance)) {
          best = depth;
          result = solution;
          polished = true;
          if (is_shallowest(pair, result)) {
            result.exact = true;
            return;
          }
        }
        if (depth - P.face(f).offset <= resolved && leads_to(pair, P.face(f).n, p, solution)) {
          P.key[f] = depth;
          continue;
        }
        if (polished && depth == best && P.point_count < Polytope::max_points / 2 &&
            insert_solution(pair, solution, P) && !P.face(f).alive)
          continue;
      }
    }
    if (gap <= tolerance) {
      P.key[f] = extent;
      continue;
    }
    if (!expand(P, f, p)) {
      polished |= polish_all(pair, P, best_face, polished ? 0.0 : tolerance, best, result);
      result.exact = polished;
      break;
    }
  }
  // No face has a direction: numbers overflow, or all faces are slivers.
  if (!polished && best_face < 0) return out_of_thin(pair, g, P, result);
  const bool exact = result.exact;
  if (!polished) finish_on_face(pair, P, best_face, result);
  result.exact = exact;
  result.tie = has_tie(pair, P, result);
}

}  // namespace

ConvexDistance convex_distance(const ConvexPair& pair, double margin) {
  const double ra = core_radius(*pair.a), rb = core_radius(*pair.b);
  ConvexDistance result;
  GjkResult g;
  // Of a negative margin only the caller can tell: cores that touch may be deep enough.
  if (!separated(pair, std::max(margin + ra + rb, 0.0), g, result))
    overlapping(pair, g, result);
  else if (!result.exact && result.distance < 1e-7 * pair.size) {
    // So close that rounding stopped the walk. The faces of A - B, whose offsets may be negative, still
    // count.
    ConvexDistance by_faces;
    overlapping(pair, g, by_faces);
    if (by_faces.exact && by_faces.distance >= result.distance) result = by_faces;
  }
  result.distance -= ra + rb;
  result.a += result.normal * ra;
  result.b -= result.normal * rb;
  return result;
}

}  // namespace articula::collision
