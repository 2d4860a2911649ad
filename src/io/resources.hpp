#pragma once
// Where the files are that a robot's description names by URI.

#include <filesystem>
#include <string>

#include "articula/io/load_options.hpp"

namespace articula {

// The file that `uri` means in a description that stands in `directory`; an Error that says where it was
// looked for when there is none.
//
// package://NAME/REST and model://NAME/REST are looked for as NAME/REST in the search path, in the
// directories that ROS and Gazebo list in their environment variables, and in the directories above the
// description; then as REST there, because packages get renamed and repacked. file://PATH is that path.
// Anything else is relative to the description, to the search path, or to a directory above.
std::filesystem::path find_resource(const std::string& uri, const std::filesystem::path& directory,
                                    const LoadOptions& options);

}  // namespace articula
