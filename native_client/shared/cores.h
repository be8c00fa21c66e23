// How many cores this process may use.
#pragma once

#include <cstddef>
#include <string>

namespace shared {

// The cores of this process's affinity, or fewer if its control groups limit its processor time, as a container's limit
// of processors does: 2.5 processors are three cores. util/parallel.py counts the same.
std::size_t usable_cores();

// The least number of processors that control groups of this process are limited to, or infinity. `root` is the folder
// with proc and sys. Formats: the Linux kernel's documentation of cpu.max (cgroup v2) and cpu.cfs_quota_us (v1).
double processor_limit(const std::string& root);

}  // namespace shared
