#include "models/sam3/arch/golden_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

#include "libs/checkpoint/checkpoint.h"
#include "models/sam3/arch/export.h"

namespace samlet::sam3 {

namespace fs = std::filesystem;

namespace {

fs::path new_folder() {
  return fs::temp_directory_path() / ("samlet-golden-" + std::to_string(std::random_device{}()));
}

Tensor copy_of(const TensorView& view) {
  Tensor tensor(view.dtype(), view.shape());
  switch (view.dtype()) {
    case DType::kFloat32:
      std::ranges::copy(view.as<float>(), tensor.as<float>().begin());
      break;
    case DType::kInt64:
      std::ranges::copy(view.as<std::int64_t>(), tensor.as<std::int64_t>().begin());
      break;
    case DType::kBool:
      std::ranges::copy(view.as<bool>(), tensor.as<bool>().begin());
      break;
    case DType::kUInt8:
      std::ranges::copy(view.as<std::uint8_t>(), tensor.as<std::uint8_t>().begin());
      break;
    default:
      ADD_FAILURE() << "a tensor of " << name_of(view.dtype());
  }
  return tensor;
}

std::shared_ptr<const ort::Runtime> runtime() {
  return ort::Runtime::load({SAMLET_ORT_LIBRARY_DIR, {}, {}});
}

}  // namespace

fs::path golden(const std::string& name) {
  return fs::path(SAMLET_SOURCE_DIR) / "tests/data/golden" / name;
}

Tensors read_tensors(const fs::path& file) {
  Tensors tensors;
  const checkpoint::Checkpoint recorded(file);
  for (const checkpoint::TensorInfo& info : recorded.tensors()) {
    // The mapping need not be aligned for the elements; a copy is.
    std::vector<std::byte> bytes(info.data.size());
    std::memcpy(bytes.data(), info.data.data(), bytes.size());
    tensors.emplace(info.name, copy_of(TensorView(info.type.dtype.value(), info.shape, bytes)));
  }
  EXPECT_FALSE(tensors.empty()) << file;
  return tensors;
}

std::vector<std::string> cases(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(golden("sam3"))) {
    const std::string name = entry.path().stem().native();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ExportedModel::ExportedModel(ExportOptions options) : folder_(new_folder()) {
  options.out = folder_;
  report_ = export_checkpoint(options, [](const fs::path&, std::string& why_not) {
    why_not = "the golden tests run the graphs themselves";
    return std::nullopt;
  });
}

ExportedModel::~ExportedModel() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

const ort::Session& ExportedModel::session(const std::string& graph) const {
  auto& session = sessions_[graph];
  if (!session) {
    ort::SessionOptions options;
    options.threads = 1;
    session = std::make_unique<ort::Session>(runtime(), folder_ / graph, options);
  }
  return *session;
}

Tensors ExportedModel::run(const std::string& graph, const Tensors& given) const {
  const ort::Session& opened = session(graph);
  std::vector<ort::Feed> feeds;
  for (const ort::ValueInfo& input : opened.inputs()) {
    const auto at = given.find(input.name);
    if (at == given.end()) {
      ADD_FAILURE() << graph << " takes " << input.name << ", which the test has not";
      return {};
    }
    feeds.push_back({input.name, nullptr, &at->second});
  }
  std::vector<std::string> names;
  for (const ort::ValueInfo& output : opened.outputs()) names.push_back(output.name);
  const auto values = opened.run(feeds, names);
  Tensors outputs;
  for (std::size_t i = 0; i < names.size(); ++i) outputs.emplace(names[i], copy_of(values[i].view()));
  return outputs;
}

namespace {

struct Difference {
  double largest = 0;
  double mean = 0;
  double magnitude = 0;
  double deviation = 0;
};

Difference difference(const TensorView& a, const TensorView& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto x = a.as<float>();
  const auto y = b.as<float>();
  if (x.size() != y.size() || x.empty()) return {kNever, kNever, 1, 1};
  Difference d;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double apart = std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    if (!std::isfinite(apart)) return {kNever, kNever, 1, 1};
    d.largest = std::max(d.largest, apart);
    d.mean += apart;
    d.magnitude = std::max(d.magnitude, std::fabs(static_cast<double>(y[i])));
    sum += static_cast<double>(y[i]);
    squares += static_cast<double>(y[i]) * static_cast<double>(y[i]);
  }
  const auto count = static_cast<double>(x.size());
  d.mean /= count;
  d.deviation = std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
  return d;
}

}  // namespace

double relative_error(const TensorView& a, const TensorView& b) {
  const Difference d = difference(a, b);
  return d.largest / d.magnitude;
}

double absolute_error(const TensorView& a, const TensorView& b) {
  return difference(a, b).largest;
}

double mean_error(const TensorView& a, const TensorView& b) {
  const Difference d = difference(a, b);
  return d.mean / d.deviation;
}

Tensor scalar(float value) {
  return Tensor::from<float>({}, std::span<const float>(&value, 1));
}

Tensor row(const Tensor& tensor, std::int64_t index) {
  const TensorView all = tensor.view();
  Shape shape = all.shape();
  const std::size_t length = all.bytes().size() / static_cast<std::size_t>(shape.at(0));
  shape[0] = 1;
  return copy_of(
      TensorView(all.dtype(), shape, all.bytes().subspan(static_cast<std::size_t>(index) * length, length)));
}

}  // namespace samlet::sam3
