#include "contact_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "articula/contact/overruled.hpp"

namespace articula {

std::string_view to_string(ContactMode mode) {
  switch (mode) {
    case ContactMode::separating: return "separating";
    case ContactMode::sticking: return "sticking";
    case ContactMode::sliding: return "sliding";
  }
  return "unknown";
}

std::string contact_name(const Model& model, const StepContact& contact) {
  const auto name = [&](int geometry) {
    const GeometryIndex& g = model.structure().geometries[geometry];
    if (!g.name.empty()) return g.name;
    return fmt::format("geometry {} of {}", geometry, model.structure().bodies[g.body].name);
  };
  return name(contact.geometry_a) + ", " + name(contact.geometry_b);
}

namespace {

// Without friction nothing holds it along the surface.
ContactMode contact_mode(const ContactRows& from, const Item& item) {
  const int at = from.row_of(item), rows = item.rows;
  std::array<RowMode, 6> mode;
  std::copy_n(from.mode.begin() + at, rows, mode.begin());
  if (mode[0] == RowMode::free) return ContactMode::separating;
  if (rows > 1 && from.lam[at] > 0.0) hold_within_bound(from, item, mode.data());
  const auto slips = [](RowMode m) {
    return m == RowMode::slide || m == RowMode::upper || m == RowMode::lower;
  };
  return rows == 1 || std::any_of(mode.begin() + 1, mode.begin() + rows, slips) ? ContactMode::sliding
                                                                                : ContactMode::sticking;
}

// Rows are the normal, and of two tangents, spin and two rolling axes those that have friction.
void resolve(const collision::ContactParameters& p, const double* lam, int rows, StepContact& contact) {
  contact.impulse = lam[0] * contact.frame.col(0);
  int row = 1;
  for (int i = 1; i < p.condim && row < rows; ++i) {
    if (!(p.friction[i - 1] > 0.0)) continue;
    (i < 3 ? contact.impulse : contact.torque_impulse) += lam[row++] * contact.frame.col(i % 3);
  }
}

}  // namespace

namespace {

// The contact of that number, apart.
StepContact& add_detected(const Model& model, const ImpulseWork& work, int index,
                          std::vector<StepContact>& list) {
  const collision::Contact& detected = work.contacts.list[index];
  const collision::ContactFrame& frame = work.rows.frame(index);
  StepContact& contact = list.emplace_back();
  contact.geometry_a = work.colliders.list()[detected.pair.a].geometry;
  contact.geometry_b = work.colliders.list()[detected.pair.b].geometry;
  contact.body_a = model.structure().geometries[contact.geometry_a].body;
  contact.body_b = model.structure().geometries[contact.geometry_b].body;
  contact.distance = detected.point.distance;
  contact.position = detected.point.position.eigen();
  contact.frame << detected.point.normal.eigen(), frame.t1.eigen(), frame.t2.eigen();
  contact.mode = ContactMode::separating;
  return contact;
}

}  // namespace

void list_contacts(const Model& model, const ImpulseWork& work, double h, std::vector<StepContact>& list) {
  const ContactRows& rows = work.rows;
  if (list.capacity() < static_cast<size_t>(work.contacts.capacity)) list.reserve(work.contacts.capacity);
  list.clear();
  auto idle = rows.idle().begin();
  const auto add_idle_before = [&](int index) {
    for (; idle != rows.idle().end() && (idle->kind != RowKind::contact || idle->index < index); ++idle) {
      if (idle->kind == RowKind::contact) add_detected(model, work, idle->index, list);
    }
  };
  for (const Item& item : rows.items()) {
    if (item.kind != RowKind::contact) continue;
    add_idle_before(item.index);
    const collision::Contact& detected = work.contacts.list[item.index];
    StepContact& contact = add_detected(model, work, item.index, list);
    const int row = rows.row_of(item);
    contact.mode = contact_mode(rows, item);
    if (contact.mode == ContactMode::separating) continue;
    resolve(work.colliders.parameters(model, detected.pair), rows.lam.data() + row, item.rows, contact);
    contact.force = contact.impulse / h;
  }
  add_idle_before(work.contacts.capacity + 1);
}

void list_loops(const Data& data, const ImpulseWork& work, std::vector<StepLoop>& list) {
  list.clear();
  for (const Item& item : work.rows.items()) {
    if (item.kind != RowKind::equality) break;  // equalities come first
    const EqualityConstraint& equality = work.constraints.equalities[item.index];
    if (item.rows < 3) continue;  // a coupling acts through its joints
    const auto place = [&](const Anchor& anchor) {
      const Vec3 origin = data.link_reference[anchor.link] + data.link_r[anchor.link];
      return Vector3((origin + data.link_R[anchor.link] * anchor.in_link.p).eigen());
    };
    const double* lam = work.rows.lam.data() + work.rows.row_of(item);
    StepLoop& loop = list.emplace_back();
    loop.equality = equality.index;
    loop.link_a = equality.first.link;
    loop.link_b = equality.second.link;
    loop.position_a = place(equality.first);
    loop.position_b = place(equality.second);
    loop.impulse = Vector3(lam[0], lam[1], lam[2]);
    if (item.rows == 6) loop.torque_impulse = equality.torque_scale * Vector3(lam[3], lam[4], lam[5]);
  }
}

}  // namespace articula
