// Files that are wrong: the message says which file, which line, which element, what is wrong and what to do,
// within a second and without taking the memory of the machine.

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/load_attempt.hpp"

namespace articula::testing::bad_files_test {
namespace {

namespace fs = std::filesystem;

class BadFiles : public ::testing::Test {
 protected:
  BadFiles()
      : directory(fs::path(::testing::TempDir()) /
                  ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(directory);
  }
  ~BadFiles() override { fs::remove_all(directory); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(directory / name, std::ios::binary) << text;
  }

  // The message begins with file and line, names the element, and has all `parts`.
  void expect_refused(std::string_view text, int line, const std::string& element,
                      std::initializer_list<std::string> parts, const std::string& file = "robot.xml") const {
    write("robot.xml", text);
    const LoadAttempt outcome = attempt_to_load((directory / "robot.xml").string());
    const std::string& message = outcome.message;
    EXPECT_NE(message, "") << "it was loaded";
    EXPECT_NE(message.find(fmt::format("{}:{}: {}", file, line, element)), std::string::npos)
        << message << "\n  does not name " << file << ":" << line << ": " << element;
    for (const std::string& part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << message << "\n  lacks " << part;
    expect_within_limits(outcome);
  }

  fs::path directory;
};

std::string world(const std::string& inner) {
  return "<mujoco>\n<worldbody>\n" + inner + "\n</worldbody>\n</mujoco>";
}
const std::string one_body = R"(<worldbody><body name="b"><joint name="j"/><geom size="0.1"/>
<site name="s"/></body></worldbody>)";

// ---- files and XML

TEST_F(BadFiles, a_file_that_includes_itself) {
  expect_refused("<mujoco>\n<include file=\"robot.xml\"/>\n</mujoco>", 2, "<include",
                 {"'robot.xml'", "cycle", "only once"});
}

TEST_F(BadFiles, a_mesh_that_is_a_pipe_nobody_writes_to) {
  ASSERT_EQ(mkfifo((directory / "pipe.stl").c_str(), 0600), 0);
  expect_refused(
      "<mujoco>\n<asset><mesh name=\"m\" file=\"pipe.stl\"/></asset>\n"
      "<worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>",
      2, "<mesh", {"pipe.stl", "not a regular file"});
}

TEST_F(BadFiles, two_files_that_include_each_other) {
  write("a.xml", "<mujocoinclude>\n\n<include file=\"b.xml\"/></mujocoinclude>");
  write("b.xml", "<mujocoinclude><include file=\"a.xml\"/></mujocoinclude>");
  expect_refused("<mujoco><include file=\"a.xml\"/></mujoco>", 1, "<include", {"'a.xml'", "cycle"}, "b.xml");
}

TEST_F(BadFiles, an_include_of_a_file_that_is_not_there) {
  expect_refused("<mujoco>\n\n<include file=\"legs.xml\"/></mujoco>", 3, "<include",
                 {"'legs.xml'", "neither at"});
}

TEST_F(BadFiles, an_include_that_is_no_file_names_who_includes_it) {
  ASSERT_EQ(mkfifo((directory / "pipe.xml").c_str(), 0600), 0);
  fs::create_directories(directory / "parts");
  for (const char* name : {".", "parts", "pipe.xml", "/dev/zero"}) {
    expect_refused(fmt::format("<mujoco>\n\n<include file=\"{}\"/></mujoco>", name), 3, "<include", {name});
  }
  write("legs.xml", "<mujocoinclude>\n<include file=\"parts\"/></mujocoinclude>");
  expect_refused("<mujoco><include file=\"legs.xml\"/></mujoco>", 2, "<include", {"directory"}, "legs.xml");
}

TEST_F(BadFiles, a_coupling_of_joints_without_a_single_coordinate) {
  for (const char* type : {"ball", "free"}) {
    expect_refused(
        fmt::format("<mujoco><worldbody><body><joint name=\"b\" type=\"{}\"/><geom size=\".1\"/></body>"
                    "</worldbody>\n<equality><joint joint1=\"b\"/></equality></mujoco>",
                    type),
        2, "<joint", {"'b'", "hinges or slides"});
  }
}

TEST_F(BadFiles, a_body_with_two_inertias) {
  expect_refused(world("<body><frame><inertial pos=\"0 0 0\" mass=\"1\"/></frame>\n"
                       "<inertial pos=\"0 0 0\" mass=\"1\"/></body>"),
                 4, "<inertial", {"another", "keep one"});
}

TEST_F(BadFiles, faces_that_are_turned_against_each_other) {
  expect_refused(
      "<mujoco><asset>\n<mesh name=\"m\" inertia=\"exact\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\" "
      "face=\"0 2 1 0 1 3 1 2 3 0 2 3\"/></asset><worldbody><body><geom type=\"mesh\" "
      "mesh=\"m\"/></body></worldbody></mujoco>",
      2, "<mesh", {"turned against each other", "convex"});
}

TEST_F(BadFiles, a_medium_of_negative_density) {
  expect_refused("<mujoco>\n<option density=\"-1\"/></mujoco>", 2, "<option", {"density is -1"});
}

TEST_F(BadFiles, an_attribute_that_is_given_twice) {
  expect_refused(world("<geom size=\"1\"\n pos=\"0 0 1\" size=\"2\"/>"), 3, "<geom",
                 {"size is given twice", "keep one"});
  write("legs.xml", "<mujocoinclude>\n<option timestep=\"1\" timestep=\"1\"/></mujocoinclude>");
  expect_refused("<mujoco><include file=\"legs.xml\"/></mujoco>", 2, "<option", {"timestep is given twice"},
                 "legs.xml");
}

TEST_F(BadFiles, text_that_is_not_utf8) {
  std::string wide;
  for (const char c : std::string("<mujoco/>")) wide += {c, '\0'};
  for (const std::string& text : {wide, "\xff\xfe" + wide}) {
    expect_refused(text, 1, "", {"UTF-16", "save it as UTF-8"});
  }
}

TEST_F(BadFiles, an_include_without_a_file) {
  expect_refused("<mujoco>\n<include/></mujoco>", 2, "<include>", {"file is missing", "name the file"});
}

TEST_F(BadFiles, an_error_inside_an_included_file_names_that_file) {
  write("legs.xml", "<mujocoinclude>\n<worldbody>\n<geom size=\"-1\"/></worldbody></mujocoinclude>");
  expect_refused("<mujoco><include file=\"legs.xml\"/></mujoco>", 3, "<geom", {"size", "positive"},
                 "legs.xml");
}

TEST_F(BadFiles, gravity_that_actuators_carry_while_they_are_turned_off) {
  expect_refused(
      "<mujoco><option><flag actuation=\"disable\"/></option><worldbody><body gravcomp=\"1\">\n"
      "<joint name=\"j\" actuatorgravcomp=\"true\"/><geom size=\"1\"/></body></worldbody>"
      "<actuator><motor joint=\"j\"/></actuator></mujoco>",
      2, "<joint name=\"j\">", {"actuation is disabled", "leave it out"});
}

TEST_F(BadFiles, xml_that_is_cut_off) {
  expect_refused("<mujoco>\n<worldbody>\n<body>", 3, "<body>",
                 {"not well-formed XML", "check that tags and quotes are closed"});
}

TEST_F(BadFiles, elements_nested_beyond_reason) {
  std::string text = "<mujoco><worldbody>\n";
  for (int i = 0; i < 200'000; ++i) text += "<body>";
  for (int i = 0; i < 200'000; ++i) text += "</body>";
  expect_refused(text + "</worldbody></mujoco>", 2, "<body", {"nested more than", "flatten"});
}

TEST_F(BadFiles, default_classes_nested_beyond_reason) {
  std::string text = "<mujoco>\n";
  for (int i = 0; i < 100'000; ++i) text += fmt::format("<default class=\"c{}\">", i);
  for (int i = 0; i < 100'000; ++i) text += "</default>";
  expect_refused(text + "</mujoco>", 2, "<default", {"nested more than"});
}

TEST_F(BadFiles, a_model_that_attaches_itself) {
  expect_refused(R"(<mujoco>
<asset><model name="me" file="robot.xml"/></asset>
<worldbody><attach model="me" prefix="a_"/></worldbody></mujoco>)",
                 3, "<attach", {"more than", "cycle"});
}

// ---- counts

TEST_F(BadFiles, a_billion_replicas) {
  expect_refused(world("<replicate count=\"1000000000\"><geom size=\"1\"/></replicate>"), 3, "<replicate",
                 {"1000000000", "at most"});
}

TEST_F(BadFiles, replicas_of_replicas_of_replicas) {
  std::string text;
  for (int i = 0; i < 5; ++i) text += "<replicate count=\"1000\">\n";
  text += "<geom size=\"1\"/>";
  for (int i = 0; i < 5; ++i) text += "</replicate>";
  expect_refused(world(text), 8, "<geom>", {"more than 100000 elements", "lower the count of <replicate>"});
}

TEST_F(BadFiles, a_height_field_with_a_billion_rows) {
  expect_refused(
      "<mujoco>\n<asset>\n<hfield name=\"f\" nrow=\"1000000000\" ncol=\"1000000000\" size=\"1 1 1 1\"/>"
      "</asset>\n<worldbody><geom type=\"hfield\" hfield=\"f\"/></worldbody></mujoco>",
      3, "<hfield", {"1000000000", "make it coarser"});
}

TEST_F(BadFiles, a_count_beyond_32_bits) {
  expect_refused(world("<replicate count=\"99999999999999\"><geom size=\"1\"/></replicate>"), 3, "<replicate",
                 {"count", "whole number"});
}

TEST_F(BadFiles, a_negative_count_of_replicas) {
  expect_refused(world("<replicate count=\"-3\"><geom size=\"1\"/></replicate>"), 3, "<replicate",
                 {"count", "positive"});
}

// ---- numbers

TEST_F(BadFiles, not_a_number) {
  expect_refused(world("<body name=\"b\" pos=\"0 nan 0\"/>"), 3, "<body name=\"b\">",
                 {"pos", "'nan'", "finite number"});
}

TEST_F(BadFiles, infinity) {
  expect_refused(world("<geom size=\"inf\"/>"), 3, "<geom", {"size", "'inf'", "finite number"});
}

TEST_F(BadFiles, a_number_that_overflows) {
  expect_refused(world("<geom size=\"1e999\"/>"), 3, "<geom", {"size", "'1e999'", "finite number"});
}

TEST_F(BadFiles, a_word_where_a_number_should_be) {
  expect_refused(world("<geom size=\"big\"/>"), 3, "<geom", {"size", "'big'", "write numbers like"});
}

TEST_F(BadFiles, numbers_with_commas) {
  expect_refused(world("<geom size=\"1,2,3\" type=\"box\"/>"), 3, "<geom", {"size", "spaces between them"});
}

TEST_F(BadFiles, too_many_numbers) {
  expect_refused(world("<geom size=\"1\" pos=\"1 2 3 4\"/>"), 3, "<geom", {"pos has 4 numbers", "needs 3"});
}

TEST_F(BadFiles, too_few_numbers) {
  expect_refused(world("<geom size=\"1\" quat=\"1 0 0\"/>"), 3, "<geom", {"quat has 3 numbers", "needs 4"});
}

TEST_F(BadFiles, numbers_whose_product_overflows) {
  expect_refused(world("<body><freejoint/><geom size=\"1e150\"/></body>"), 3, "<body",
                 {"mass or inertia overflows", "check the sizes"});
}

TEST_F(BadFiles, a_timestep_of_zero) {
  expect_refused("<mujoco>\n<option timestep=\"0\"/></mujoco>", 2, "<option", {"timestep", "positive"});
}

// ---- names

TEST_F(BadFiles, an_actuator_on_a_joint_that_is_misspelt) {
  expect_refused("<mujoco>" + one_body + "\n<actuator>\n<motor name=\"m\" joint=\"jj\"/></actuator></mujoco>",
                 4, "<motor name=\"m\">", {"'jj'", "did you mean 'j'"});
}

TEST_F(BadFiles, two_bodies_of_one_name) {
  expect_refused(world("<body name=\"b\"/>\n<body name=\"b\"/>"), 4, "<body name=\"b\">",
                 {"another body", "rename"});
}

TEST_F(BadFiles, two_joints_of_one_name) {
  expect_refused(
      world("<body><joint name=\"j\"/><joint name=\"j\" axis=\"1 0 0\"/><geom size=\"1\"/></body>"), 3,
      "<joint name=\"j\">", {"another joint", "rename"});
}

TEST_F(BadFiles, a_class_that_does_not_exist) {
  expect_refused(
      "<mujoco><default><default class=\"visual\"/></default>\n<worldbody>\n"
      "<geom class=\"visaul\" size=\"1\"/></worldbody></mujoco>",
      3, "<geom", {"'visaul'", "did you mean 'visual'"});
}

TEST_F(BadFiles, a_mesh_that_is_not_among_the_assets) {
  expect_refused(world("<geom type=\"mesh\" mesh=\"wheel\"/>"), 3, "<geom", {"'wheel'", "<asset>"});
}

TEST_F(BadFiles, a_sensor_at_a_site_that_does_not_exist) {
  expect_refused("<mujoco>" + one_body + "\n<sensor><gyro site=\"imu\"/></sensor></mujoco>", 3, "<gyro>",
                 {"'imu'", "there are 's'"});
}

TEST_F(BadFiles, a_keyword_that_does_not_exist) {
  expect_refused(world("<body><joint type=\"revolute\"/><geom size=\"1\"/></body>"), 3, "<joint",
                 {"type", "'revolute'", "hinge"});
}

// ---- bodies

TEST_F(BadFiles, an_inertia_no_body_has) {
  expect_refused(world("<body><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 3\"/></body>"), 3, "<body",
                 {"moments of inertia", "balanceinertia"});
}

TEST_F(BadFiles, an_inertia_that_is_not_positive_definite) {
  expect_refused(world("<body>\n<inertial pos=\"0 0 0\" mass=\"1\" fullinertia=\"1 1 1 2 0 0\"/></body>"), 4,
                 "<inertial", {"positive definite", "check the signs"});
}

TEST_F(BadFiles, a_negative_mass) {
  expect_refused(world("<body><inertial pos=\"0 0 0\" mass=\"-1\" diaginertia=\"1 1 1\"/></body>"), 3,
                 "<inertial", {"mass is -1", "negative"});
}

TEST_F(BadFiles, a_moving_body_without_mass) {
  expect_refused(world("<body name=\"b\"><joint/></body>"), 3, "<body name=\"b\"",
                 {"no mass", "add a geom", "<inertial>"});
}

TEST_F(BadFiles, a_free_joint_below_another_body) {
  expect_refused(world("<body name=\"a\"><body name=\"b\">\n<freejoint/><geom size=\"1\"/></body></body>"), 4,
                 "<freejoint>", {"only joint", "child of the world"});
}

TEST_F(BadFiles, a_free_joint_beside_another_joint) {
  expect_refused(
      world("<body name=\"b\"><joint name=\"j\"/>\n<freejoint name=\"f\"/><geom size=\"1\"/></body>"), 4,
      "<freejoint name=\"f\">", {"only joint", "child of the world"});
}

TEST_F(BadFiles, an_axis_without_length) {
  expect_refused(world("<body><joint name=\"j\" axis=\"0 0 0\"/><geom size=\"1\"/></body>"), 3, "<joint",
                 {"axis", "length"});
}

TEST_F(BadFiles, a_range_that_is_upside_down) {
  expect_refused(world("<body><joint limited=\"true\" range=\"1 -1\"/><geom size=\"1\"/></body>"), 3,
                 "<joint", {"range", "first number must be smaller"});
}

TEST_F(BadFiles, a_joint_in_the_world) {
  expect_refused(world("<joint/>"), 3, "<joint", {"world has no joints", "into a body"});
}

TEST_F(BadFiles, a_box_with_one_size) {
  expect_refused(world("<geom type=\"box\" size=\"1\"/>"), 3, "<geom", {"size", "three half sizes"});
}

TEST_F(BadFiles, a_plane_on_a_moving_body) {
  expect_refused(world("<body><joint/><geom size=\"1\"/>\n<geom type=\"plane\" size=\"1 1 1\"/></body>"), 4,
                 "<geom", {"plane", "use a box"});
}

TEST_F(BadFiles, two_ways_to_give_an_orientation) {
  expect_refused(world("<geom size=\"1\" quat=\"1 0 0 0\" euler=\"0 0 0\"/>"), 3, "<geom", {"quat", "euler"});
}

TEST_F(BadFiles, a_quaternion_of_zeros) {
  expect_refused(world("<geom size=\"1\" quat=\"0 0 0 0\"/>"), 3, "<geom", {"quat"});
}

// ---- what we do not have

TEST_F(BadFiles, a_plugin_would_change_the_motion) {
  expect_refused("<mujoco><extension>\n<plugin plugin=\"mujoco.pid\"/></extension></mujoco>", 2, "<plugin",
                 {"not supported", "remove it"});
}

TEST_F(BadFiles, a_deformable_body_would_change_the_motion) {
  expect_refused(world("<flexcomp name=\"f\" type=\"grid\" count=\"3 3 3\" spacing=\"1 1 1\"/>"), 3,
                 "<flexcomp", {"not supported"});
}

// A `general` shares the defaults of all kinds.
TEST_F(BadFiles, an_actuator_whose_class_is_of_a_kind_that_is_not_supported) {
  expect_refused("<mujoco><default><default class=\"c\"><muscle/></default></default>" + one_body +
                     "\n<actuator><general class=\"c\" joint=\"j\"/></actuator></mujoco>",
                 3, "<general", {"<muscle>", "is not supported"});
}

TEST_F(BadFiles, an_actuator_that_acts_on_nothing) {
  expect_refused("<mujoco>" + one_body + "\n<actuator><motor name=\"m\"/></actuator></mujoco>", 3, "<motor",
                 {"acts on nothing", "give joint"});
}

// ---- meshes

class BadMeshes : public BadFiles {
 protected:
  // A model of one mesh; the element is on line 2, what uses it on line 3.
  void expect_mesh_refused(const std::string& file, std::string_view bytes, int line,
                           const std::string& element, std::initializer_list<std::string> parts) const {
    if (!bytes.empty()) write(file, bytes);
    expect_refused("<mujoco><asset>\n<mesh name=\"m\" file=\"" + file +
                       "\"/></asset>\n<worldbody><body><freejoint/><geom type=\"mesh\" "
                       "mesh=\"m\"/></body></worldbody></mujoco>",
                   line, element, parts);
  }
  static std::string stl(std::uint32_t count, std::size_t bytes) {
    std::string text(80, ' ');
    text.append(reinterpret_cast<const char*>(&count), 4);
    return text + std::string(bytes, '\0');
  }
};

TEST_F(BadMeshes, a_mesh_file_that_is_not_there) {
  expect_mesh_refused("wheel.stl", "", 2, "<mesh", {"wheel.stl", "check meshdir"});
}

TEST_F(BadMeshes, a_binary_stl_that_is_cut_off) {
  expect_mesh_refused("a.stl", stl(100, 50), 2, "<mesh name=\"m\">",
                      {"a.stl", "100", "export the mesh again"});
}

TEST_F(BadMeshes, a_binary_stl_that_promises_four_billion_triangles) {
  expect_mesh_refused("a.stl", stl(4'000'000'000u, 500), 2, "<mesh name=\"m\">",
                      {"a.stl", "4000000000", "export the mesh again"});
}

// The largest coordinate of such a vertex may well be finite.
TEST_F(BadMeshes, a_binary_stl_with_a_coordinate_that_is_no_number) {
  for (const std::size_t coordinate : {0u, 1u, 2u}) {
    std::string bytes = stl(1, 50);
    std::fill_n(bytes.begin() + 84 + 12 + 4 * static_cast<std::ptrdiff_t>(coordinate), 4, '\xff');
    expect_mesh_refused("a.stl", bytes, 2, "<mesh name=\"m\">",
                        {"a.stl", "triangle 0", "not finite", "export the mesh again"});
  }
}

TEST_F(BadMeshes, an_empty_stl) {
  expect_mesh_refused("a.stl", stl(0, 0), 2, "<mesh name=\"m\">", {"a.stl", "export the mesh again"});
}

TEST_F(BadMeshes, an_obj_with_a_face_beyond_its_vertices) {
  expect_mesh_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 9\n", 2, "<mesh name=\"m\">",
                      {"a.obj", "export the mesh again"});
}

TEST_F(BadMeshes, an_obj_with_numbers_that_are_none) {
  expect_mesh_refused("a.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n", 2, "<mesh name=\"m\">",
                      {"a.obj", "export the mesh again"});
}

TEST_F(BadMeshes, an_obj_with_a_zero_of_an_absurd_exponent) {
  expect_mesh_refused("a.obj", "v 0e999 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n", 2, "<mesh name=\"m\">",
                      {"a.obj", "not finite", "export the mesh again"});
}

TEST_F(BadMeshes, an_obj_with_faces_of_very_many_corners) {
  std::string face = "f";
  for (int i = 0; i < 1500; ++i) face += fmt::format(" {}", i % 4 + 1);
  const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
  expect_mesh_refused("a.obj", vertices + face + face.substr(1) + "\n", 2, "<mesh name=\"m\">",
                      {"a.obj:5", "3000 corners", "triangulate the mesh"});
  std::string many = vertices;
  for (int i = 0; i < 45; ++i) many += face + "\n";
  expect_mesh_refused("a.obj", many, 2, "<mesh name=\"m\">",
                      {"a.obj:49", "takes long", "triangulate the mesh"});
}

TEST_F(BadMeshes, a_flat_mesh_that_should_weigh_something) {
  expect_mesh_refused("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n", 3, "<geom",
                      {"no volume", "inertial"});
}

TEST_F(BadMeshes, a_mesh_of_a_format_we_do_not_read) {
  expect_mesh_refused("a.fbx", "binary", 2, "<mesh", {"a.fbx", ".stl"});
}

TEST_F(BadMeshes, text_that_calls_itself_stl) {
  expect_mesh_refused("a.stl", "this is not a mesh", 2, "<mesh name=\"m\">",
                      {"a.stl", "export the mesh again"});
}

TEST_F(BadMeshes, a_mesh_under_the_name_of_another_format) {
  const std::string obj =
      "# made by hand\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  expect_mesh_refused("a.stl", obj, 2, "<mesh name=\"m\">", {"a.stl", "is a obj file", "ends in .obj"});
  expect_mesh_refused("a.obj", "ply\nformat ascii 1.0\n", 2, "<mesh name=\"m\">", {"a.obj", "ends in .ply"});
  expect_mesh_refused("b.stl", "<?xml version=\"1.0\"?><COLLADA></COLLADA>", 2, "<mesh name=\"m\">",
                      {"b.stl", "ends in .dae"});
  expect_mesh_refused("a.dae", "solid a\nfacet normal 0 0 1\n", 2, "<mesh name=\"m\">", {"ends in .stl"});
}

TEST_F(BadMeshes, a_pointer_of_git_lfs) {
  expect_mesh_refused("a.stl", "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 45684\n", 2,
                      "<mesh name=\"m\">", {"a.stl", "Git LFS", "git lfs pull"});
}

TEST_F(BadMeshes, a_ply_that_promises_four_billion_vertices) {
  expect_mesh_refused("a.ply",
                      "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\n"
                      "property float y\nproperty float z\nelement face 1\n"
                      "property list uchar int vertex_indices\nend_header\n",
                      2, "<mesh name=\"m\">", {"a.ply", "export the mesh again"});
}

TEST_F(BadMeshes, a_mesh_scaled_to_nothing) {
  write("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  expect_refused(
      "<mujoco><asset>\n<mesh name=\"m\" file=\"a.obj\" scale=\"1 0 1\"/></asset>\n<worldbody><geom "
      "type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>",
      2, "<mesh name=\"m\">", {"scale has a zero", "must be positive"});
}

TEST_F(BadMeshes, a_height_field_with_too_few_numbers) {
  expect_refused(
      "<mujoco><asset>\n<hfield name=\"f\" nrow=\"2\" ncol=\"2\" size=\"1 1 1 1\" elevation=\"1 2 "
      "3\"/></asset>"
      "<worldbody><geom type=\"hfield\" hfield=\"f\"/></worldbody></mujoco>",
      2, "<hfield", {"elevation has 3 numbers", "need 4", "give one for each"});
}

}  // namespace
}  // namespace articula::testing::bad_files_test
