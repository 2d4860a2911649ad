#pragma once
// Between NumPy and Eigen. Arrays that come in may have any strides and any real dtype; they are read without
// a copy where they are contiguous doubles. Arrays that go out are views on our memory, which their owner (an
// object of ours, the array's base) keeps alive. Our columns are NumPy's rows: n x N in memory is (N, n).

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "articula/error.hpp"
#include "articula/math/types.hpp"

namespace articula::python {

namespace py = pybind11;

using Numbers = py::array_t<double, py::array::c_style>;
using Shape = std::initializer_list<py::ssize_t>;

// Throws TypeError for what holds no real numbers. `what` names the argument.
Numbers numbers(const char* what, py::handle given);

std::string shape_text(const py::ssize_t* shape, py::ssize_t dimensions);
// Throws Error for another shape.
void require_shape(const char* what, const py::array& given, Shape shape);
Numbers numbers(const char* what, py::handle given, Shape shape);
// Throws Error, naming the first entry that is not finite.
void require_finite(const char* what, const double* data, py::ssize_t size);

inline Eigen::Map<const VectorX> as_vector(const Numbers& array) {
  return {array.data(), static_cast<Eigen::Index>(array.size())};
}
// (columns, rows) in NumPy.
inline Eigen::Map<const MatrixX> as_columns(const Numbers& array, Eigen::Index rows, Eigen::Index columns) {
  return {array.data(), rows, columns};
}

// Views. Vectors and matrices must keep their sizes as long as views of them may live.
py::array view(const double* data, Shape shape, py::handle owner, bool writeable = true);
inline py::array view(VectorX& x, py::handle owner) { return view(x.data(), {x.size()}, owner); }
inline py::array view_rows(MatrixX& x, py::handle owner) {
  return view(x.data(), {x.cols(), x.rows()}, owner);
}
inline py::array read_only(const VectorX& x, py::handle owner) {
  return view(x.data(), {x.size()}, owner, false);
}

// Copies.
inline py::array copy(const Eigen::Ref<const VectorX>& x) { return py::array_t<double>(x.size(), x.data()); }
py::array copy_rows(const ConstMatrixRef& x);    // n x N as (N, n)
py::array copy_matrix(const ConstMatrixRef& x);  // rows x columns, as it reads

// Text for people: bytes that are no UTF-8, which a name in a file may have, are spelled \xff.
inline py::str text(std::string_view value) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(value.data(), static_cast<py::ssize_t>(value.size()), "backslashreplace"));
}
// A str as UTF-8. Throws TypeError for what is none, `what` names it, and UnicodeEncodeError for half a
// surrogate pair.
std::string utf8(const char* what, py::handle given);
// Throws TypeError for what is neither text nor a path, ValueError where it holds a zero byte.
std::filesystem::path path(py::handle given);

// pybind11 gives an object whose __init__ did not run (`Model.__new__(Model)`) uninitialised memory on its
// first use, through this function where a class has one.
template <class Type>
[[noreturn]] void* refuse_uninitialised(std::size_t) {
  throw py::type_error(py::type::of<Type>().attr("__name__").template cast<std::string>() +
                       ".__init__() was not called: this object holds nothing");
}

// Classes are what `articula` exports, wherever the compiled module lies: so that pickles find them.
template <class Class>
Class& exported(Class& bound) {
  bound.attr("__module__") = "articula";
  auto* const type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  py::detail::get_type_info(type)->operator_new = &refuse_uninitialised<typename Class::type>;
  return bound;
}

}  // namespace articula::python
