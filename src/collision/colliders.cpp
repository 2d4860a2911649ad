#include "articula/collision/colliders.hpp"

#include <algorithm>
#include <map>

#include "articula/error.hpp"

namespace articula::collision {
namespace {

std::shared_ptr<const HeightField> find_field(const Description& d, const std::string& name) {
  for (const auto& field : d.height_fields)
    if (field->name == name) return field;
  throw Error("height field \"" + name + "\" does not exist");
}

// One hull per mesh, however many geometries use it.
struct Hulls {
  const Description& description;
  std::map<std::string, std::shared_ptr<const Hull>> made = {};

  std::shared_ptr<const Hull> get(const std::string& name) {
    auto& hull = made[name];
    if (hull) return hull;
    for (const auto& mesh : description.meshes)
      if (mesh->name == name) return hull = std::make_shared<const Hull>(make_hull(*mesh));
    throw Error("mesh \"" + name + "\" does not exist");
  }
};

bool in_written_pair(const Description& d, const std::string& name) {
  if (name.empty()) return false;
  return std::any_of(d.contact_pairs.begin(), d.contact_pairs.end(),
                     [&](const auto& p) { return p.geometry1 == name || p.geometry2 == name; });
}

bool may_mask(const Collider& a, const Collider& b) {
  return (a.contype & b.conaffinity) != 0 || (b.contype & a.conaffinity) != 0;
}

bool never(ShapeType a, ShapeType b) {
  const auto endless = [](ShapeType t) { return t == ShapeType::plane || t == ShapeType::height_field; };
  return endless(a) && endless(b);
}

}  // namespace

Colliders::Colliders(const Model& model) {
  const Structure& s = model.structure();
  const Description& d = model.description();
  for (const LinkIndex& link : s.links) {
    link_parent_.push_back(link.parent);
    link_moves_.push_back(link.kind != LinkKind::world && link.kind != LinkKind::kinematic);
  }
  parent_child_contacts_ = d.parent_child_contacts;
  Hulls hulls{d};
  std::map<std::string, int> by_name;
  of_geometry_.assign(s.geometries.size(), -1);
  for (std::size_t g = 0; g < s.geometries.size(); ++g) {
    const GeometryDescription& described = d.geometries[g];
    if (described.contype == 0 && described.conaffinity == 0 && !in_written_pair(d, described.name)) continue;
    Collider c;
    c.geometry = static_cast<int>(g);
    c.body = s.geometries[g].body;
    c.link = s.geometries[g].link;
    c.contype = described.contype;
    c.conaffinity = described.conaffinity;
    c.margin = described.margin;
    c.shape.type = described.type;
    if (described.type == ShapeType::mesh) c.shape.hull = hulls.get(described.asset);
    if (described.type == ShapeType::height_field) c.shape.field = find_field(d, described.asset);
    has_height_fields_ |= described.type == ShapeType::height_field;
    of_geometry_[g] = static_cast<int>(colliders_.size());
    by_name[described.name] = of_geometry_[g];
    colliders_.push_back(std::move(c));
  }
  set_numbers(model);
  for (const ContactExclusion& e : d.contact_exclusions) {
    excluded_bodies_.push_back(std::minmax(model.body(e.body1), model.body(e.body2)));
  }
  std::sort(excluded_bodies_.begin(), excluded_bodies_.end());
  for (std::size_t i = 0; i < d.contact_pairs.size(); ++i) {
    const int a = by_name.at(d.contact_pairs[i].geometry1), b = by_name.at(d.contact_pairs[i].geometry2);
    written_.push_back({std::min(a, b), std::max(a, b), static_cast<int>(i), d.contact_pairs[i].margin});
  }
  std::sort(written_.begin(), written_.end(),
            [](const Written& x, const Written& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  list_pairs();
}

Colliders Colliders::with(const Model& variant) const {
  Colliders other = *this;
  other.set_numbers(variant);
  return other;
}

void Colliders::set_numbers(const Model& model) {
  const VectorX& theta = model.theta();
  for (Collider& c : colliders_) {
    const GeometryIndex& g = model.structure().geometries[static_cast<std::size_t>(c.geometry)];
    for (int i = 0; i < g.size_count; ++i) c.shape.size.lanes[i] = theta[g.size + i];
    const double* p = theta.data() + g.placement;
    const Placement in_body =
        placement_of({Vector3(p[0], p[1], p[2]), Quaternion(p[3], p[4], p[5], p[6]).normalized()});
    c.in_link = model.constants().body_in_link[static_cast<std::size_t>(g.body)] * in_body;
    const Bound box = bound(c.shape);
    c.centre = c.in_link * box.centre;
    c.radius = box.radius;
  }
}

int Colliders::written_pair(int a, int b) const {
  const auto it =
      std::lower_bound(written_.begin(), written_.end(), std::pair(a, b),
                       [](const Written& w, const auto& key) { return std::pair(w.a, w.b) < key; });
  return it != written_.end() && it->a == a && it->b == b ? it->index : -1;
}

bool Colliders::may_touch(int a, int b) const {
  const Collider &ca = colliders_[static_cast<std::size_t>(a)], &cb = colliders_[static_cast<std::size_t>(b)];
  if (never(ca.shape.type, cb.shape.type)) return false;
  if (!written_.empty() && written_pair(a, b) >= 0) return true;
  if (!may_mask(ca, cb) || ca.link == cb.link) return false;
  const auto la = static_cast<std::size_t>(ca.link), lb = static_cast<std::size_t>(cb.link);
  if (!link_moves_[la] && !link_moves_[lb]) return false;
  const bool neighbours =
      ca.link != 0 && cb.link != 0 && (link_parent_[la] == cb.link || link_parent_[lb] == ca.link);
  if (neighbours && !parent_child_contacts_) return false;
  // Of what is welded together, only the body that is named.
  return excluded_bodies_.empty() ||
         !std::binary_search(excluded_bodies_.begin(), excluded_bodies_.end(),
                             std::pair(std::min(ca.body, cb.body), std::max(ca.body, cb.body)));
}

void Colliders::list_pairs() {
  const int n = static_cast<int>(colliders_.size());
  for (int a = 0; a < n; ++a)
    for (int b = a + 1; b < n; ++b) {
      if (!may_touch(a, b)) continue;
      if (pairs_.size() == listed_pairs) {
        pairs_.clear();
        pairs_.shrink_to_fit();
        swept_ = true;
        return;
      }
      pairs_.push_back({a, b, written_pair(a, b)});
    }
  for (int k = 0; k < static_cast<int>(pairs_.size()); ++k) {
    const ColliderPair& pair = pairs_[static_cast<std::size_t>(k)];
    if (runs_.empty() || runs_.back().a != pair.a || runs_.back().first + runs_.back().count != pair.b)
      runs_.push_back({pair.a, pair.b, 0, k});
    ++runs_.back().count;
  }
}

double Colliders::widest_margin(int collider) const {
  double widest = std::max(0.0, colliders_[static_cast<std::size_t>(collider)].margin);
  for (const Written& pair : written_)
    if (pair.a == collider || pair.b == collider) widest = std::max(widest, pair.margin);
  return widest;
}

double Colliders::margin(const ColliderPair& pair) const {
  if (pair.written >= 0)
    for (const Written& w : written_)
      if (w.index == pair.written) return w.margin;
  return std::max(colliders_[static_cast<std::size_t>(pair.a)].margin,
                  colliders_[static_cast<std::size_t>(pair.b)].margin);
}

ContactParameters Colliders::parameters(const Model& model, const ColliderPair& pair) const {
  const auto ga = static_cast<std::size_t>(colliders_[static_cast<std::size_t>(pair.a)].geometry);
  const auto gb = static_cast<std::size_t>(colliders_[static_cast<std::size_t>(pair.b)].geometry);
  const GeometryDescription &da = model.description().geometries[ga],
                            &db = model.description().geometries[gb];
  const GeometryIndex &ia = model.structure().geometries[ga], &ib = model.structure().geometries[gb];
  const VectorX& theta = model.theta();
  ContactParameters p;
  const double ea = theta[ia.restitution], eb = theta[ib.restitution];
  const bool by_a = da.priority > db.priority, by_b = db.priority > da.priority;
  const auto pick = [&](double x, double y) { return by_a || (!by_b && x >= y) ? Source::a : Source::b; };
  p.restitution_source = pick(ea, eb);
  p.restitution = p.restitution_source == Source::a ? ea : eb;
  if (pair.written >= 0) {
    const ContactPairDescription& w =
        model.description().contact_pairs[static_cast<std::size_t>(pair.written)];
    p.condim = w.condim;
    std::copy(w.friction.begin(), w.friction.end(), p.friction);
    p.margin = w.margin;
    p.gap = w.gap;
    return p;
  }
  p.condim = by_a ? da.condim : by_b ? db.condim : std::max(da.condim, db.condim);
  constexpr int slot[5] = {0, 0, 1, 2, 2};
  for (int i = 0; i < 5; ++i) {
    const double fa = theta[ia.friction + slot[i]], fb = theta[ib.friction + slot[i]];
    p.friction_source[i] = pick(fa, fb);
    p.friction[i] = p.friction_source[i] == Source::a ? fa : fb;
  }
  p.margin = std::max(da.margin, db.margin);
  p.gap = std::max(da.gap, db.gap);
  return p;
}

}  // namespace articula::collision
