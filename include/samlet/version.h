#pragma once

namespace samlet {

/// The version of the library, "major.minor.patch". A static string; thread-safe.
const char* version() noexcept;

}  // namespace samlet
