#include "shared/cores.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace shared {

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double limit_of(double quota, double period) { return quota > 0 && period > 0 ? quota / period : kNoLimit; }

// Version 2 has both numbers in one file: "250000 100000", or "max 100000".
double limit_of_unified_group(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream(folder + "/cpu.max") >> quota >> period;
  return limit_of(quota, period);
}

// Version 1 has a file for each number; a quota of -1 is no limit.
double limit_of_processor_group(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return limit_of(quota, period);
}

bool has_processors(const std::string& controllers) {
  std::istringstream names(controllers);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

std::size_t cores_of_affinity() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<std::size_t>(CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

double processor_limit(const std::string& root) {
  double least = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string number, controllers, group;
       std::getline(groups, number, ':') && std::getline(groups, controllers, ':') && std::getline(groups, group);) {
    if (!controllers.empty() && !has_processors(controllers)) continue;
    const auto limit_of_group = controllers.empty() ? limit_of_unified_group : limit_of_processor_group;
    const std::string folder = root + (controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
    // The groups above limit it, too. In a container, these may be all that it sees.
    for (;; group.erase(group.rfind('/'))) {
      least = std::min(least, limit_of_group(folder + group));
      if (group.rfind('/') == std::string::npos) break;
    }
  }
  return least;
}

std::size_t usable_cores() {
  static const double limit = processor_limit("");
  const std::size_t cores = cores_of_affinity();
  return limit < static_cast<double>(cores) ? static_cast<std::size_t>(std::ceil(limit)) : cores;
}

}  // namespace shared
