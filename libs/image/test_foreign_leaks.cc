// What LeakSanitizer, where it is built in, does not count: libdav1d 1.0 keeps 40 bytes of some damaged AV1
// pictures, which is beyond us.

// LeakSanitizer looks for this name.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:libdav1d\n";
}
