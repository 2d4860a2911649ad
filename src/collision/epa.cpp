#include "epa.hpp"

#include <algorithm>

namespace articula::collision {
namespace {

int make_face(Polytope& P, int i, int j, int k) {
  const Vec3 a = P.point(i).w, b = P.point(j).w, c = P.point(k).w;
  const Vec3 n = cross(b - a, c - a);
  const double area = norm(n);
  // A sliver has no normal: it keeps the surface closed but is never looked at.
  const double ab = squared_norm(b - a), ac = squared_norm(c - a);
  const bool sliver = !(area * area > 1e-26 * ab * ac);
  P.thin |= !(area * area > 1e-8 * P.size * P.size * std::max(ab, ac));
  Polytope::Face& f = P.face(P.face_count);
  f.n = sliver ? Vec3() : n * (1.0 / area);
  f.offset = sliver ? 0.0 : dot(f.n, a);
  P.key[P.face_count] = sliver ? INFINITY : f.offset;
  f.point[0] = i, f.point[1] = j, f.point[2] = k;
  f.alive = true;
  return P.face_count++;
}

// The support along d or -d that is farther from the flat spanned so far.
template <class Height>
bool add_farthest(const ConvexPair& pair, Polytope& P, Vec3 d, double least, Height height) {
  const DifferencePoint up = difference_support(pair, d), down = difference_support(pair, -d);
  const double h_up = height(up.w), h_down = height(down.w);
  if (std::max(h_up, h_down) <= least) return false;
  P.point(P.point_count++) = h_up >= h_down ? up : down;
  return true;
}

bool add_second(const ConvexPair& pair, Polytope& P, double least) {
  const Vec3 o = P.point(0).w;
  for (const Vec3 d : {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)})
    if (add_farthest(pair, P, d, least, [&](Vec3 w) { return norm(w - o); })) return true;
  return false;
}

bool add_third(const ConvexPair& pair, Polytope& P, double least) {
  const Vec3 o = P.point(0).w, e = unit(P.point(1).w - o);
  const Vec3 t = any_across(e), s = cross(e, t);
  for (const Vec3 d : {t, s, t + s})
    if (add_farthest(pair, P, d, least, [&](Vec3 w) { return norm(cross(e, w - o)); })) return true;
  return false;
}

bool add_fourth(const ConvexPair& pair, Polytope& P, double least) {
  const Vec3 o = P.point(0).w;
  const Vec3 n = unit(cross(P.point(1).w - o, P.point(2).w - o));
  return add_farthest(pair, P, n, least, [&](Vec3 w) { return std::abs(dot(n, w - o)); });
}

// Keeps the leading points of the simplex that span something.
void independent_points(const GjkResult& start, Polytope& P, double least) {
  P.point_count = 0;
  for (int i = 0; i < start.count; ++i) {
    const Vec3 w = start.simplex[i].w;
    const int k = P.point_count;
    const Vec3 o = k ? P.point(0).w : Vec3();
    const double height = k == 0   ? INFINITY
                          : k == 1 ? norm(w - o)
                          : k == 2 ? norm(cross(unit(P.point(1).w - o), w - o))
                                   : std::abs(dot(unit(cross(P.point(1).w - o, P.point(2).w - o)), w - o));
    if (height > least) P.point(P.point_count++) = start.simplex[i];
  }
}

}  // namespace

bool begin_polytope(const ConvexPair& pair, const GjkResult& start, Polytope& P) {
  const double least = 1e-7 * pair.size;
  P.size = pair.size;
  P.visible = 1e-14 * pair.size;
  P.face_count = 0;
  P.thin = false;
  independent_points(start, P, least);
  if (P.point_count < 2 && !add_second(pair, P, least)) return false;
  if (P.point_count < 3 && !add_third(pair, P, least)) return false;
  if (P.point_count < 4 && !add_fourth(pair, P, 1e-10 * pair.size)) return false;
  const Vec3 o = P.point(0).w;
  if (dot(cross(P.point(1).w - o, P.point(2).w - o), P.point(3).w - o) > 0) std::swap(P.point(1), P.point(2));
  constexpr int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  constexpr int across[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int f = 0; f < 4; ++f) {
    make_face(P, corners[f][0], corners[f][1], corners[f][2]);
    std::copy(across[f], across[f] + 3, P.face(f).neighbour);
  }
  return true;
}

int lowest_face(const Polytope& P) {
  int best = -1;
  double key = INFINITY;
  for (int f = 0; f < P.face_count; ++f)
    if (P.key[f] < key) {
      key = P.key[f];
      best = f;
    }
  return best;
}

bool expand(Polytope& P, int seed, const DifferencePoint& point) {
  if (P.point_count >= Polytope::max_points) return false;
  struct Edge {
    int face, side;
  };
  // Depth first over the faces that see the point, keeping the order of the horizon: a face entered
  // through side s continues with s+1, s+2.
  Edge horizon[64], stack[128];
  int horizon_count = 0, depth = 0;
  const auto bury = [&](int f) {
    P.face(f).alive = false;
    P.key[f] = INFINITY;
  };
  bury(seed);
  for (int side = 2; side >= 0; --side) stack[depth++] = {seed, side};
  while (depth > 0) {
    const Edge e = stack[--depth];
    const int next = P.face(e.face).neighbour[e.side];
    Polytope::Face& f = P.face(next);
    if (!f.alive) continue;
    const int to = P.face(e.face).point[(e.side + 1) % 3];
    int entered = 0;
    while (entered < 2 && f.point[entered] != to) ++entered;
    const bool sees = dot(f.n, point.w) - f.offset > P.visible;
    if (!sees) {
      if (horizon_count == 64) return false;
      horizon[horizon_count++] = e;
      continue;
    }
    bury(next);
    if (depth + 2 > 128) return false;
    stack[depth++] = {next, (entered + 2) % 3};
    stack[depth++] = {next, (entered + 1) % 3};
  }
  if (horizon_count < 3 || P.face_count + horizon_count > Polytope::max_faces) return false;
  const int apex = P.point_count;
  P.point(P.point_count++) = point;
  const int first = P.face_count;
  for (int i = 0; i < horizon_count; ++i) {
    const Polytope::Face& dead = P.face(horizon[i].face);
    const int from = dead.point[horizon[i].side], to = dead.point[(horizon[i].side + 1) % 3];
    const int outer = dead.neighbour[horizon[i].side];
    if (i > 0) {
      const Polytope::Face& before = P.face(first + i - 1);
      if (before.point[1] != from) return false;
    }
    const int made = make_face(P, from, to, apex);
    Polytope::Face& f = P.face(made);
    f.neighbour[0] = outer;
    f.neighbour[1] = i + 1 < horizon_count ? made + 1 : first;
    f.neighbour[2] = i > 0 ? made - 1 : first + horizon_count - 1;
    Polytope::Face& o = P.face(outer);
    for (int s = 0; s < 3; ++s)
      if (o.point[s] == to && o.point[(s + 1) % 3] == from) o.neighbour[s] = made;
  }
  return P.face(first).point[0] == P.face(P.face_count - 1).point[1];
}

}  // namespace articula::collision
