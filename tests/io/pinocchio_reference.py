"""M(q) and c(q, v) of a URDF at random states, as Pinocchio has them, in Articula's convention.

    python3 pinocchio_reference.py FILE fixed|floating|mimic COUNT

Prints, one item a line: "joint NAME KIND" for every joint, then for each state "q", "v", "M" (row by row) and "c"
with their numbers, in the order of the joints listed. KIND is scalar, planar (x, y, angle) or free (x y z qw qx qy
qz; velocities linear in the parent's frame, angular in the child's). Exit code 3: Pinocchio is not installed.
"""

import sys
import xml.etree.ElementTree as ElementTree

try:
    import numpy as np
    import pinocchio as pin
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)


def kind_of(joint):
    if joint.nv == 6:
        return "free"
    return "planar" if joint.nv == 3 else "scalar"


def random_joint(kind, revolute, rng):
    """Coordinates in our convention."""
    if kind == "free":
        quaternion = rng.normal(size=4)
        return np.concatenate([rng.normal(size=3), quaternion / np.linalg.norm(quaternion)])
    if kind == "planar":
        return rng.uniform(-1, 1, 3)
    return rng.uniform(-np.pi, np.pi, 1) if revolute else rng.uniform(-1, 1, 1)


def to_pinocchio(kind, nq, x):
    """Coordinates, and the rotation by which linear velocities are turned into the child's frame."""
    if kind == "free":
        w, rest = x[3], x[4:]
        return np.concatenate([x[:3], rest, [w]]), pin.Quaternion(w, *rest).toRotationMatrix()
    if kind == "planar":
        c, s = np.cos(x[2]), np.sin(x[2])
        return np.array([x[0], x[1], c, s]), np.array([[c, -s], [s, c]])
    if nq == 2:
        return np.array([np.cos(x[0]), np.sin(x[0])]), None
    return x, None


def print_numbers(name, numbers):
    print(name, *(f"{x:.17g}" for x in np.asarray(numbers).ravel()))


def mass_matrix(model, data, q, mimic):
    if not mimic:
        M = pin.crba(model, data, q)
        return np.triu(M) + np.triu(M, 1).T
    # crba lacks the terms between a joint that mimics one of its ancestors and the joints between the two; rnea
    # has them (the two differ in Pinocchio 4.1).
    zero = np.zeros(model.nv)
    gravity = pin.rnea(model, data, q, zero, zero).copy()
    return np.array([pin.rnea(model, data, q, zero, unit) - gravity for unit in np.eye(model.nv)]).T


def read(file):
    """The file without its colours: Pinocchio's parser refuses files that define one twice."""
    root = ElementTree.parse(file).getroot()
    for parent in list(root.iter()):
        for material in parent.findall("material"):
            parent.remove(material)
    root.attrib.setdefault("name", "robot")
    return ElementTree.tostring(root, encoding="unicode")


def main(file, mode, count):
    arguments = [read(file)] + ([pin.JointModelFreeFlyer()] if mode == "floating" else []) + [mode == "mimic"]
    model = pin.buildModelFromXML(*arguments)
    data = model.createData()
    joints = [(name, joint) for name, joint in zip(model.names, model.joints) if joint.nv > 0 and name != "universe"]
    joints = [(name, joint) for name, joint in joints if "Mimic" not in joint.shortname()]
    for name, joint in joints:
        print("joint", kind_of(joint), name)
    rng = np.random.default_rng(1)
    for _ in range(count):
        ours_q, ours_v = [], []
        q, v = pin.neutral(model), np.zeros(model.nv)
        J, drift = np.eye(model.nv), np.zeros(model.nv)  # v = J v_ours, dv = J dv_ours + drift
        for _, joint in joints:
            kind = kind_of(joint)
            x, u = random_joint(kind, "R" in joint.shortname()[10:12], rng), rng.normal(size=joint.nv)
            part, R = to_pinocchio(kind, joint.nq, x)
            q[joint.idx_q : joint.idx_q + joint.nq] = part
            at = joint.idx_v
            v[at : at + joint.nv] = u
            if R is not None:
                n = len(R)
                local = R.T @ u[:n]
                J[at : at + n, at : at + n] = R.T
                v[at : at + n] = local
                if kind == "free":
                    drift[at : at + 3] = -np.cross(u[3:], local)
                else:
                    drift[at : at + 2] = -u[2] * np.array([-local[1], local[0]])
            ours_q.append(x)
            ours_v.append(u)
        M = mass_matrix(model, data, q, mode == "mimic")
        c = pin.nonLinearEffects(model, data, q, v)
        order = np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for _, j in joints] or [[]]).astype(int)
        print_numbers("q", np.concatenate(ours_q or [[]]))
        print_numbers("v", np.concatenate(ours_v or [[]]))
        print_numbers("M", (J.T @ M @ J)[np.ix_(order, order)])
        print_numbers("c", (J.T @ (c + M @ drift))[order])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
