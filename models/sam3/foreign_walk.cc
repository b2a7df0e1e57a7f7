// The self-test of mapped graphs.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "libs/text/tokenizer.h"
#include "models/sam3/contract.h"
#include "models/sam3/figures.h"
#include "models/sam3/foreign_tensors.h"
#include "models/sam3/self_test_cases.h"

namespace samlet::sam3 {
namespace {

constexpr NormalizedBox kBox{0.4F, 0.55F, 0.3F, 0.35F, true};
constexpr NormalizedBox kOtherBox{0.6F, 0.6F, 0.6F, 0.6F, true};

SharedTensors shared(NamedTensors tensors) {
  SharedTensors all;
  for (auto& [name, tensor] : tensors)
    all.push_back({name, std::make_shared<const Tensor>(std::move(tensor)), nullptr});
  return all;
}

SharedTensors features_for(const std::vector<FeatureLink>& links, const SharedTensors& made,
                           bool with_constants) {
  SharedTensors features;
  for (const FeatureLink& link : links) {
    if (with_constants || !link.is_constant) features.push_back(named(made, link.made).as(link.taken));
  }
  return features;
}

void append(SharedTensors& to, SharedTensors more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

/// Of the same inputs those that differ.
SharedTensors differing(const SharedTensors& base, const SharedTensors& other) {
  SharedTensors found;
  for (const SharedTensor& tensor : other) {
    const auto apart = difference(tensor.view(), named(base, tensor.name).view());
    if (!apart || *apart > 0) found.push_back(tensor);
  }
  return found;
}

class Walk {
 public:
  Walk(const Folder& folder, TrialRunner& runner)
      : folder_(folder), model_(*folder.foreign), runner_(runner) {}

  void run() {
    const TrialOutputs image = runner_.run(image_trial());
    const TrialOutputs language = runner_.run(language_trial());
    const Trial decoder = decoder_trial(image, language);
    look_at_values(runner_.run(decoder).base);
    if (!model_.points) return;
    Trial points = point_trial(image);
    const SharedTensors before = runner_.run(points).base;
    look_for_ignored_points(std::move(points), before);
  }

 private:
  [[nodiscard]] SharedTensors pixels(std::uint64_t seed) const {
    const MappedTensor& image = *model_.image.input(v030::kImage);
    NamedTensors tensors;
    tensors.emplace_back(image.value.name, pixels_for(image.value, noise_image(folder_.info.image_side, seed),
                                                      model_.aliases.fact(kFactPixels)));
    return shared(std::move(tensors));
  }

  [[nodiscard]] Trial image_trial() const {
    Trial trial;
    trial.graph = model_.image.file.path;
    trial.is_image_encoder = true;
    trial.base = pixels(1);
    trial.changes = pixels(2);
    for (const auto* links : {&model_.decoder_features, &model_.point_features}) {
      for (const FeatureLink& link : *links) {
        if (std::find(trial.outputs.begin(), trial.outputs.end(), link.made) == trial.outputs.end())
          trial.outputs.push_back(link.made);
        if (link.is_constant) trial.constant_outputs.insert(link.made);
      }
    }
    return trial;
  }

  [[nodiscard]] Trial language_trial() const {
    const MappedGraph& graph = model_.language;
    Trial trial;
    trial.graph = graph.file.path;
    trial.base = shared(token_tensors(graph, text::tokenize(kTestPhrase, folder_.info.context).ids));
    trial.changes = shared(token_tensors(graph, text::tokenize(kOtherTestPhrase, folder_.info.context).ids));
    const std::string& tokens = graph.input(v030::kTokens)->value.name;
    std::erase_if(trial.changes, [&](const SharedTensor& t) { return t.name != tokens; });
    trial.outputs.push_back(graph.output(v030::kTextMemory)->value.name);
    if (model_.decoder.input(v030::kLanguageMask) != nullptr) {
      trial.outputs.push_back(graph.output(v030::kTextMask)->value.name);
      // With a mask that is given, that one is its source.
      if (graph.input("attention_mask") != nullptr) trial.constant_outputs.insert(trial.outputs.back());
    }
    return trial;
  }

  /// The language encoder's outputs as the decoder takes them.
  [[nodiscard]] SharedTensors text_inputs(const SharedTensors& language) const {
    const MappedTensor& memory = *model_.decoder.input(v030::kLanguageFeatures);
    SharedTensor features =
        named(language, model_.language.output(v030::kTextMemory)->value.name).as(memory.value.name);
    if (auto turned = text_for(memory.value, features.view()))
      features = {features.name, std::make_shared<const Tensor>(std::move(*turned)), nullptr};
    SharedTensors inputs{std::move(features)};
    if (const MappedTensor* mask = model_.decoder.input(v030::kLanguageMask))
      inputs.push_back(
          named(language, model_.language.output(v030::kTextMask)->value.name).as(mask->value.name));
    return inputs;
  }

  /// As many boxes as must be, and one where any number may be.
  [[nodiscard]] SharedTensors boxes(const NormalizedBox& box, double threshold) const {
    const std::size_t slots = model_.box_slots.value_or(1);
    const bool can_leave_out = model_.decoder.input(v030::kBoxMasks) != nullptr;
    const std::vector<NormalizedBox> all(can_leave_out ? std::min<std::size_t>(slots, 1) : slots, box);
    return shared(box_tensors(model_, all, threshold));
  }

  /// Where the threshold is built in, nothing is kept of a made-up picture, and nothing can be judged.
  [[nodiscard]] Trial decoder_trial(const TrialOutputs& image, const TrialOutputs& language) const {
    Trial trial;
    trial.graph = model_.decoder.file.path;
    trial.base = features_for(model_.decoder_features, image.base, true);
    append(trial.base, text_inputs(language.base));
    append(trial.base, boxes(kBox, 0));
    for (const auto role : {v030::kBoxes, v030::kScores, v030::kMasks})
      trial.outputs.push_back(model_.decoder.output(role)->value.name);
    if (!model_.all_rows) return trial;
    trial.changes = features_for(model_.decoder_features, image.changed, false);
    append(trial.changes, text_inputs(language.changed));
    append(trial.changes, differing(trial.base, boxes(kOtherBox, 0)));
    return trial;
  }

  /// A point, or as many as the graph must have.
  [[nodiscard]] PointPrompt object(float x, float y, std::int64_t label, std::uint64_t seed) const {
    const std::int64_t declared = model_.points->input(v1::kPointLabels)->value.shape.back();
    const std::int64_t closing = model_.closing == ClosingPoint::kOutside ? 1 : 0;
    const bool can_fill =
        model_.closing == ClosingPoint::kIgnored || model_.points->input("point_valid") != nullptr;
    const std::int64_t count = declared < 0 || can_fill ? 1 : std::max<std::int64_t>(1, declared - closing);
    const auto side = static_cast<float>(folder_.info.image_side);
    PointPrompt prompt;
    for (std::int64_t i = 0; i < count; ++i) prompt.points.push_back({x * side, y * side, label});
    if (model_.mask_side > 0) {
      const Tensor noise = noise_logits({model_.mask_side, model_.mask_side}, seed);
      const TensorView view = noise.view();
      const auto values = view.as<float>();
      prompt.previous.assign(values.begin(), values.end());
    }
    return prompt;
  }

  [[nodiscard]] Trial point_trial(const TrialOutputs& image) const {
    const MappedGraph& graph = *model_.points;
    Trial trial;
    trial.graph = graph.file.path;
    trial.base = features_for(model_.point_features, image.base, true);
    append(trial.base, shared(point_tensors(model_, object(0.4F, 0.55F, 1, 3), true)));
    trial.changes = features_for(model_.point_features, image.changed, false);
    const SharedTensors others = shared(point_tensors(model_, object(0.7F, 0.2F, 0, 4), true));
    append(trial.changes, differing(trial.base, others));
    PointPrompt without = object(0.4F, 0.55F, 1, 3);
    without.previous.clear();
    if (const MappedTensor* has = graph.input(v1::kHasMask))
      trial.changes.push_back(named(shared(point_tensors(model_, without, true)), has->value.name));
    trial.outputs = {graph.output(v1::kMaskLogits)->value.name, graph.output(v1::kIou)->value.name};
    if (const MappedTensor* score = graph.output(v1::kObjectScore))
      trial.outputs.push_back(score->value.name);
    return trial;
  }

  void look_at_values(const SharedTensors& decoded) {
    const std::array<std::pair<std::string_view, std::string_view>, 2> kinds{
        std::pair{kFactScores, v030::kScores}, std::pair{kFactMasks, v030::kMasks}};
    for (const auto& [fact, role] : kinds) {
      const std::string& name = model_.decoder.output(role)->value.name;
      if (!model_.aliases.fact(fact).empty()) continue;
      const TensorView view = named(decoded, name).view();
      const bool by_name = name.find("logit") != std::string::npos;
      if (view.count() == 0 && !by_name) {
        runner_.found({std::string(fact), "probabilities, or logits once a number is outside of 0..1",
                       "nothing was kept of the made-up picture"});
        continue;
      }
      runner_.found({std::string(fact), are_logits({}, name, view.as<float>()) ? "logits" : "probabilities",
                     by_name ? "its name" : "its values"});
    }
  }

  /// One more point that is none, where any number may be: a graph that passes over it gives the same.
  void look_for_ignored_points(Trial trial, const SharedTensors& before) {
    constexpr double kSame = 1e-5;
    const MappedGraph& graph = *model_.points;
    if (!model_.aliases.fact(kFactClosingPoint).empty()) return;
    if (graph.input(v1::kPointLabels)->value.shape.back() >= 0) return;
    PointPrompt prompt = object(0.4F, 0.55F, 1, 3);
    prompt.points.push_back({0, 0, -1});
    for (const SharedTensor& input : shared(point_tensors(model_, prompt, true))) {
      for (SharedTensor& own : trial.base) {
        if (own.name == input.name) own = input;
      }
    }
    trial.changes.clear();
    const auto after = runner_.probe(trial);
    if (!after) return;
    const bool same = std::all_of(before.begin(), before.end(), [&](const SharedTensor& output) {
      const auto apart = difference(named(*after, output.name).view(), output.view());
      return apart && *apart <= kSame;
    });
    const char* closing = model_.closing == ClosingPoint::kInside ? "inside" : "outside";
    runner_.found({std::string(kFactClosingPoint), same ? "ignored" : closing,
                   same ? "a further point with the label -1 changed nothing"
                        : "a further point with the label -1 changed the masks"});
  }

  const Folder& folder_;
  const ForeignModel& model_;
  TrialRunner& runner_;
};

}  // namespace

void walk_v050(const Folder& folder, TrialRunner& runner) {
  Walk(folder, runner).run();
}

}  // namespace samlet::sam3
