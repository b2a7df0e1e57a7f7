#include "models/sam3/self_test_cases.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "libs/ort/model_file.h"
#include "libs/text/tokenizer.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

/// splitmix64: a bijection of a counter, so that no library's generator is depended on.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

SharedTensor made(std::string_view name, Tensor tensor) {
  return {std::string(name), std::make_shared<const Tensor>(std::move(tensor)), nullptr};
}

template <typename T>
SharedTensor made(std::string_view name, Shape shape, std::vector<T> values) {
  return made(name, Tensor::from<T>(std::move(shape), values));
}

SharedTensor flags(std::string_view name, Shape shape, const std::vector<bool>& values) {
  Tensor tensor(DType::kBool, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<bool>().begin());
  return made(name, std::move(tensor));
}

std::vector<std::string> names_of(std::initializer_list<std::string_view> names) {
  return {names.begin(), names.end()};
}

/// The phrases' tokens, one row each.
SharedTensor token_rows(std::initializer_list<std::string_view> phrases, std::size_t context) {
  std::vector<std::int64_t> ids;
  for (const std::string_view phrase : phrases) {
    const text::Tokens tokens = text::tokenize(phrase, context);
    ids.insert(ids.end(), tokens.ids.begin(), tokens.ids.end());
  }
  return made(v1::kTokens,
              Shape{static_cast<std::int64_t>(phrases.size()), static_cast<std::int64_t>(context)},
              std::move(ids));
}

Trial image_trial(const std::filesystem::path& graph, std::int64_t side, std::vector<std::string> outputs) {
  Trial trial;
  trial.graph = graph;
  trial.is_image_encoder = true;
  trial.base = {made(v1::kImage, noise_image(side, 1))};
  trial.changes = {made(v1::kImage, noise_image(side, 2))};
  trial.outputs = std::move(outputs);
  return trial;
}

Trial language_trial(const std::filesystem::path& graph, std::size_t context,
                     std::vector<std::string> outputs) {
  Trial trial;
  trial.graph = graph;
  trial.base = {token_rows({kTestPhrase}, context)};
  trial.changes = {token_rows({kOtherTestPhrase}, context)};
  trial.outputs = std::move(outputs);
  return trial;
}

/// A dimension that a graph fixes, or what is wanted where any will do.
std::int64_t dimension(const std::filesystem::path& graph, std::string_view input, std::size_t axis,
                       std::int64_t wanted) {
  const ort::ModelFile file = ort::read_model_file(graph);
  for (const ort::DeclaredValue& value : file.inputs) {
    if (value.name == input && value.shape.size() > axis && value.shape[axis] > 0) return value.shape[axis];
  }
  return wanted;
}

/// The three box inputs of `rows` prompts with n slots; the first slot of the last prompt is a positive box,
/// all others are unused.
SharedTensors box_inputs(std::int64_t rows, std::int64_t n) {
  const auto slots = static_cast<std::size_t>(rows * n);
  const auto used = static_cast<std::size_t>((rows - 1) * n);
  std::vector<float> coords(slots * 4, 0.25F);
  constexpr std::array<float, 4> kBox{0.4F, 0.55F, 0.3F, 0.35F};
  std::copy(kBox.begin(), kBox.end(), coords.begin() + static_cast<std::ptrdiff_t>(used * 4));
  std::vector<bool> unused(slots, true);
  unused[used] = false;
  return {made(v1::kBoxCoords, {rows, n, 4}, std::move(coords)),
          made(v1::kBoxLabels, {rows, n}, std::vector<std::int64_t>(slots, 1)),
          flags(v1::kBoxMasks, {rows, n}, unused)};
}

/// What a decoder trial stands on.
struct DecoderParts {
  SharedTensors features;        // of one picture
  SharedTensors other_features;  // of another
  SharedTensors language;        // one phrase
  SharedTensors other_language;  // another
  std::int64_t slots = 2;
};

Trial decoder_trial(const Folder& folder, const DecoderParts& parts) {
  const bool dynamic = folder.manifest->decoder == DecoderForm::kDynamic;
  const std::int64_t n = parts.slots;
  Trial trial;
  trial.graph = folder.path / kDecoderFile;
  for (const auto name : {v1::kFeatures2, v1::kFusionEmbed, v1::kMaskFeatures0, v1::kMaskFeatures1}) {
    trial.base.push_back(named(parts.features, name));
    trial.changes.push_back(named(parts.other_features, name));
  }
  for (const auto name : {v1::kLanguageFeatures, v1::kLanguageMask}) {
    trial.base.push_back(named(parts.language, name));
    trial.changes.push_back(named(parts.other_language, name));
  }
  for (const SharedTensor& input : box_inputs(1, n)) trial.base.push_back(input);
  std::vector<float> coords(static_cast<std::size_t>(n) * 4, 0.6F);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(n), 1);
  labels[0] = 0;
  // With a second slot that one comes into use, otherwise the only one goes out of it.
  std::vector<bool> unused(static_cast<std::size_t>(n), true);
  if (n > 1) unused[0] = unused[1] = false;
  trial.changes.push_back(made(v1::kBoxCoords, {1, n, 4}, std::move(coords)));
  trial.changes.push_back(made(v1::kBoxLabels, {1, n}, std::move(labels)));
  trial.changes.push_back(flags(v1::kBoxMasks, {1, n}, unused));
  trial.outputs = names_of({v1::kBoxes, v1::kScores, v1::kMaskLogits, v1::kPresence});
  if (dynamic) {
    // Nothing is below 0, so that there are masks to look at; nothing is above 1.
    trial.base.push_back(made(v1::kScoreThreshold, {}, std::vector<float>{0}));
    trial.changes.push_back(made(v1::kScoreThreshold, {}, std::vector<float>{1}));
    trial.outputs.emplace_back(v1::kPromptIndex);
    trial.constant_outputs.insert(std::string(v1::kPromptIndex));
  }
  return trial;
}

Trial point_trial(const Folder& folder, const SharedTensors& features, const SharedTensors& other_features) {
  const std::filesystem::path graph = folder.path / kPointDecoderFile;
  const std::int64_t points = dimension(graph, v1::kPointCoords, 1, 2);
  const auto side = static_cast<float>(folder.manifest->sizes.image);
  const std::int64_t mask = folder.manifest->sizes.mask;
  const auto coords = [&](float x, float y) {
    std::vector<float> values(static_cast<std::size_t>(points) * 2, 0);
    values[0] = x * side;
    values[1] = y * side;
    return made(v1::kPointCoords, {1, points, 2}, std::move(values));
  };
  const auto labels = [&](std::int64_t first) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(points), -1);
    values[0] = first;
    return made(v1::kPointLabels, {1, points}, std::move(values));
  };
  Trial trial;
  trial.graph = graph;
  for (const auto name : {v1::kPointFeatures0, v1::kPointFeatures1, v1::kPointEmbed}) {
    trial.base.push_back(named(features, name));
    trial.changes.push_back(named(other_features, name));
  }
  const Shape grid{1, 1, mask, mask};
  for (const SharedTensor& input :
       {coords(0.4F, 0.55F), labels(1), made(v1::kMaskInput, noise_logits(grid, 3)),
        made(v1::kHasMask, {1}, std::vector<float>{1})}) {
    trial.base.push_back(input);
  }
  for (const SharedTensor& input :
       {coords(0.7F, 0.2F), labels(0), made(v1::kMaskInput, noise_logits(grid, 4)),
        made(v1::kHasMask, {1}, std::vector<float>{0})}) {
    trial.changes.push_back(input);
  }
  trial.outputs = names_of({v1::kMaskLogits, v1::kIou, v1::kObjectScore});
  return trial;
}

/// The same graph for two prompts: the trial's own as the second, so that a graph which only ever looks at
/// the first is found out.
Trial two_prompts(const Trial& one, const SharedTensors& language, const SharedTensors& boxes) {
  Trial two = one;
  two.changes.clear();
  for (SharedTensor& input : two.base) {
    for (const SharedTensors* rows : {&language, &boxes}) {
      const auto at = std::find_if(rows->begin(), rows->end(),
                                   [&](const SharedTensor& t) { return t.name == input.name; });
      if (at != rows->end()) input = *at;
    }
  }
  return two;
}

/// The features of both phrases of every text encoder; those of the one in use are given back.
DecoderParts walk_language_encoders(const Folder& folder, TrialRunner& runner, SharedTensors& both) {
  DecoderParts parts;
  for (const ManifestTextEncoder& encoder : folder.manifest->text_encoders) {
    const auto context = static_cast<std::size_t>(encoder.context);
    const Trial trial = language_trial(folder.path / encoder.file, context,
                                       names_of({v1::kLanguageFeatures, v1::kLanguageMask}));
    TrialOutputs outputs = runner.run(trial);
    const bool in_use = encoder.name == folder.text_encoder.name;
    if (folder.prompts_per_call > 1) {
      BatchTrial batch{trial, 1, outputs.base};
      batch.trial.changes.clear();
      batch.trial.base = {token_rows({kOtherTestPhrase, kTestPhrase}, context)};
      SharedTensors outputs_of_both = runner.run_batch(batch);
      if (in_use) both = std::move(outputs_of_both);
    }
    if (!in_use) continue;
    parts.language = std::move(outputs.base);
    parts.other_language = std::move(outputs.changed);
  }
  return parts;
}

void walk_v1(const Folder& folder, TrialRunner& runner) {
  const Manifest& manifest = *folder.manifest;
  const bool has_points = manifest.graphs.contains(std::string(kPointDecoderFile));
  auto outputs = names_of({v1::kFeatures2, v1::kFusionEmbed, v1::kMaskFeatures0, v1::kMaskFeatures1});
  if (has_points) {
    for (const auto name : {v1::kPointFeatures0, v1::kPointFeatures1, v1::kPointEmbed})
      outputs.emplace_back(name);
  }
  const TrialOutputs image =
      runner.run(image_trial(folder.path / kImageEncoderFile, manifest.sizes.image, std::move(outputs)));
  SharedTensors both_phrases;
  DecoderParts parts = walk_language_encoders(folder, runner, both_phrases);
  parts.features = image.base;
  parts.other_features = image.changed;
  parts.slots = dimension(folder.path / kDecoderFile, v1::kBoxMasks, 1, 2);
  const Trial trial = decoder_trial(folder, parts);
  TrialOutputs decoded = runner.run(trial);
  if (folder.prompts_per_call > 1) {
    (void)runner.run_batch(
        {two_prompts(trial, both_phrases, box_inputs(2, parts.slots)), 1, std::move(decoded.base)});
  }
  if (has_points) (void)runner.run(point_trial(folder, image.base, image.changed));
}

void walk_v030(const Folder& folder, TrialRunner& runner) {
  Trial image =
      image_trial(folder.path / kImageEncoderFile, folder.info.image_side,
                  names_of({v030::kPosition2, v030::kFeatures0, v030::kFeatures1, v030::kFeatures2}));
  image.constant_outputs.insert(std::string(v030::kPosition2));
  Trial decoder;
  decoder.graph = folder.path / kDecoderFile;
  decoder.base = runner.run(image).base;
  const SharedTensors language = runner
                                     .run(language_trial(folder.text_encoder.graph, folder.info.context,
                                                         names_of({v030::kTextMask, v030::kTextMemory})))
                                     .base;
  decoder.base.push_back(named(language, v030::kTextMask).as(v030::kLanguageMask));
  decoder.base.push_back(named(language, v030::kTextMemory).as(v030::kLanguageFeatures));
  const auto slots = static_cast<std::int64_t>(folder.info.max_boxes.value_or(1));
  decoder.base.push_back(
      made(v030::kBoxCoords, {slots, 1, 4}, std::vector<float>(static_cast<std::size_t>(slots) * 4, 0.25F)));
  decoder.base.push_back(
      made(v030::kBoxLabels, {slots, 1}, std::vector<std::int64_t>(static_cast<std::size_t>(slots), 1)));
  decoder.base.push_back(
      flags(v030::kBoxMasks, {1, slots}, std::vector<bool>(static_cast<std::size_t>(slots), true)));
  decoder.outputs = names_of({v030::kBoxes, v030::kScores, v030::kMasks});
  (void)runner.run(decoder);
}

}  // namespace

const SharedTensor& named(const SharedTensors& tensors, std::string_view name) {
  const auto at =
      std::find_if(tensors.begin(), tensors.end(), [&](const SharedTensor& t) { return t.name == name; });
  if (at == tensors.end())
    throw Error(ErrorCode::kInternal, fmt::format("the self-test has no '{}'; please report this", name));
  return *at;
}

Tensor noise_image(std::int64_t side, std::uint64_t seed) {
  Tensor image(DType::kUInt8, {3, side, side});
  Noise noise(seed);
  for (std::uint8_t& pixel : image.as<std::uint8_t>()) pixel = static_cast<std::uint8_t>(noise.next() >> 56U);
  return image;
}

Tensor noise_logits(Shape shape, std::uint64_t seed) {
  Tensor logits(DType::kFloat32, std::move(shape));
  Noise noise(seed);
  // Multiples of 1/8192: exact.
  for (float& logit : logits.as<float>())
    logit = static_cast<float>(static_cast<int>(noise.next() >> 48U) - 32768) / 8192;
  return logits;
}

void walk_graphs(const Folder& folder, TrialRunner& runner) {
  switch (folder.layout) {
    case Layout::kSamletV1:
      walk_v1(folder, runner);
      break;
    case Layout::kSam3OnnxV050:
      walk_v050(folder, runner);
      break;
    case Layout::kSam3OnnxV030:
      walk_v030(folder, runner);
      break;
  }
}

}  // namespace samlet::sam3
