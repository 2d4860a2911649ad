#pragma once
// Finding what other sections refer to, once the tree is read.

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// The site of that name; an Error where there is none.
const FrameDescription& find_site(const Reader& reader, const Element& element, const char* attribute,
                                  const std::string& name);
// Null where there is none.
const JointDescription* find_joint(const Reader& reader, const std::string& name);
const TendonDescription* find_tendon(const Reader& reader, const std::string& name);

// The element's name in a replica; "" where it has none.
std::string instance_name(const Element& element, const std::string& suffix);

// Throws where one of the names is a spatial tendon, which was left out.
void refuse_drawn_tendon(const Reader& reader, const Element& element,
                         std::initializer_list<std::string> names);

// Notes the joints and sites by name, for the functions above.
void index_tree(Reader& reader);

}  // namespace articula::mjcf
