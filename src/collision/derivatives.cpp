// Derivatives of contacts: surface rates of rigid motions, sizes and vertices, through the response of the
// contact.

#include "articula/collision/derivatives.hpp"

#include "features.hpp"
#include "response.hpp"

namespace articula::collision {
namespace {

// The two bodies relative to the contact: everything below is small numbers wherever the scene is.
struct Local {
  Placement at_a, at_b;
  Response response;

  Local(const Shape& a, const Placement& pa, const Shape& b, const Placement& pb, const ContactPoint& c)
      : at_a{pa.R, pa.p - c.position},
        at_b{pb.R, pb.p - c.position},
        response(make_response(a, at_a, b, at_b, c)) {}

  // The normal whose rate a side reports: that of its face where the rule wants one, else of the contact.
  Vec3 normal_a(const ContactPoint& c) const { return uses_face(c, c.face_a) ? response.na : c.normal; }
  Vec3 normal_b(const ContactPoint& c) const { return uses_face(c, c.face_b) ? response.nb : -c.normal; }

 private:
  static bool uses_face(const ContactPoint& c, int face) {
    return c.rule != NormalRule::features && face >= 0;
  }
};

}  // namespace

ContactDerivatives differentiate(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                                 const ContactPoint& contact) {
  ContactDerivatives out;
  differentiate(a, at_a, b, at_b, contact, true, true, out);
  return out;
}

namespace {

// A corner, or a ball of radius r about a point, over a face that stays where it is; what response.cpp says,
// of B alone:
//   n' = 0,   d' = n . v,   position' = v - (k d)' n + (k d + r) w x n,   k = (1 - lean)/2
void on_fixed_face(const ContactPoint& contact, double radius, ContactDerivatives& out) {
  const Vec3 n = contact.normal;
  const double below = 0.5 * (1.0 - contact.lean), arm = below * contact.distance + radius;
  const double sinks = below - 0.5 * contact.lean_rate * contact.distance;
  for (int i = 0; i < 3; ++i) {
    const Vec3 e = with_lane(Vec3(), i, 1.0);
    out.motion[6 + i] = {cross(e, n) * arm, Vec3(), 0.0};
    out.motion[9 + i] = {e - n * (sinks * n[i]), Vec3(), n[i]};
  }
  out.one_sided = contact.degenerate;
  out.turns = false;
}

}  // namespace

bool differentiate_on_fixed_face(const Shape& b, const ContactPoint& contact, bool moves_a,
                                 ContactDerivatives& out) {
  if (moves_a || contact.rule != NormalRule::features || contact.feature_a.kind != FeatureKind::face ||
      contact.feature_b.kind != FeatureKind::point)
    return false;
  on_fixed_face(contact, feature_radius(b, contact.feature_b), out);
  return true;
}

void differentiate(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                   const ContactPoint& contact, bool moves_a, bool moves_b, ContactDerivatives& out) {
  if (differentiate_on_fixed_face(b, contact, moves_a, out)) return;
  const Local local(a, at_a, b, at_b, contact);
  const Response& r = local.response;
  out.one_sided = r.one_sided;
  out.turns = true;
  if (contact.rule == NormalRule::features) {
    out.turns = r.by_motions(moves_a, moves_b, out.motion);
    return;
  }
  const Vec3 na = local.normal_a(contact), nb = local.normal_b(contact);
  const Vec3 unit_axis[3] = {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};
  for (int i = 0; i < 3; ++i) {
    const Vec3 e = unit_axis[i];
    if (moves_a) {
      out.motion[i] = r({cross(e, r.xa), cross(e, na)}, {});
      out.motion[3 + i] = r({e, Vec3()}, {});
    }
    if (moves_b) {
      out.motion[6 + i] = r({}, {cross(e, r.xb), cross(e, nb)});
      out.motion[9 + i] = r({}, {e, Vec3()});
    }
  }
}

// v_position = v_o + w x (position - o)
ContactDerivatives about(const ContactDerivatives& d, Vec3 position, Vec3 o_a, Vec3 o_b) {
  ContactDerivatives out = d;
  for (int side = 0; side < 2; ++side) {
    const Vec3 arm = position - (side ? o_b : o_a);
    for (int i = 0; i < 3; ++i) {
      const Vec3 v = cross(with_lane(Vec3(), i, 1.0), arm);
      ContactRate& rate = out.motion[6 * side + i];
      for (int k = 0; k < 3; ++k) {
        const ContactRate& linear = d.motion[6 * side + 3 + k];
        rate.position += linear.position * v[k];
        rate.normal += linear.normal * v[k];
        rate.distance += linear.distance * v[k];
      }
    }
  }
  return out;
}

namespace {

// One side of a contact in the frame of its shape.
struct Side {
  const Shape& shape;
  const Placement& at;
  Feature feature;
  int face;         // that gives the normal, or -1
  bool by_feature;  // the normal belongs to the feature itself
  Vec3 x, n;        // surface point and outward normal of the contact, in the shape's frame
};

Vec3 component(Vec3 v, int k) { return with_lane(Vec3(), k, v[k]); }

// Rates in the shape's frame, of the surface point and normal at a fixed place on the feature.
SurfaceRate size_rate_of_cylinder(const Side& s, int k) {
  const Vec3 across = Vec3(s.n[0], s.n[1], 0);
  const Vec3 radial = Vec3(s.x[0], s.x[1], 0) * (1.0 / s.shape.size[0]);
  const Vec3 up(0, 0, s.x[2] > 0 ? 1.0 : -1.0);
  switch (s.feature.kind) {
    case FeatureKind::line:
      if (s.feature.index > 0) return {k == 0 ? radial : up, Vec3()};
      return {k == 0 ? unit(across) : Vec3(), Vec3()};
    case FeatureKind::face: return {k == 1 ? up : Vec3(), Vec3()};
    default: return {k == 0 ? radial : up, Vec3()};
  }
}

// x(n) = S^2 n/h, h = |S n|, at fixed n
SurfaceRate size_rate_of_ellipsoid(const Side& s, int k) {
  const Vec3 S = s.shape.size, n = s.n;
  const double h = norm(elementwise(S, n));
  const Vec3 x = elementwise(elementwise(S, S), n) * (1.0 / h);
  return {with_lane(Vec3(), k, 2 * S[k] * n[k] / h) - x * (S[k] * n[k] * n[k] / (h * h)), Vec3()};
}

// The face's (or, on an edge, the label's) normal under a linear map 1 + e_k e_k^T of the shape.
Vec3 scaled_normal_rate(const Side& s, int k) {
  if (!s.by_feature || s.feature.kind == FeatureKind::face) {
    const int face = s.by_feature ? s.feature.index : s.face;
    if (face < 0) return {};
    const Vec3 n = s.shape.hull->face_normal[face], along = component(n, k);
    return n * dot(n, along) - along;
  }
  if (s.feature.kind != FeatureKind::line) return {};
  const Vec3 e = unit(line_of(s.shape, s.feature.index).along);
  return e * -dot(s.n, component(e, k));
}

SurfaceRate size_rate(const Side& s, int k) {
  switch (s.shape.type) {
    case ShapeType::sphere: return {k == 0 ? s.n : Vec3(), Vec3()};
    case ShapeType::capsule:
      if (k == 0) return {s.n, Vec3()};
      return {
          k == 1 && s.feature.kind == FeatureKind::point ? Vec3(0, 0, axis_place(s.feature.index)) : Vec3(),
          Vec3()};
    case ShapeType::box: {
      // Only along the axes that the feature is not free to slide along.
      const bool slides = s.feature.kind == FeatureKind::line   ? s.feature.index / 4 == k
                          : s.feature.kind == FeatureKind::face ? s.feature.index / 2 != k
                                                                : false;
      return {slides ? Vec3() : with_lane(Vec3(), k, s.x[k] > 0 ? 1.0 : -1.0), Vec3()};
    }
    case ShapeType::cylinder: return k < 2 ? size_rate_of_cylinder(s, k) : SurfaceRate{};
    case ShapeType::ellipsoid: return size_rate_of_ellipsoid(s, k);
    case ShapeType::mesh: return {component(s.x, k), scaled_normal_rate(s, k)};
    default: return {};
  }
}

SurfaceRate to_world(const SurfaceRate& rate, const Placement& at) { return {at.R * rate.x, at.R * rate.n}; }

Side side_a(const Shape& a, const Local& local, const ContactPoint& c) {
  const Placement& at = local.at_a;
  return {a,
          at,
          c.feature_a,
          c.face_a,
          c.rule == NormalRule::features,
          transpose_times(at.R, local.response.xa - at.p),
          transpose_times(at.R, c.normal)};
}
Side side_b(const Shape& b, const Local& local, const ContactPoint& c) {
  const Placement& at = local.at_b;
  return {b,
          at,
          c.feature_b,
          c.face_b,
          c.rule == NormalRule::features,
          transpose_times(at.R, local.response.xb - at.p),
          transpose_times(at.R, -c.normal)};
}

}  // namespace

SizeDerivatives differentiate_sizes(const Shape& a, const Placement& at_a, const Shape& b,
                                    const Placement& at_b, const ContactPoint& contact) {
  const Local local(a, at_a, b, at_b, contact);
  const Side sa = side_a(a, local, contact), sb = side_b(b, local, contact);
  SizeDerivatives out;
  out.one_sided = local.response.one_sided;
  for (int k = 0; k < 3; ++k) {
    out.size[k] = local.response(to_world(size_rate(sa, k), sa.at), {});
    out.size[3 + k] = local.response({}, to_world(size_rate(sb, k), sb.at));
  }
  return out;
}

namespace {

// Vertices that place a feature or tilt a face: weights of the surface point, and the gradient of each weight
// across the feature, by which the normal tilts: n' = -gradient (n . v').
struct Weights {
  int vertex[3];
  double weight[3];
  Vec3 gradient[3];
  int count = 0;
};

Weights face_weights(const Hull& hull, int face, Vec3 x) {
  const int begin = hull.face_begin[face], corners = hull.face_begin[face + 1] - begin;
  Weights w;
  w.count = 3;
  for (int i = 0; i < 3; ++i) w.vertex[i] = hull.face_loop[begin + i * corners / 3];
  const Vec3 n = hull.face_normal[face];
  const Vec3 p0 = hull.vertices[w.vertex[0]], p1 = hull.vertices[w.vertex[1]],
             p2 = hull.vertices[w.vertex[2]];
  const double area = dot(n, cross(p1 - p0, p2 - p0));
  const Vec3 corner[3] = {p0, p1, p2};
  for (int i = 0; i < 3; ++i) {
    const Vec3 from = corner[(i + 1) % 3], to = corner[(i + 2) % 3];
    w.gradient[i] = cross(n, to - from) * (1.0 / area);
    w.weight[i] = dot(w.gradient[i], x - from);
  }
  return w;
}

Weights feature_weights(const Shape& shape, Feature f, Vec3 x) {
  const Hull& hull = *shape.hull;
  Weights w;
  if (f.kind == FeatureKind::face) return face_weights(hull, f.index, x);
  if (f.kind == FeatureKind::point) {
    w.count = 1;
    w.vertex[0] = f.index;
    w.weight[0] = 1;
    return w;
  }
  w.count = 2;
  w.vertex[0] = hull.edge_start[f.index];
  w.vertex[1] = hull.edge_end[f.index];
  const Vec3 along = hull.vertices[w.vertex[1]] - hull.vertices[w.vertex[0]];
  w.gradient[1] = along * (1.0 / squared_norm(along));
  w.gradient[0] = -w.gradient[1];
  w.weight[1] = dot(w.gradient[1], x - hull.vertices[w.vertex[0]]);
  w.weight[0] = 1 - w.weight[1];
  return w;
}

void add_side(const Side& s, const Local& local, bool of_b, VertexDerivatives& out) {
  if (s.shape.type != ShapeType::mesh) return;
  const Hull& hull = *s.shape.hull;
  const auto add = [&](int vertex, double weight, Vec3 gradient, Vec3 n) {
    VertexDerivatives::Entry& e = out.entries[out.count++];
    e.of_b = of_b;
    e.vertex = vertex;
    for (int k = 0; k < 3; ++k) {
      const SurfaceRate rate = to_world({with_lane(Vec3(), k, weight), gradient * -n[k]}, s.at);
      e.coordinate[k] = of_b ? local.response({}, rate) : local.response(rate, {});
    }
  };
  const Weights w = feature_weights(s.shape, s.feature, s.x);
  const bool own_face = s.feature.kind == FeatureKind::face;
  const bool tilts = s.by_feature || own_face;
  const Vec3 n = own_face ? hull.face_normal[s.feature.index] : s.n;
  for (int i = 0; i < w.count; ++i) add(w.vertex[i], w.weight[i], tilts ? w.gradient[i] : Vec3(), n);
  if (tilts || s.face < 0) return;
  // The point lies on a corner or edge, but the normal comes from the face beside it.
  const Weights f = face_weights(hull, s.face, s.x);
  for (int i = 0; i < 3; ++i) add(f.vertex[i], 0.0, f.gradient[i], hull.face_normal[s.face]);
}

}  // namespace

VertexDerivatives differentiate_vertices(const Shape& a, const Placement& at_a, const Shape& b,
                                         const Placement& at_b, const ContactPoint& contact) {
  const Local local(a, at_a, b, at_b, contact);
  VertexDerivatives out;
  out.one_sided = local.response.one_sided;
  add_side(side_a(a, local, contact), local, false, out);
  add_side(side_b(b, local, contact), local, true, out);
  return out;
}

}  // namespace articula::collision
