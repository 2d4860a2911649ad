#include "arrays.hpp"

#include <fmt/format.h>

#include <cmath>

namespace articula::python {

namespace {

[[gnu::cold, gnu::noinline]] Numbers convert(const char* what, py::handle given) {
  py::array any = py::array::ensure(given);
  const char kind = any ? any.dtype().kind() : 'O';
  if (kind != 'f' && kind != 'i' && kind != 'u') {
    PyErr_Clear();
    const std::string type = any ? "an array of dtype " + py::str(any.dtype()).cast<std::string>()
                                 : py::str(py::type::handle_of(given).attr("__name__")).cast<std::string>();
    throw py::type_error(fmt::format("{} must be an array of real numbers, not {}", what, type));
  }
  Numbers result = py::array_t < double, py::array::c_style | py::array::forcecast > ::ensure(any);
  if (!result) throw py::error_already_set();
  return result;
}

}  // namespace

Numbers numbers(const char* what, py::handle given) {
  if (Numbers::check_(given)) return py::reinterpret_borrow<Numbers>(given);
  return convert(what, given);
}

std::string shape_text(const py::ssize_t* shape, py::ssize_t dimensions) {
  std::string text = "(";
  for (py::ssize_t i = 0; i < dimensions; ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", shape[i]);
  return text + (dimensions == 1 ? ",)" : ")");
}

void require_shape(const char* what, const py::array& given, Shape shape) {
  const auto dimensions = static_cast<py::ssize_t>(shape.size());
  if (given.ndim() == dimensions && std::equal(shape.begin(), shape.end(), given.shape())) return;
  throw Error("{} has shape {}, not {}", what, shape_text(given.shape(), given.ndim()),
              shape_text(shape.begin(), dimensions));
}

Numbers numbers(const char* what, py::handle given, Shape shape) {
  Numbers result = numbers(what, given);
  require_shape(what, result, shape);
  return result;
}

void require_finite(const char* what, const double* data, py::ssize_t size) {
  for (py::ssize_t i = 0; i < size; ++i)
    if (!std::isfinite(data[i])) throw Error("{} is not finite: entry {} is {}", what, i, data[i]);
}

py::array view(const double* data, Shape shape, py::handle owner, bool writeable) {
  py::array result(py::dtype::of<double>(), py::array::ShapeContainer(shape), data, owner);
  if (!writeable) py::detail::array_proxy(result.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return result;
}

std::string utf8(const char* what, py::handle given) {
  if (!PyUnicode_Check(given.ptr())) {
    throw py::type_error(fmt::format("{} must be a str, not {}", what,
                                     py::type::handle_of(given).attr("__name__").cast<std::string>()));
  }
  py::ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
  if (data == nullptr) throw py::error_already_set();
  return {data, static_cast<size_t>(size)};
}

std::filesystem::path path(py::handle given) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(given.ptr(), &bytes) == 0) throw py::error_already_set();
  return std::string(py::reinterpret_steal<py::bytes>(bytes));
}

py::array copy_rows(const ConstMatrixRef& x) {
  py::array_t<double> result({x.cols(), x.rows()});
  Eigen::Map<MatrixX>(result.mutable_data(), x.rows(), x.cols()) = x;
  return result;
}

py::array copy_matrix(const ConstMatrixRef& x) {
  py::array_t<double> result({x.rows(), x.cols()});
  Eigen::Map<MatrixX>(result.mutable_data(), x.cols(), x.rows()) = x.transpose();
  return result;
}

}  // namespace articula::python
