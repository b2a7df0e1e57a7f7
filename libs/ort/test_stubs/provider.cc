// Stands for libonnxruntime_providers_cuda.so: needs libraries that are not there.
extern "C" {
int samlet_stub_cudart();
int samlet_stub_cudnn();
int samlet_stub_absent();
__attribute__((visibility("default"))) int samlet_stub_provider() {
  return samlet_stub_cudart() + samlet_stub_cudnn() + samlet_stub_absent();
}
}
