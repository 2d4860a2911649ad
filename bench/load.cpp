#include "bench/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>

#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"

namespace articula::bench {
namespace {

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double least_milliseconds(int repeats, const std::function<void()>& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) least = std::min(least, milliseconds(work));
  return least;
}

// Ten limbs of a hundred bodies each, every body with a joint, two geometries, a site and a motor.
std::string thousand_bodies() {
  std::string text =
      "<mujoco><default><geom type=\"capsule\" size=\"0.02\"/><joint axis=\"0 1 0\" "
      "damping=\"0.1\"/></default>"
      "<worldbody>\n";
  for (int limb = 0; limb < 10; ++limb) {
    for (int i = 0; i < 100; ++i) {
      text += fmt::format(
          "<body name=\"b{0}_{1}\" pos=\"0.1 0 0\" euler=\"10 0 0\"><joint name=\"j{0}_{1}\" range=\"-90 "
          "90\"/>"
          "<geom fromto=\"0 0 0 0.1 0 0\"/><geom type=\"box\" size=\"0.02 0.03 0.01\" pos=\"0.05 0 0\"/>"
          "<site name=\"s{0}_{1}\" pos=\"0.1 0 0\"/>\n",
          limb, i);
    }
    for (int i = 0; i < 100; ++i) text += "</body>";
  }
  text += "</worldbody>\n<actuator>";
  for (int limb = 0; limb < 10; ++limb) {
    for (int i = 0; i < 100; ++i) text += fmt::format("<motor joint=\"j{}_{}\" gear=\"10\"/>\n", limb, i);
  }
  return text + "</actuator></mujoco>";
}

// A sphere of n x 2n quads.
TriangleMesh sphere(int n) {
  TriangleMesh mesh;
  for (int i = 0; i <= n; ++i) {
    const double polar = std::numbers::pi * i / n;
    for (int j = 0; j < 2 * n; ++j) {
      const double around = std::numbers::pi * j / n;
      mesh.vertices.emplace_back(std::sin(polar) * std::cos(around), std::sin(polar) * std::sin(around),
                                 std::cos(polar));
    }
  }
  const auto vertex = [n](int i, int j) { return i * 2 * n + j % (2 * n); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      mesh.faces.push_back({vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1)});
      mesh.faces.push_back({vertex(i, j), vertex(i + 1, j + 1), vertex(i, j + 1)});
    }
  }
  return mesh;
}

std::string stl_bytes(const TriangleMesh& mesh) {
  std::string bytes(84, '\0');
  const auto count = static_cast<std::uint32_t>(mesh.faces.size());
  std::memcpy(bytes.data() + 80, &count, 4);
  for (const auto& face : mesh.faces) {
    float numbers[12] = {};
    for (std::size_t i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k)
        numbers[3 + 3 * i + static_cast<std::size_t>(k)] =
            static_cast<float>(mesh.vertices[static_cast<std::size_t>(face[i])][k]);
    }
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    bytes.append(2, '\0');
  }
  return bytes;
}

std::string obj_text(const TriangleMesh& mesh) {
  std::string text;
  for (const Vector3& v : mesh.vertices) text += fmt::format("v {:.7g} {:.7g} {:.7g}\n", v[0], v[1], v[2]);
  for (const auto& f : mesh.faces) text += fmt::format("f {} {} {}\n", f[0] + 1, f[1] + 1, f[2] + 1);
  return text;
}

}  // namespace

LoadFigures measure_load(bool full) {
  LoadFigures result;
  const int repeats = full ? 50 : 10;
  const auto add = [&](const std::string& name, double value, const char* unit) {
    result.figures.push_back({name, value, unit});
  };
  for (const std::string& name : model_names()) {
    const std::string file = (models_directory() / (name + ".xml")).string();
    add(name + "/load/ms", least_milliseconds(repeats, [&] { load(file); }), "ms");
  }
  const std::string text = thousand_bodies();
  add("bodies1000/load/ms", least_milliseconds(repeats, [&] { build(parse_mjcf(text)); }), "ms");
  const int n = full ? 500 : 100;  // 4 n^2 triangles
  const TriangleMesh mesh = sphere(n);
  const std::string stl = stl_bytes(mesh), obj = obj_text(mesh);
  const std::string size = fmt::format("triangles{}", mesh.faces.size());
  add(size + "_stl/read/ms", least_milliseconds(2, [&] { read_stl(stl, "sphere.stl"); }), "ms");
  add(size + "_obj/read/ms", least_milliseconds(2, [&] { read_obj(obj, "sphere.obj"); }), "ms");
  const TriangleMesh welded = read_stl(stl, "sphere.stl");
  add(size + "/hull/ms", least_milliseconds(1, [&] { convex_hull(welded.vertices); }), "ms");
  return result;
}

}  // namespace articula::bench
