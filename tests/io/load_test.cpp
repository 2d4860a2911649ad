#include "articula/io/load.hpp"

#include <fstream>

#include "articula/error.hpp"

namespace articula::load_test {
namespace {

namespace fs = std::filesystem;

std::string error_of(const std::string& what) {
  try {
    describe(what);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_mentions(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks " << part;
}

class Load : public testing::Test {
 protected:
  Load()
      : directory(fs::path(testing::TempDir()) /
                  testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(directory);
  }
  ~Load() override { fs::remove_all(directory); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory / name, std::ios::binary) << text;
    return (directory / name).string();
  }

  fs::path directory;
};

TEST_F(Load, every_built_in_model_is_loaded_by_name_and_builds) {
  const std::vector<std::string> names = model_names();
  EXPECT_GE(names.size(), 20u);
  for (const std::string& name : names) {
    const Description d = describe(name);
    EXPECT_TRUE(d.warnings.empty()) << name << ": " << d.warnings[0];
    EXPECT_NO_THROW(build(d)) << name;
  }
}

TEST_F(Load, a_chain_has_as_many_joints_as_its_name_says) {
  const Model model = load("chain12");
  EXPECT_EQ(model.nv(), 12);
  EXPECT_EQ(error_of("chain0").empty(), false);
}

TEST_F(Load, a_misspelt_name_is_answered_with_the_nearest_one) {
  expect_mentions(error_of("quadrupet"), {"'quadrupet'", "did you mean 'quadruped'"});
}

TEST_F(Load, a_missing_file_is_answered_with_the_files_beside_it) {
  write("robot.xml", "<mujoco/>");
  expect_mentions(error_of((directory / "robto.xml").string()), {"there is no such file", "'robot.xml'"});
  expect_mentions(error_of((directory / "nowhere" / "a.xml").string()), {"no directory"});
}

TEST_F(Load, a_directory_an_archive_and_text_are_told_apart) {
  write("robot.xml", "<mujoco/>");
  expect_mentions(error_of(directory.string()), {"is a directory", "robot.xml"});
  expect_mentions(error_of(write("robot.zip", "PK\x03\x04 and so on")), {"archive", "unpack"});
  expect_mentions(error_of(write("robot.txt", "nothing")), {"no XML element", "MJCF (<mujoco>)"});
  expect_mentions(error_of(write("page.html", "<html></html>")), {"web page", "download"});
  expect_mentions(error_of(write("robot.svg", "<svg></svg>")), {"<svg>", "MJCF (<mujoco>)"});
  expect_mentions(error_of(write("pointer.xml", "version https://git-lfs.github.com/spec/v1\n")),
                  {"git lfs pull"});
  expect_mentions(error_of(write("part.xml", "<mujocoinclude/>")), {"include"});
}

TEST_F(Load, a_floating_base_is_refused_where_the_format_has_its_own_way_to_say_it) {
  LoadOptions options;
  options.floating_base = true;
  for (const auto& [text, part] : {std::pair("<mujoco/>", "freejoint"), std::pair("<sdf/>", "move freely")}) {
    try {
      describe(write("robot.xml", text), options);
      ADD_FAILURE() << text << " was read";
    } catch (const Error& error) {
      expect_mentions(error.what(), {"robot.xml:1", "floating base", part});
    }
  }
}

TEST_F(Load, a_format_is_recognised_behind_declarations_and_comments) {
  const std::string file =
      write("robot.xml", "<?xml version=\"1.0\"?>\n<!-- <robot> -->\n<!DOCTYPE x>\n<mujoco model=\"m\"/>");
  EXPECT_EQ(describe(file).name, "m");
}

}  // namespace
}  // namespace articula::load_test
