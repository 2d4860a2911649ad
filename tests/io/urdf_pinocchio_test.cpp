// URDF files against Pinocchio, which reads them by itself (pinocchio_reference.py). Where Pinocchio is not
// installed the tests are skipped, and say so: `make peers` installs it.
//
// ARTICULA_URDF adds files or directories (separated by colons) to those that are tried.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/rnea.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "articula/io/urdf.hpp"
#include "articula/steppers/step.hpp"

namespace articula::urdf_pinocchio_test {
namespace {

namespace fs = std::filesystem;

const fs::path source_directory = ARTICULA_SOURCE_DIR "/tests/io";

struct Reply {
  int code = 0;
  std::string text;
};

Reply ask_pinocchio(const fs::path& file, const std::string& mode, int count) {
  const fs::path own = source_directory / "../../.venv-peers/bin/python3";
  const std::string python = fs::exists(own) ? own.string() : "python3";
  const std::string command =
      fmt::format("'{}' '{}' '{}' {} {} 2>/dev/null", python,
                  (source_directory / "pinocchio_reference.py").string(), file.string(), mode, count);
  Reply reply;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {3, ""};
  char buffer[1 << 16];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    reply.text.append(buffer, got);
  reply.code = WEXITSTATUS(pclose(pipe));
  return reply;
}

std::vector<fs::path> urdf_files() {
  std::vector<fs::path> places;
  if (const auto shared = shared_models_directory()) places.push_back(*shared / "urdf");
  std::istringstream listed(std::getenv("ARTICULA_URDF") ? std::getenv("ARTICULA_URDF") : "");
  for (std::string place; std::getline(listed, place, ':');) places.push_back(place);
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place)) files.push_back(place);
    if (!fs::is_directory(place)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(place)) {
      if (entry.path().extension() == ".urdf") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Where Pinocchio's coordinates and velocities are in ours.
struct Indices {
  std::vector<int> q, v;
};

Indices match(const Model& model, const std::vector<std::pair<std::string, std::string>>& joints) {
  std::map<std::string, const JointIndex*> by_name;
  for (const JointIndex& joint : model.structure().joints) by_name[joint.name] = &joint;
  Indices indices;
  const auto add = [&](const std::string& name, int nq, int nv) {
    if (!by_name.contains(name)) throw Error("no joint '{}' in ours", name);
    for (int i = 0; i < nq; ++i) indices.q.push_back(by_name[name]->q + i);
    for (int i = 0; i < nv; ++i) indices.v.push_back(by_name[name]->dof + i);
  };
  for (const auto& [kind, name] : joints) {
    if (kind == "scalar") {
      add(name, 1, 1);
    } else if (kind == "planar") {
      add(name + "_x", 1, 1), add(name + "_y", 1, 1), add(name, 1, 1);
    } else if (by_name.contains(name) && by_name[name]->type == JointType::free) {
      add(name, 7, 6);
    } else {
      for (const char* axis : {"_x", "_y", "_z"}) add(name + axis, 1, 1);
      add(name, 4, 3);
    }
  }
  return indices;
}

// v = P v_independent; q follows the same way, with the offsets.
struct Coupling {
  MatrixX P;
  std::vector<const EqualityDescription*> mimics;
};

Coupling couple(const Model& model, const Indices& independent) {
  Coupling result{MatrixX::Zero(model.nv(), static_cast<Eigen::Index>(independent.v.size())), {}};
  for (std::size_t i = 0; i < independent.v.size(); ++i) {
    result.P(independent.v[i], static_cast<Eigen::Index>(i)) = 1.0;
  }
  for (const EqualityDescription& e : model.description().equalities) result.mimics.push_back(&e);
  return result;
}

const JointIndex& joint_named(const Model& model, const std::string& name) {
  for (const JointIndex& joint : model.structure().joints) {
    if (joint.name == name) return joint;
  }
  throw Error("no joint '{}'", name);
}

class Numbers {
 public:
  explicit Numbers(const std::string& text) : stream_(text) {}
  std::vector<std::pair<std::string, std::string>> joints() {
    std::vector<std::pair<std::string, std::string>> result;
    while ((stream_ >> std::ws).peek() == 'j') {
      std::string word, kind, name;
      stream_ >> word >> kind >> std::ws;
      std::getline(stream_, name);
      result.emplace_back(kind, name);
    }
    return result;
  }
  VectorX next(const char* name, Eigen::Index count) {
    std::string word;
    stream_ >> word;
    if (word != name) throw Error("expected '{}', not '{}'", name, word);
    VectorX values(count);
    for (double& value : values) stream_ >> value;
    if (!stream_) throw Error("the reply ends early");
    return values;
  }

 private:
  std::istringstream stream_;
};

// The largest differences in M and c at `count` states, relative to the largest entry.
void compare(const fs::path& file, const std::string& mode, int count, double& worst) {
  SCOPED_TRACE(file.string() + " " + mode);
  const Reply reply = ask_pinocchio(file, mode, count);
  ASSERT_EQ(reply.code, 0) << "Pinocchio cannot read it";
  LoadOptions options;
  options.floating_base = mode == "floating";
  options.visual_meshes = false;
  options.need_all_meshes = false;
  const Model model = build(load_urdf(file, options));
  Data data(model);
  Numbers numbers(reply.text);
  const Indices at = match(model, numbers.joints());
  const auto nv = static_cast<Eigen::Index>(at.v.size());
  Coupling coupling = couple(model, at);
  if (mode != "mimic") {
    ASSERT_EQ(model.nv(), nv);
  }
  MatrixX M(model.nv(), model.nv());
  for (int i = 0; i < count; ++i) {
    const VectorX q_given = numbers.next("q", static_cast<Eigen::Index>(at.q.size()));
    const VectorX v_given = numbers.next("v", nv), M_given = numbers.next("M", nv * nv),
                  c_given = numbers.next("c", nv);
    VectorX q = neutral_state(model).q, c(model.nv());
    for (std::size_t k = 0; k < at.q.size(); ++k) q[at.q[k]] = q_given[static_cast<Eigen::Index>(k)];
    if (mode == "mimic") {
      // Once for every link of the longest chain of joints that mimic joints that mimic.
      for (std::size_t pass = 0; pass < coupling.mimics.size(); ++pass)
        for (const EqualityDescription* e : coupling.mimics) {
          const JointIndex &first = joint_named(model, e->first), &second = joint_named(model, e->second);
          q[first.q] = e->polynomial[0] + e->polynomial[1] * q[second.q];
          coupling.P.row(first.dof) = e->polynomial[1] * coupling.P.row(second.dof);
        }
    }
    const VectorX v = coupling.P * v_given;
    crba(model, data, q);
    dense_mass_matrix(model, data, M);
    bias_forces(model, data, q, v, c);
    const MatrixX ours = coupling.P.transpose() * M * coupling.P;
    const VectorX bias = coupling.P.transpose() * c;
    const Eigen::Map<const MatrixX> theirs(M_given.data(), nv, nv);
    if (nv == 0) continue;
    const double error_M =
        (ours - theirs).cwiseAbs().maxCoeff() / std::max(1.0, theirs.cwiseAbs().maxCoeff());
    const double error_c =
        (bias - c_given).cwiseAbs().maxCoeff() / std::max(1.0, c_given.cwiseAbs().maxCoeff());
    ASSERT_LT(error_M, 1e-9);
    ASSERT_LT(error_c, 1e-9);
    worst = std::max({worst, error_M, error_c});
  }
}

bool pinocchio_is_here(const fs::path& file) { return ask_pinocchio(file, "fixed", 0).code != 3; }

bool has_mimic(const fs::path& file) {
  std::ifstream stream(file);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  return text.find("<mimic") != text.npos;
}

constexpr const char* every_joint = R"(
<robot name="every">
  <link name="base"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><mass value="3"/>
    <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial></link>
  <link name="a"><inertial><origin xyz="0 0.1 0.05" rpy="1 0 0.5"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.009"/></inertial></link>
  <link name="bracket"/>
  <link name="b"><inertial><mass value="0.5"/><inertia ixx="0.003" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.005"/>
    </inertial></link>
  <link name="c"><inertial><origin xyz="0 0 0.2"/><mass value="0.7"/>
    <inertia ixx="0.003" ixy="0" ixz="0" iyy="0.004" iyz="0" izz="0.005"/></inertial></link>
  <link name="d"><inertial><origin xyz="0.3 0 0.2"/><mass value="0.4"/>
    <inertia ixx="0.002" ixy="0.0001" ixz="0" iyy="0.002" iyz="0" izz="0.003"/></inertial></link>
  <link name="e"><inertial><origin xyz="0.1 -0.2 0.2"/><mass value="0.3"/>
    <inertia ixx="0.002" ixy="0.0001" ixz="0" iyy="0.002" iyz="0" izz="0.003"/></inertial></link>
  <link name="weight"><inertial><origin xyz="0.1 0 0"/><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <link name="f"><inertial><origin xyz="0.1 0.1 0"/><mass value="0.25"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>
    <axis xyz="1 2 -2"/><limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
  <joint name="weld" type="fixed"><parent link="a"/><child link="bracket"/><origin xyz="0 0 0.4" rpy="0 1 0"/></joint>
  <joint name="spin" type="continuous"><parent link="bracket"/><child link="b"/><axis xyz="0 3 0"/></joint>
  <joint name="push" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="1 1 0"/><origin xyz="0.1 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
  <joint name="stuck" type="fixed"><parent link="c"/><child link="weight"/><origin xyz="0 0.3 0" rpy="0.1 0.2 2"/></joint>
  <joint name="table" type="planar"><parent link="c"/><child link="d"/><origin rpy="0.5 0 0"/><axis xyz="0 0 -2"/></joint>
  <joint name="fly" type="floating"><parent link="a"/><child link="e"/><origin xyz="0.2 0 0" rpy="0 0.3 0.1"/></joint>
  <joint name="copy" type="revolute"><parent link="e"/><child link="f"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/><mimic joint="turn" multiplier="-0.5" offset="0.2"/></joint>
</robot>)";

// A floating joint on the ground whose origin is turned, and planar joints that give no axis.
constexpr const char* turned_origin = R"(
<robot name="turned">
  <link name="world"/>
  <link name="stand"/>
  <link name="a"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><mass value="3"/>
    <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial></link>
  <link name="b"><inertial><origin xyz="0 0.1 0.05" rpy="1 0 0.5"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.009"/></inertial></link>
  <link name="c"><inertial><origin xyz="0 0.1 0.05" rpy="1 0 0.5"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.009"/></inertial></link>
  <joint name="stands" type="fixed"><parent link="world"/><child link="stand"/><origin xyz="1 2 3" rpy="0.5 0 1"/></joint>
  <joint name="fly" type="floating"><parent link="stand"/><child link="a"/><origin xyz="0.1 0 0" rpy="0 0.3 0.1"/></joint>
  <joint name="slide" type="planar"><parent link="a"/><child link="b"/><origin xyz="0.1 0 0" rpy="0 0.3 0.1"/></joint>
  <joint name="skid" type="planar"><parent link="world"/><child link="c"/><origin xyz="0.1 0 0" rpy="1 0.3 0.1"/>
    <axis xyz="0 0 0"/></joint>
</robot>)";

class AgreementWithPinocchio : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(every) << every_joint;
    if (!pinocchio_is_here(every)) GTEST_SKIP() << "Pinocchio is not installed; `make peers` installs it";
  }
  void TearDown() override { fs::remove(every); }

  const fs::path every =
      fs::path(::testing::TempDir()) / ("articula_every_joint_" + std::to_string(::getpid()) + ".urdf");
};

TEST_F(AgreementWithPinocchio, every_type_of_joint_gives_the_same_mass_matrix_and_bias) {
  double worst = 0.0;
  for (const char* mode : {"fixed", "floating", "mimic"}) compare(every, mode, 50, worst);
  RecordProperty("worst", fmt::format("{:.2e}", worst));
}

TEST_F(AgreementWithPinocchio, coordinates_count_from_the_origin_of_their_joint) {
  std::ofstream(every) << turned_origin;
  double worst = 0.0;
  compare(every, "fixed", 50, worst);
}

TEST_F(AgreementWithPinocchio, every_robot_at_hand_gives_the_same_mass_matrix_and_bias) {
  const std::vector<fs::path> files = urdf_files();
  if (files.empty()) GTEST_SKIP() << "there are no shared robots, and ARTICULA_URDF names none";
  for (const fs::path& file : files) {
    double worst = 0.0;
    if (ask_pinocchio(file, "fixed", 0).code != 0) {
      fmt::print("{}: Pinocchio cannot read it\n", file.string());
      continue;
    }
    for (const char* mode : {"fixed", "floating"}) EXPECT_NO_THROW(compare(file, mode, 50, worst)) << file;
    if (has_mimic(file)) EXPECT_NO_THROW(compare(file, "mimic", 50, worst)) << file;
    fmt::print("{:8.1e}  {}\n", worst, file.filename().string());
  }
}

}  // namespace
}  // namespace articula::urdf_pinocchio_test
