#include "models/sam3/figures.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

template <typename T>
T element(const TensorView& view, std::size_t i) {
  T value{};
  std::memcpy(&value, view.bytes().data() + i * sizeof(T), sizeof(T));
  return value;
}

/// IEEE 754 binary16.
double from_half(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (bits >> 10U) & 0x1F;
  const double fraction = (bits & 0x3FFU) / 1024.0;
  if (exponent == 0x1F) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
}

/// Where the figures of two differ; empty when they do not.
std::string figure_difference(const OutputFigures& stored, const OutputFigures& found, double tolerance) {
  // Sizes of empty outputs and of probabilities that are nearly nothing say nothing.
  constexpr double kLeastScale = 0.05;
  const double allowed = tolerance * std::max(std::abs(stored.max), kLeastScale);
  if (stored.count != found.count)
    return fmt::format("it has {} elements instead of {}", found.count, stored.count);
  const auto apart = [&](double a, double b) { return !(std::abs(a - b) <= allowed); };
  if (apart(stored.mean, found.mean))
    return fmt::format("its mean is {:.6g} instead of {:.6g}", found.mean, stored.mean);
  if (apart(stored.std, found.std))
    return fmt::format("its deviation is {:.6g} instead of {:.6g}", found.std, stored.std);
  if (apart(stored.max, found.max))
    return fmt::format("its largest magnitude is {:.6g} instead of {:.6g}", found.max, stored.max);
  return {};
}

}  // namespace

double Numbers::operator[](std::size_t i) const {
  switch (view_.dtype()) {
    case DType::kFloat32:
      return double{element<float>(view_, i)};
    case DType::kFloat16:
      return from_half(element<std::uint16_t>(view_, i));
    case DType::kInt64:
      return static_cast<double>(element<std::int64_t>(view_, i));
    case DType::kBool:
    case DType::kUInt8:
      return static_cast<double>(element<std::uint8_t>(view_, i));
    default:
      throw Error(ErrorCode::kInternal, fmt::format("a {} tensor has no figures", name_of(view_.dtype())));
  }
}

OutputFigures figures_of(const TensorView& tensor) {
  const Numbers numbers(tensor);
  OutputFigures f;
  f.count = static_cast<std::int64_t>(numbers.size());
  if (numbers.size() == 0) return f;
  const auto count = static_cast<double>(numbers.size());
  double sum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double value = numbers[i];
    if (!std::isfinite(value)) {
      f.mean = f.std = f.max = std::numeric_limits<double>::quiet_NaN();
      return f;
    }
    sum += value;
    f.max = std::max(f.max, std::abs(value));
  }
  f.mean = sum / count;
  double squares = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double away = numbers[i] - f.mean;
    squares += away * away;
  }
  f.std = std::sqrt(squares / count);
  return f;
}

bool is_finite(const TensorView& tensor) {
  const Numbers numbers(tensor);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!std::isfinite(numbers[i])) return false;
  }
  return true;
}

std::optional<double> difference(const TensorView& a, const TensorView& b, double floor) {
  if (a.shape() != b.shape()) return std::nullopt;
  const Numbers left(a);
  const Numbers right(b);
  double apart = 0;
  double scale = floor;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double away = std::abs(left[i] - right[i]);
    if (!std::isfinite(away)) return std::numeric_limits<double>::infinity();
    apart = std::max(apart, away);
    scale = std::max(scale, std::abs(right[i]));
  }
  return apart == 0 ? 0 : apart / scale;
}

std::size_t equal_places(const TensorView& a, const TensorView& b) {
  const Numbers left(a);
  const Numbers right(b);
  const Shape& shape = a.shape();
  const bool planes = shape.size() == 4;
  const auto channels = static_cast<std::size_t>(planes ? shape[1] : shape.back());
  if (a.shape() != b.shape() || channels == 0) return 0;
  const std::size_t places = left.size() / channels;
  std::size_t equal = 0;
  for (std::size_t place = 0; place < places; ++place) {
    bool same = true;
    for (std::size_t c = 0; same && c < channels; ++c) {
      const std::size_t at = planes ? c * places + place : place * channels + c;
      same = left[at] == right[at];
    }
    if (same) ++equal;
  }
  return equal;
}

std::vector<std::string> figure_differences(const SelfTestFigures& stored, const SelfTestFigures& found,
                                            double tolerance) {
  std::vector<std::string> sentences;
  for (const auto& [graph, outputs] : stored) {
    const auto tested = found.find(graph);
    if (tested == found.end()) {
      sentences.push_back(fmt::format("'{}' has figures but was not run", graph));
      continue;
    }
    for (const auto& [output, figures] : outputs) {
      const auto now = tested->second.find(output);
      const std::string what = now == tested->second.end()
                                   ? std::string("it is not given any more")
                                   : figure_difference(figures, now->second, tolerance);
      if (!what.empty())
        sentences.push_back(
            fmt::format("'{}' of '{}' is not what the export found: {}", output, graph, what));
    }
  }
  for (const auto& [graph, outputs] : found) {
    const auto told = stored.find(graph);
    for (const auto& [output, figures] : outputs) {
      if (told != stored.end() && told->second.contains(output)) continue;
      sentences.push_back(fmt::format("'{}' of '{}' has no figures of the export", output, graph));
    }
  }
  return sentences;
}

}  // namespace samlet::sam3
