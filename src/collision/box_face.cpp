// A face of one box against the other box: where the face, seen along its normal, overlaps the opposite face.
//
// In the frame of the box with the face: x, y along the face, z its height; the face is |x| <= hx, |y| <= hy,
// z = 0. The opposite face is a parallelogram, c + a u + b v with |a|, |b| <= 1. Four corners or edges of it
// in a register. The same points as clip() finds, in the same order, where nothing is near a tie.

#include <algorithm>
#include <bit>

#include "features.hpp"
#include "pairs.hpp"
#include "support.hpp"
#include "tiny_pairs.hpp"

namespace articula::collision {
namespace {

constexpr Lanes around_u{-1, 1, 1, -1}, around_v{-1, -1, 1, 1};  // corners in turn

Lanes magnitude(Lanes v) { return absolute(Vec3(v)).lanes; }
Lanes next_of(Lanes v) { return __builtin_shufflevector(v, v, 1, 2, 3, 0); }

// Corner of a box's face, and the line feature that begins there, counted as above.
struct FaceFeatures {
  int axis, side;  // 1: the face towards +axis

  int corner(int i) const {
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    return (side << axis) | ((i == 1 || i == 2 ? 1 : 0) << j) | ((i >= 2 ? 1 : 0) << k);
  }
  Feature point(int i) const { return {FeatureKind::point, corner(i)}; }
  Feature line(int i) const {
    return {FeatureKind::line, box_edge((axis + (i % 2 == 0 ? 1 : 2)) % 3, corner(i))};
  }
  int face() const { return 2 * axis + side; }
};

// The opposite face as the face sees it.
struct Opposite {
  FaceFeatures features;
  double cx, cy, cz, ux, uy, uz, vx, vy, vz;
  bool clear;  // one face is clearly the nearest

  // Rows of the other box's rotation, along x, y and z; its centre; its half sizes.
  Opposite(const Vec3* rows, Vec3 t, Vec3 half) {
    const Vec3 m = absolute(rows[2]);
    const int axis = m[0] >= m[1] && m[0] >= m[2] ? 0 : m[1] >= m[2] ? 1 : 2;
    const int p = (axis + 1) % 3, q = (axis + 2) % 3;
    features = {axis, rows[2][axis] > 0 ? 0 : 1};
    clear = m[axis] > std::max(m[p], m[q]) + 1e-7;
    const double out = features.side ? half[axis] : -half[axis];
    cx = t[0] + rows[0][axis] * out, ux = rows[0][p] * half[p], vx = rows[0][q] * half[q];
    cy = t[1] + rows[1][axis] * out, uy = rows[1][p] * half[p], vy = rows[1][q] * half[q];
    cz = t[2] + rows[2][axis] * out, uz = rows[2][p] * half[p], vz = rows[2][q] * half[q];
  }
};

struct FaceClip {
  const FaceFeatures own;
  const Opposite other;
  double hx, hy, margin;
  Lanes X, Y, Z;  // corners of the other face
  Lanes px, py;   // corners of the own face
  alignas(32) double height[4],
      corner_height[4];                 // of the other's corners; of its plane over the own corners
  alignas(32) double crossing_t[4][4];  // along the other's edges [own edge][other edge]
  int corners = 0, own_corners = 0, crossings[4] = {};  // bits of those that count

  FaceClip(FaceFeatures face, const Vec3* rows, Vec3 t, Vec3 half, double x, double y, double m)
      : own(face),
        other(rows, t, half),
        hx(x),
        hy(y),
        margin(m) {
    const Opposite& o = other;
    X = broadcast(o.cx) + broadcast(o.ux) * around_u + broadcast(o.vx) * around_v;
    Y = broadcast(o.cy) + broadcast(o.uy) * around_u + broadcast(o.vy) * around_v;
    Z = broadcast(o.cz) + broadcast(o.uz) * around_u + broadcast(o.vz) * around_v;
    px = broadcast(hx) * around_u;
    py = broadcast(hy) * around_v;
  }

  int count() const {
    const unsigned bits =
        static_cast<unsigned>(corners) | static_cast<unsigned>(own_corners) << 4 |
        static_cast<unsigned>(crossings[0]) << 8 | static_cast<unsigned>(crossings[1]) << 12 |
        static_cast<unsigned>(crossings[2]) << 16 | static_cast<unsigned>(crossings[3]) << 20;
    return std::popcount(bits);
  }

  // False where something is within the noise of a tie.
  bool find(double noise) {
    const Lanes x = magnitude(X) - broadcast(hx), y = magnitude(Y) - broadcast(hy), zero{};
    Mask tie = (magnitude(x) < broadcast(noise)) | (magnitude(y) < broadcast(noise));
    corners = lane_bits((x < zero) & (y < zero) & (Z <= broadcast(margin)));
    __builtin_memcpy(height, &Z, sizeof Z);
    // a, b of the own corners, and the height of the other face's plane there.
    const Opposite& o = other;
    const Lanes inverse = broadcast(1 / (o.ux * o.vy - o.uy * o.vx));
    const Lanes dx = px - broadcast(o.cx), dy = py - broadcast(o.cy);
    const Lanes a = (dx * broadcast(o.vy) - dy * broadcast(o.vx)) * inverse;
    const Lanes b = (dy * broadcast(o.ux) - dx * broadcast(o.uy)) * inverse;
    const Lanes over = broadcast(o.cz) + a * broadcast(o.uz) + b * broadcast(o.vz), one = broadcast(1.0);
    const Lanes a_out = magnitude(a) - one, b_out = magnitude(b) - one;
    tie |= (magnitude(a_out) < broadcast(1e-6)) | (magnitude(b_out) < broadcast(1e-6));
    own_corners = lane_bits((a_out < zero) & (b_out < zero) & (over <= broadcast(margin)));
    __builtin_memcpy(corner_height, &over, sizeof over);
    find_crossings();
    return lane_bits(tie) == 0;
  }

  // Of all edges of the other face with one edge of the own: along x (y = -hy), along y (x = hx), ...
  void find_crossings() {
    const Lanes DX = next_of(X) - X, DY = next_of(Y) - Y, DZ = next_of(Z) - Z;
    const Lanes by_x = broadcast(1.0) / DX, by_y = broadcast(1.0) / DY, zero{}, one = broadcast(1.0);
    for (int edge = 0; edge < 4; ++edge) {
      const bool across_x = edge % 2 == 1;
      const double level = (edge == 1 || edge == 2 ? 1.0 : -1.0) * (across_x ? hx : hy);
      const Lanes t = across_x ? (broadcast(level) - X) * by_x : (broadcast(level) - Y) * by_y;
      const Lanes along = across_x ? Y + t * DY : X + t * DX;
      const Mask within = magnitude(along) < broadcast(across_x ? hy : hx);
      const Mask low = Z + t * DZ <= broadcast(margin);
      crossings[edge] = lane_bits((t > zero) & (t < one) & within & low);
      __builtin_memcpy(crossing_t[edge], &t, sizeof t);
    }
  }
};

// The face's axes and centre in A's frame, and whose it is.
struct Frame {
  Vec3 x, y, outward, centre;
  bool of_a;
};

struct Writer {
  const FaceClip& clip;
  const Frame& frame;
  Vec3 n;
  ContactPoint* out;
  int count = 0;
  double deepest = INFINITY;

  void add(double x, double y, double height, Feature own, Feature other) {
    const Vec3 at = frame.centre + frame.x * x + frame.y * y + frame.outward * (0.5 * height);
    ContactPoint* c = &out[count++];
    deepest = std::min(deepest, height);
    write_contact(at, n, height, frame.of_a ? own : other, frame.of_a ? other : own, c);
    c->rule = frame.of_a ? NormalRule::face_a : NormalRule::face_b;
    const int own_face = clip.own.face(), other_face = clip.other.features.face();
    c->face_a = frame.of_a ? own_face : other_face;
    c->face_b = frame.of_a ? other_face : own_face;
  }

  void add_other_corners() {
    for (int bits = clip.corners; bits != 0; bits &= bits - 1) {
      const int i = std::countr_zero(static_cast<unsigned>(bits));
      add(clip.X[i], clip.Y[i], clip.height[i], {FeatureKind::face, clip.own.face()},
          clip.other.features.point(i));
    }
  }

  void add_own_corners() {
    for (int bits = clip.own_corners; bits != 0; bits &= bits - 1) {
      const int i = std::countr_zero(static_cast<unsigned>(bits));
      add(clip.px[i], clip.py[i], clip.corner_height[i], clip.own.point(i),
          {FeatureKind::face, clip.other.features.face()});
    }
  }

  void add_crossing(int edge, int other_edge) {
    const int next = (other_edge + 1) % 4;
    const double t = clip.crossing_t[edge][other_edge];
    const auto between = [&](Lanes v) { return v[other_edge] + t * (v[next] - v[other_edge]); };
    add(between(clip.X), between(clip.Y), between(clip.Z), clip.own.line(edge),
        clip.other.features.line(other_edge));
  }

  // By A's edges, then B's.
  void add_crossings() {
    if (frame.of_a) {
      for (int edge = 0; edge < 4; ++edge)
        for (int bits = clip.crossings[edge]; bits != 0; bits &= bits - 1)
          add_crossing(edge, std::countr_zero(static_cast<unsigned>(bits)));
      return;
    }
    const int any = clip.crossings[0] | clip.crossings[1] | clip.crossings[2] | clip.crossings[3];
    for (int bits = any; bits != 0; bits &= bits - 1) {
      const int other = std::countr_zero(static_cast<unsigned>(bits));
      for (int edge = 0; edge < 4; ++edge)
        if (clip.crossings[edge] >> other & 1) add_crossing(edge, other);
    }
  }
};

}  // namespace

int box_face_contacts(const PairArguments& pair, int axis, bool of_a, Vec3 n, double deepest,
                      ContactPoint* out) {
  const Placement& b_in_a = pair.at_b;
  const Shape &own = of_a ? pair.a : pair.b, &other = of_a ? pair.b : pair.a;
  const Vec3 outward = of_a ? n : -n;
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  const Vec3 own_axis = of_a ? axis_vector(axis) : b_in_a.R.column(axis);
  const double sign = dot(outward, own_axis) > 0 ? 1.0 : -1.0;
  const Frame frame{of_a ? axis_vector(j) : b_in_a.R.column(j), of_a ? axis_vector(k) : b_in_a.R.column(k),
                    outward, (of_a ? Vec3() : b_in_a.p) + outward * own.size[axis], of_a};
  // The other box's axes along x, y and outward, and its centre.
  const auto seen = [&](Vec3 d) { return of_a ? transpose_times(b_in_a.R, d) : d; };
  const Vec3 rows[3] = {seen(frame.x), seen(frame.y), seen(outward)};
  const Vec3 r = (of_a ? b_in_a.p : Vec3()) - frame.centre;
  const Vec3 t(dot(frame.x, r), dot(frame.y, r), dot(outward, r));
  const double size =
      std::max({own.size[0], own.size[1], own.size[2], other.size[0], other.size[1], other.size[2]});
  FaceClip clip({axis, sign > 0 ? 1 : 0}, rows, t, other.size, own.size[j], own.size[k], pair.margin);
  if (!clip.other.clear || !clip.find(1e-7 * size)) return not_clear;
  Uncleared<ContactPoint, 16> buffer;
  const bool few = clip.count() <= max_contact_points;
  ContactPoint* points = few ? out : buffer.data();
  Writer writer{clip, frame, n, points};
  of_a ? writer.add_own_corners() : writer.add_other_corners();
  of_a ? writer.add_other_corners() : writer.add_own_corners();
  writer.add_crossings();
  // Where the deepest corner is beside the face it is a contact of its own (include_nearest).
  if (writer.deepest > deepest + 1e-6 * size + 1e-3 * std::abs(deepest)) return not_clear;
  if (few) return writer.count;
  const int count = reduce(points, writer.count, std::max(pair.most, max_contact_points));
  std::copy(points, points + count, out);
  return count;
}

}  // namespace articula::collision
