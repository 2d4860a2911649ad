#pragma once
// Dry friction of a joint or tendon that is held by an end of its range. Both rows stand still, and both are
// said to hold; but if the end moves the joint follows it, and friction only gives way: it is no equation of
// the motion. Alike a tangent with all the friction it can have, where the other one, parallel to it in a
// planar robot, holds the contact. Friction well within its bound holds, however little a solver lets it
// creep, and a contact that carries nothing beside others of the same trees is free, as is an end of a range
// that carries nothing.

#include "articula/contact/rows.hpp"

namespace articula {

// m/s: what slides more slowly (as friction weighs it) turns within any difference that has digits. Where
// modes are held it keeps to its law as linearised in the step, of which the derivative is the same.
inline constexpr double creeping_speed = 1e-6;

// Whether this is a row of dry friction, and one of those.
bool overruled(const ContactRows& rows, const Item& friction, const std::vector<RowMode>& modes);

// Such rows stand still, at whichever end of their interval they are: `hold` in `motion`.
void hold_overruled(const ContactRows& rows, const std::vector<RowMode>& modes, std::vector<RowMode>& motion);

// The modes whose equations a derivative takes: such rows of friction go from `hold` to the end of their
// interval that they are nearer to, and the others as said above.
void overrule_friction(const ContactRows& rows, std::vector<RowMode>& modes);

// Of a contact that carries something: friction well within its bound stands still, however little a solver
// lets it creep; and so does friction that does not oppose the motion,  -lam_T / mu . d < lam_N:  slack is
// what moves there. `modes` are those of its rows.
void hold_within_bound(const ContactRows& rows, const Item& contact, RowMode* modes);

// Contacts that stand still with all the friction they can have go from `hold` to `yield`, on islands where
// something slides: how redundant contacts share their load matters to the motion there, and that these have
// no more to give decides it. Returns whether there are any.
bool mark_yielding(const ContactRows& rows, std::vector<RowMode>& modes);

}  // namespace articula
