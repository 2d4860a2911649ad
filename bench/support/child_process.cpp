#include "bench/support/child_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "articula/error.hpp"

namespace articula::bench {

namespace {

// Memory that parent and child both see.
struct Shared {
  std::size_t bytes;
  void* address;

  explicit Shared(std::size_t size)
      : bytes(size),
        address(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (address == MAP_FAILED) throw Error("no shared memory for a child process: {}", std::strerror(errno));
  }
  ~Shared() { munmap(address, bytes); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
};

// Never returns. `at` tells the parent which item is being worked on.
[[noreturn]] void child(int count, int doubles, unsigned seconds, volatile int& at, double* values,
                        const std::function<void(int, double*)>& work) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  std::signal(SIGALRM, SIG_DFL);
  std::signal(SIGABRT, SIG_DFL);
  while (at < count) {
    alarm(seconds);
    work(at, values + static_cast<std::ptrdiff_t>(at) * doubles);
    at = at + 1;
  }
  _exit(0);
}

}  // namespace

ChildResults in_child_processes(int count, int doubles, unsigned seconds,
                                const std::function<void(int item, double* result)>& work) {
  const std::size_t numbers = static_cast<std::size_t>(count) * doubles;
  const Shared progress(sizeof(int)), results(std::max(numbers, std::size_t{1}) * sizeof(double));
  volatile int& at = *static_cast<int*>(progress.address);
  double* values = static_cast<double*>(results.address);
  ChildResults out{doubles, {}, std::vector<bool>(count, false)};
  while (at < count) {
    const pid_t process = fork();
    if (process < 0) throw Error("no child process: {}", std::strerror(errno));
    if (process == 0) child(count, doubles, seconds, at, values, work);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (at >= count) break;
    out.died[at] = true;
    std::fill_n(values + static_cast<std::ptrdiff_t>(at) * doubles, doubles, 0.0);
    at = at + 1;
  }
  out.values.assign(values, values + numbers);
  return out;
}

}  // namespace articula::bench
