#include <algorithm>

#include "io/mjcf/attach.hpp"
#include "io/mjcf/body_inertia.hpp"
#include "io/mjcf/geometry.hpp"
#include "io/mjcf/joints.hpp"
#include "io/mjcf/orientation.hpp"

namespace articula::mjcf {

namespace {

// An element of the tree with what surrounds it: the frames around it within its body, the default
// class in force, and the replica it belongs to.
struct Place {
  Element element;
  Pose frame;
  const DefaultClass* defaults = nullptr;
  int replica = no_replica;
  int copy = 0;                     // of a <replicate>: the next one to make,
  Vector3 shift = Vector3::Zero();  // and where
};

// A body to be read, or an <attach> to be carried out, in its turn.
struct BodyTask {
  Place place;
  std::string parent;
  bool parent_is_static = true;
};

// What belongs to the body that is being read.
struct Draft {
  BodyDescription body;
  std::vector<GeometryDraft> geometries;
  std::vector<FrameDescription> sites;
  std::vector<BodyTask> children;
  std::optional<InertiaDescription> inertial;
  bool weighed = false;   // geometries may give it its inertia
  bool is_static = true;  // welded to the world
  bool align = false;     // its free joint asks to be aligned with its inertia
};

// Bodies are read depth first without recursion: a chain of thousands is nested as deep.
class TreeReader {
 public:
  explicit TreeReader(Reader& reader) : reader_(reader) {}

  void read() {
    Draft world;
    world.body.name = "world";
    for (const Element& body : reader_.tree.children(reader_.tree.root(), "worldbody")) {
      for (const Element& inertial : reader_.tree.children(body, "inertial"))
        fail(inertial, "the world has no inertia; put it into a body");
      walk({body, {}, childclass(body, nullptr)}, world);
    }
    finish(world);
    while (!tasks_.empty()) {
      const BodyTask task = std::move(tasks_.back());
      tasks_.pop_back();
      if (task.place.element.name() == "attach") {
        attach_model(reader_, task.place.element, task.parent, task.place.frame);
      } else {
        read_body(task);
      }
    }
  }

 private:
  const DefaultClass* childclass(const Element& element, const DefaultClass* surrounding) const {
    return element.attribute("childclass") ? &find_class(reader_, element, "childclass") : surrounding;
  }

  std::string full_name(const Place& place, Kind kind) {
    return full_name(place, place.element.text("name"), kind);
  }

  std::string full_name(const Place& place, const std::string& name, Kind kind) {
    if (name.empty()) return name;
    if (place.replica == no_replica) return name;
    reader_.replicas.add(kind, name, place.replica);
    return name + reader_.replicas.suffix(place.replica);
  }

  void read_body(const BodyTask& task) {
    const Element& element = task.place.element;
    const Attributes a(element);
    Draft draft;
    BodyDescription& body = draft.body;
    body.name = full_name(task.place, Kind::body);
    if (body.name.empty()) body.name = unused_name();
    body.parent = task.parent;
    body.where = element.label();
    const Pose own_pose = read_pose(a, reader_.compiler);
    body.pose = task.place.frame * own_pose;
    a.read("mocap", body.kinematic);
    a.read("gravcomp", body.gravity_compensation);
    if (a.text("fuse") == "false" || a.has("sleep")) reader_.kept_bodies.insert(body.name);
    const std::vector<Element> children = reader_.tree.children(element);
    const bool has_joint = contains_joint(children);
    draft.is_static = task.parent_is_static && !has_joint && !body.kinematic;
    read_inertial(children, {}, draft);
    const Switch rule = reader_.compiler.inertia_from_geometry;
    draft.weighed = rule == Switch::yes || (rule == Switch::automatic && !draft.inertial);
    walk({element, {}, childclass(element, task.place.defaults), task.place.replica}, draft);
    require_possible_joints(element, body.joints);
    set_inertia(a, own_pose, draft);
    if (draft.align && draft.children.empty()) align_with_inertia(draft);
    finish(draft);
  }

  // Children refer to their parent by name, so every body has one.
  std::string unused_name() {
    constexpr std::string_view form = "body#";
    if (!given_names_) {
      given_names_.emplace();
      for (const Element& element : every_element()) {
        const std::string name = element.name() == "body" ? element.text("name") : "";
        if (name.starts_with(form)) given_names_->insert(name);
      }
    }
    std::string name = fmt::format("{}{}", form, reader_.description.bodies.size() + 1);
    while (given_names_->contains(name)) name += '_';
    return name;
  }

  bool contains_joint(const std::vector<Element>& children) const {
    return std::any_of(children.begin(), children.end(), [this](const Element& child) {
      return child.name() == "joint" || child.name() == "freejoint" ||
             (child.name() == "frame" && contains_joint(reader_.tree.children(child)));
    });
  }

  // The children of a body, through the frames and replicas between.
  void walk(const Place& body, Draft& draft) {
    std::vector<Place> pending;
    push_children(body, body.frame, body.replica, pending);
    while (!pending.empty()) {
      Place place = std::move(pending.back());
      pending.pop_back();
      reader_.count(place.element);
      const std::string_view name = place.element.name();
      if (name == "frame") {
        open_frame(place, pending);
      } else if (name == "replicate") {
        open_replica(place, pending);
      } else {
        read_element(place, draft);
      }
    }
  }

  void push_children(const Place& parent, const Pose& frame, int replica, std::vector<Place>& pending) {
    const std::vector<Element> children = reader_.tree.children(parent.element);
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      pending.push_back({*child, frame, parent.defaults, replica});
    }
  }

  void open_frame(Place& place, std::vector<Place>& pending) {
    const Attributes a(place.element);
    for (const char* name : {"scale", "massscale"}) {
      if (a.has(name))
        fail(a.element(), "attribute {} of a frame is not supported; scale the elements inside", name);
    }
    place.defaults = childclass(place.element, place.defaults);
    push_children(place, place.frame * read_pose(a, reader_.compiler), place.replica, pending);
  }

  // Replica i is turned by i times the angles and shifted from the one before it in that one's axes.
  void open_replica(Place& place, std::vector<Place>& pending) {
    const Attributes a(place.element);
    int copies = 0;
    if (!a.read("count", copies)) fail(a.element(), "attribute count is missing; add it");
    if (copies < 0) fail(a.element(), "attribute count is {}; it must be positive", copies);
    if (copies == 0) return reader_.warn(a.element(), "attribute count is 0: nothing is made");
    if (static_cast<std::size_t>(copies) > reader_.options.most_elements) {
      fail(a.element(), "attribute count is {}; at most {} elements are made", copies,
           reader_.options.most_elements);
    }
    Vector3 offset = Vector3::Zero(), angles = Vector3::Zero();
    a.read("offset", offset);
    a.read("euler", angles);
    const int index = place.copy;
    const std::size_t digits = std::to_string(copies).size();
    const std::string around =
        place.replica == no_replica ? std::string() : reader_.replicas.suffix(place.replica);
    const std::string suffix = fmt::format("{}{:0{}}{}", a.text("sep"), index, digits, around);
    const int replica = reader_.replicas.open(place.replica, place_in_file(place.element), index, suffix);
    const Quaternion turn = rotation_of_euler(index * angles, reader_.compiler);
    if (index + 1 < copies) {
      Place next = place;
      next.copy = index + 1;
      next.shift = place.shift + turn * offset;
      pending.push_back(next);
    }
    push_children(place, place.frame * Pose{place.shift, turn}, replica, pending);
  }

  // Of the tree of bodies, in the order of the file; files that are included are counted where they are.
  std::vector<Element> every_element() const {
    std::vector<Element> result, pending = reader_.tree.children(reader_.tree.root(), "worldbody");
    std::reverse(pending.begin(), pending.end());
    while (!pending.empty()) {
      result.push_back(pending.back());
      pending.pop_back();
      const std::vector<Element> children = reader_.tree.children(result.back());
      pending.insert(pending.end(), children.rbegin(), children.rend());
    }
    return result;
  }

  // Of a <replicate>; all are found when the first is asked for.
  std::size_t place_in_file(const Element& element) {
    if (places_.empty()) {
      for (const Element& next : every_element()) {
        if (next.name() == "replicate") places_.emplace(next.node.internal_object(), places_.size());
      }
    }
    return places_.at(element.node.internal_object());
  }

  void read_element(const Place& place, Draft& draft) {
    const Element& element = place.element;
    const std::string_view name = element.name();
    if (name == "attach" && place.replica != no_replica)
      fail(element, "<attach> inside <replicate> is not supported");
    if (name == "body" || name == "attach") {
      draft.children.push_back({place, draft.body.name, draft.is_static});
    } else if (name == "joint" || name == "freejoint") {
      add_joint(place, draft);
    } else if (name == "geom") {
      add_geometry(place, draft);
    } else if (name == "site") {
      FrameDescription site = read_site(reader_, with_defaults(reader_, element, "site", place.defaults));
      site.name = full_name(place, Kind::site);
      site.body = draft.body.name;
      site.pose = place.frame * site.pose;
      draft.sites.push_back(std::move(site));
    } else if (name == "camera" && reader_.used_cameras.contains(element.text("name"))) {
      add_camera(place, draft);
    } else if (element.attribute("target") != nullptr) {  // a camera or light follows that body
      reader_.kept_bodies.insert(element.text("target"));
    }
  }

  // One that is fixed to its body; sensors of others are left out.
  void add_camera(const Place& place, Draft& draft) {
    const Attributes a = with_defaults(reader_, place.element, "camera", place.defaults);
    const std::string mode = a.text("mode");
    if (!mode.empty() && mode != "fixed") {
      reader_.following_cameras.insert(place.element.text("name"));
      reader_.kept_bodies.insert(place.element.text("target"));
      return;
    }
    FrameDescription frame;
    frame.name = full_name(place, camera_frame(place.element.text("name")), Kind::site);
    frame.where = place.element.label();
    frame.body = draft.body.name;
    frame.pose = place.frame * read_pose(a, reader_.compiler);
    draft.sites.push_back(std::move(frame));
  }

  void add_joint(const Place& place, Draft& draft) {
    if (draft.body.name == "world") fail(place.element, "the world has no joints; put the joint into a body");
    const bool free_joint = place.element.name() == "freejoint";
    const Attributes a = free_joint ? Attributes(place.element)
                                    : with_defaults(reader_, place.element, "joint", place.defaults);
    JointDescription joint = read_joint(reader_, a);
    joint.name = full_name(place, Kind::joint);
    note_idle_range(reader_, a, joint);
    joint.position = place.frame.position + place.frame.rotation * joint.position;
    joint.axis = place.frame.rotation * joint.axis;
    if (joint.type == JointType::free) {
      joint.position.setZero();
      Switch align = Switch::automatic;
      read_switch(a, "align", align);
      draft.align = align == Switch::yes || (align == Switch::automatic && reader_.compiler.align_free);
    }
    draft.body.joints.push_back(std::move(joint));
    draft.is_static = false;
  }

  void add_geometry(const Place& place, Draft& draft) {
    const Attributes a = with_defaults(reader_, place.element, "geom", place.defaults);
    int group = 0;
    a.read("group", group);
    const auto [low, high] = reader_.compiler.inertia_groups;
    GeometryDraft geometry = read_geometry(reader_, a, draft.weighed && group >= low && group <= high);
    GeometryDescription& g = geometry.description;
    g.name = full_name(place, Kind::geometry);
    g.body = draft.body.name;
    g.pose = place.frame * g.pose;
    if (g.type == ShapeType::plane && !draft.is_static) {
      fail(place.element, "a plane is only allowed in bodies that do not move; use a box");
    }
    draft.geometries.push_back(std::move(geometry));
  }

  // Of the body itself, or of frames in it. Replicas have none.
  void read_inertial(const std::vector<Element>& children, const Pose& frame, Draft& draft) {
    for (const Element& child : children) {
      if (child.name() == "frame") {
        const Pose inner = frame * read_pose(Attributes(child), reader_.compiler);
        read_inertial(reader_.tree.children(child), inner, draft);
      }
      if (child.name() != "inertial") continue;
      if (draft.inertial) fail(child, "the body has another <inertial>; keep one of them");
      InertiaDescription inertia = mjcf::read_inertial(reader_, Attributes(child));
      const Matrix3 R = frame.rotation.toRotationMatrix();
      inertia.com = frame.position + R * inertia.com;
      inertia.inertia = R * inertia.inertia * R.transpose();
      if (inertia.principal_axes) inertia.principal_axes = frame.rotation * *inertia.principal_axes;
      draft.inertial = inertia;
    }
  }

  void set_inertia(const Attributes& a, const Pose& own_pose, Draft& draft) {
    std::vector<Part> parts;
    for (const GeometryDraft& g : draft.geometries) {
      if (g.mass > 0.0) parts.push_back({g.mass, g.moments, g.description.pose});
    }
    InertiaDescription& inertia = draft.body.inertia;
    if (draft.weighed && !parts.empty()) {
      inertia = sum_of(parts);
    } else if (draft.inertial) {
      inertia = *draft.inertial;
    } else {
      // A body without mass; if <compiler> gives it some, MuJoCo puts it there: at the body's own pos and
      // quat, whatever frames are around it.
      inertia.com = own_pose.position;
      inertia.principal_axes = own_pose.rotation;
    }
    bound_inertia(reader_.compiler, a.element(), inertia);
  }

  // The frame of a lone free body moves to its centre of mass and principal axes.
  void align_with_inertia(Draft& draft) {
    InertiaDescription& inertia = draft.body.inertia;
    const Quaternion axes = inertia.principal_axes.value_or(Quaternion::Identity());
    const Pose moved{inertia.com, axes};
    const Pose back = inverse(moved);
    draft.body.pose = draft.body.pose * moved;
    inertia.com.setZero();
    const Matrix3 R = axes.toRotationMatrix();
    const Vector3 moments = (R.transpose() * inertia.inertia * R).diagonal();
    inertia.inertia = moments.asDiagonal();
    inertia.principal_axes = Quaternion::Identity();
    for (GeometryDraft& g : draft.geometries) g.description.pose = back * g.description.pose;
    for (FrameDescription& site : draft.sites) site.pose = back * site.pose;
  }

  void finish(Draft& draft) {
    Description& d = reader_.description;
    if (draft.body.name != "world") d.bodies.push_back(std::move(draft.body));
    for (GeometryDraft& g : draft.geometries) {
      if (!g.dropped) d.geometries.push_back(std::move(g.description));
    }
    for (FrameDescription& site : draft.sites) d.frames.push_back(std::move(site));
    for (auto child = draft.children.rbegin(); child != draft.children.rend(); ++child) {
      tasks_.push_back(std::move(*child));
    }
  }

  Reader& reader_;
  std::vector<BodyTask> tasks_;
  std::unordered_map<const void*, std::size_t> places_;         // of every <replicate>
  std::optional<std::unordered_set<std::string>> given_names_;  // that look like ours; when first needed
};

}  // namespace

void read_tree(Reader& reader) {
  TreeReader(reader).read();
  require_moving_mass(reader);
}

}  // namespace articula::mjcf
