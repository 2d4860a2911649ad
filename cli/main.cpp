#include "cli/command.hpp"

int main(int argc, char** argv) { return articula::cli::run(argc, argv); }
