// The report memory: 32-bit words that a kernel's traps and prints write and the host reads. One
// memory serves many launches; the tag that each launch is given tells them apart.
#pragma once
#include <cstdint>

namespace lcpy {

// Lanes of the tag, a uint4 argument.
inline constexpr uint32_t kTagSites = 0;     // number of the kernel's site 0 among all kernels'
inline constexpr uint32_t kTagLaunch = 1;    // number of the launch, never 0
inline constexpr uint32_t kTagCapacity = 2;  // words for lines

// The header. Numbers of sites are one more than they are, so that 0 is none.
inline constexpr uint32_t kReportSite = 0;    // of the first trap; taken by compare-exchange
inline constexpr uint32_t kReportLaunch = 1;  // of the first trap, as the words that follow
inline constexpr uint32_t kReportThread = 2;  // three words
inline constexpr uint32_t kReportValues = 5;  // code; or index and size: low and high words
inline constexpr uint32_t kReportLast = 9;    // the last launch that trapped
inline constexpr uint32_t kReportCount = 10;  // of launches that trapped
inline constexpr uint32_t kReportUsed = 11;   // words asked for by lines
inline constexpr uint32_t kReportLost = 12;   // lines that found no room
inline constexpr uint32_t kReportHeader = 16;

// A line: number of the site, launch, thread (three words), then the values' scalars in order,
// those of 64 bits as low and high word, halves as float32. A site of 0 ends the lines early.
inline constexpr uint32_t kLineHeader = 5;
inline constexpr uint32_t kLongestLine = 1024;  // words of values

}  // namespace lcpy
