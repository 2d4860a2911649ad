#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// <attach>: adds a body of another model, or all of it, to the body `parent` at `pose`. Names get the
// element's prefix and the suffix of the replica it stands in.
void attach_model(Reader& reader, const Element& element, const std::string& parent, const Pose& pose);

// The model in a file, for <attach> (mjcf.cpp).
Attachable read_attachable(const std::filesystem::path& file, const LoadOptions& options);

// What attached models brought beside bodies stands behind the model's own elements: `set_aside` takes
// it out when the tree is read, `append` puts it back at the end.
Description set_aside_attached(Reader& reader);
void append_attached(Reader& reader, Description attached);

}  // namespace articula::mjcf
