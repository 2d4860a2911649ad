#pragma once
// URDF, the robot files of ROS.
//
// - A link becomes a body. A link without mass behind a fixed joint becomes a frame of the body it is
//   fixed to, and its geometry that body's (but where it must be told apart, below); the root link is fixed
//   to the world unless a floating base is asked for.
// - Neighbours do not collide, nor do pairs that an SRDF file or Drake's groups disable. That holds for the
//   geometry of these very links: where pairs are disabled, and next to a fixed base's joints, links without
//   mass that have collision geometry stay bodies.
// - Links that overlap by more than 0.1 mm with all joints at zero (or at the nearest end of their range) do
//   not collide, either, with a warning that names them: no motion would part most of them, and a robot that
//   is jammed in itself is of no use. LoadOptions::keep_overlaps lets them.
// - revolute, continuous: a hinge; prismatic: a slide. planar: slides along two directions across the
//   axis, "NAME_x" and "NAME_y", and a hinge about it, "NAME"; without an axis it is z, as in Pinocchio
//   (which moves planar joints across z whatever their axis is: we follow the axis, as URDF says, with a
//   warning). floating: a free joint, or on a body that moves itself, and at an origin that is turned, three
//   slides "NAME_x", "NAME_y", "NAME_z" and a ball joint, "NAME": coordinates count from the joint's origin.
// - mimic: the joint stays, with an equality q = offset + multiplier q_other.
// - limits of effort are the joint's actuator force range (0: none given, with a warning); limits of velocity
//   are not enforced.
// - collision geometry collides and is called "LINK_0", "LINK_1", ... where it has no name; visual geometry
//   (group 1) does not. A sphere of radius 0 is a point.
// - An inertia that no real body has is taken as it is, with a warning, because files are full of them.
//   A joint that moves no inertia gets a rotor of 1e-10 kg m^2 (kg), with a warning.
// - Of the usual extensions these are read: <capsule>, <contact> with lateral_friction and restitution
//   (Bullet), <frame> and <collision_filter_group> (Drake). Others are named once each.

#include <filesystem>
#include <string_view>

#include "articula/io/load_options.hpp"
#include "articula/model/description.hpp"

namespace articula {

Description load_urdf(const std::filesystem::path& file, const LoadOptions& options = {});

// Files that the text refers to are looked up relative to `directory`.
Description parse_urdf(std::string_view text, const std::filesystem::path& directory = {},
                       const LoadOptions& options = {});

}  // namespace articula
