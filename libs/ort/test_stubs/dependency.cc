// Stands for libcudart, libcudnn and a library that no machine has: only their names matter.
extern "C" __attribute__((visibility("default"))) int SAMLET_STUB_SYMBOL() {
  return 0;
}
