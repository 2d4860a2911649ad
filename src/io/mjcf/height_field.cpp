#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "articula/model/names.hpp"
#include "io/files.hpp"
#include "io/mjcf/assets.hpp"

namespace articula::mjcf {

namespace {

// Rows from the bottom up, as in the model; in an image and in the XML the top one comes first.
struct Grid {
  int rows = 0, columns = 0;
  std::vector<float> values;
};

void require_size(const Reader& reader, const Element& element, long long rows, long long columns) {
  if (rows < 2 || columns < 2) {
    fail(element, "a height field of {} rows and {} columns; it needs at least two of each", rows, columns);
  }
  const std::size_t left = reader.options.most_field_cells - reader.field_cells;
  if (rows * columns > static_cast<long long>(left)) {
    fail(element, "with a height field of {} by {} there are more than {} cells; make it coarser", rows,
         columns, reader.options.most_field_cells);
  }
}

// The bytes of a PNG as libpng asks for them.
struct Source {
  std::string_view bytes;
};

void give_bytes(png_structp png, png_bytep out, png_size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->bytes.size()) png_error(png, "the file is cut off");
  std::memcpy(out, source->bytes.data(), count);
  source->bytes.remove_prefix(count);
}

struct Failure {
  char text[200] = "";
};

[[noreturn]] void note_failure(png_structp png, png_const_charp message) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::strncpy(failure->text, message, sizeof failure->text - 1);
  longjmp(png_jmpbuf(png), 1);
}

void ignore_warning(png_structp, png_const_charp) {}

// libpng leaves by longjmp, past which no destructor runs: everything it needs lives in the caller.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : source_{bytes} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &failure_, note_failure, ignore_warning);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool read_header() {
    if (png_ == nullptr || info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, &source_, give_bytes);
    png_read_info(png_, info_);
    return true;
  }
  long long width() const { return png_get_image_width(png_, info_); }
  long long height() const { return png_get_image_height(png_, info_); }

  // Eight bits a channel; for colours the first (red) channel counts, as in MuJoCo.
  bool prepare() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  std::size_t channels() const { return png_get_channels(png_, info_); }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    return true;
  }
  const char* failure() const { return failure_.text; }

 private:
  Failure failure_;
  Source source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

Grid read_png(const Reader& reader, const Element& element, std::string_view bytes) {
  PngReader png(bytes);
  if (!png.read_header()) fail(element, "the PNG file cannot be read: {}", png.failure());
  require_size(reader, element, png.height(), png.width());
  if (!png.prepare()) fail(element, "the PNG file cannot be read: {}", png.failure());
  Grid grid{static_cast<int>(png.height()), static_cast<int>(png.width()), {}};
  std::vector<png_byte> pixels(png.row_bytes() * static_cast<std::size_t>(grid.rows));
  std::vector<png_bytep> rows;
  for (int r = 0; r < grid.rows; ++r)
    rows.push_back(pixels.data() + png.row_bytes() * static_cast<std::size_t>(r));
  if (!png.read_rows(rows.data())) fail(element, "the PNG file cannot be read: {}", png.failure());
  grid.values.reserve(static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns));
  for (int r = grid.rows - 1; r >= 0; --r) {
    for (int c = 0; c < grid.columns; ++c) {
      grid.values.push_back(rows[static_cast<std::size_t>(r)][png.channels() * static_cast<std::size_t>(c)]);
    }
  }
  return grid;
}

// Rows, columns (four bytes each) and the values, already from the bottom up.
Grid read_binary(const Reader& reader, const Element& element, std::string_view bytes) {
  std::array<std::int32_t, 2> counts{};
  if (bytes.size() < sizeof counts) fail(element, "the height field's file has no header");
  std::memcpy(counts.data(), bytes.data(), sizeof counts);
  require_size(reader, element, counts[0], counts[1]);
  Grid grid{counts[0], counts[1],
            std::vector<float>(static_cast<std::size_t>(counts[0]) * static_cast<std::size_t>(counts[1]))};
  if (bytes.size() != sizeof counts + 4 * grid.values.size()) {
    fail(element, "a height field of {} by {} needs {} bytes, but its file has {}", counts[0], counts[1],
         sizeof counts + 4 * grid.values.size(), bytes.size());
  }
  std::memcpy(grid.values.data(), bytes.data() + sizeof counts, 4 * grid.values.size());
  return grid;
}

Grid read_inline(const Reader& reader, const Attributes& a) {
  Grid grid;
  a.read("nrow", grid.rows);
  a.read("ncol", grid.columns);
  require_size(reader, a.element(), grid.rows, grid.columns);
  const std::size_t cells = static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns);
  const std::vector<double> given = a.list("elevation");
  if (!given.empty() && given.size() != cells) {
    fail(a.element(),
         "attribute elevation has {} numbers; {} rows and {} columns need {}: give one for each, row by row",
         given.size(), grid.rows, grid.columns, cells);
  }
  grid.values.assign(cells, 0.0f);
  const auto columns = static_cast<std::size_t>(grid.columns);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t row = static_cast<std::size_t>(grid.rows) - 1 - i / columns;
    grid.values[row * columns + i % columns] = static_cast<float>(given[i]);
  }
  return grid;
}

Grid read_grid(Reader& reader, const Attributes& a) {
  const std::string file = a.element().text("file");
  if (file.empty()) return read_inline(reader, a);
  if (a.has("nrow") || a.has("ncol") || a.has("elevation")) {
    fail(a.element(), "a height field has either a file or nrow, ncol and elevation");
  }
  const std::filesystem::path path = find_asset(reader, a.element(), file);
  const std::string bytes = read_file(path, reader.options.mesh_limits.bytes);
  const bool png = bytes.starts_with("\x89PNG");
  return png ? read_png(reader, a.element(), bytes) : read_binary(reader, a.element(), bytes);
}

}  // namespace

// Elevations are brought to [0, 1], in single precision.
const HeightField& use_height_field(Reader& reader, const Element& user, const std::string& name) {
  const auto found = reader.height_fields.find(name);
  if (found == reader.height_fields.end()) {
    std::vector<std::string> known;
    for (const auto& [other, unused] : reader.height_fields) known.push_back(other);
    fail(user, "attribute hfield: there is no height field '{}' in <asset>{}", name, suggestion(name, known));
  }
  if (found->second.field != nullptr) return *found->second.field;
  const Attributes a(found->second.element);
  auto field = std::make_shared<HeightField>();
  field->name = name;
  if (a.has("file")) field->file = find_asset(reader, a.element(), a.text("file")).string();
  if (!a.read("size", field->size, 4)) fail(a.element(), "attribute size is missing; it needs 4 numbers");
  if (*std::min_element(field->size.begin(), field->size.end()) <= 0.0) {
    fail(a.element(), "attribute size: all four numbers must be positive");
  }
  const Grid grid = read_grid(reader, a);
  reader.field_cells += grid.values.size();
  field->rows = grid.rows;
  field->columns = grid.columns;
  if (!std::all_of(grid.values.begin(), grid.values.end(), [](float v) { return std::abs(v) < 1e30f; })) {
    fail(a.element(), "an elevation is not a finite number; write the file again");
  }
  const auto [low, high] = std::minmax_element(grid.values.begin(), grid.values.end());
  const float span = *high - *low;
  field->elevation.reserve(grid.values.size());
  for (float value : grid.values) {
    field->elevation.push_back(span > 1e-14f ? (value - *low) / span : value - *low);
  }
  found->second.field = field;
  reader.description.height_fields.push_back(std::move(field));
  return *found->second.field;
}

}  // namespace articula::mjcf
