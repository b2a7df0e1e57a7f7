// Folders without model.json whose graphs are not those of sam3-onnx v0.3.0: names are mapped, and what a
// name does not say is read from types and shapes.
#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/ort/graph_flow.h"
#include "models/sam3/contract.h"
#include "models/sam3/folder_layouts.h"
#include "models/sam3/foreign.h"
#include "models/sam3/text_encoder.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayoutName = "sam3-onnx v0.5.0";
constexpr const char* kKind = "a graph of SAM 3";
/// The most boxes or points that a graph may fix; it only keeps a damaged file from asking for gigabytes.
constexpr std::int64_t kMaxSlots = 4096;
constexpr const char* kByFile = "the alias file";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// The first that is there; the usual one when none is, so that the error names it.
fs::path graph_path(const fs::path& folder, GraphKind kind, const AliasFile& aliases) {
  if (aliases.of(kind).file) return folder / path_from_utf8(*aliases.of(kind).file);
  const auto names = files_of(kind);
  const auto at =
      std::find_if(names.begin(), names.end(), [&](std::string_view n) { return is_there(folder / n); });
  return folder / (at == names.end() ? names.front() : *at);
}

GraphFile read_file_of(const fs::path& path) {
  return {path, kKind, ort::read_model_file(path)};
}

/// Of the output with that role; of the only one that may have it as long as none has.
std::optional<Shape> shape_of(const MappedGraph& graph, std::string_view role) {
  if (const MappedTensor* tensor = graph.output(role)) return tensor->value.shape;
  std::optional<Shape> only;
  for (const MappedTensor& tensor : graph.outputs) {
    if (tensor.used || !find_role(graph.kind, Direction::kOutput, role)->fits(tensor.value)) continue;
    if (only) return std::nullopt;
    only = tensor.value.shape;
  }
  return only;
}

KnownShapes shapes_of_text(const MappedGraph& language) {
  return {shape_of(language, v030::kTextMask), shape_of(language, v030::kTextMemory)};
}

/// The graphs of a folder are mapped from the end: what the decoders take says what the encoders must give.
class Opener {
 public:
  Opener(const fs::path& folder, const std::string& text_encoder, const fs::path& aliases)
      : folder_(folder), wanted_text_(text_encoder) {
    if (!aliases.empty()) model_.aliases = read_alias_file(aliases);
  }

  Folder open() {
    Folder opened;
    opened.layout = Layout::kSam3OnnxV050;
    opened.path = folder_;
    opened.info.name = folder_name(folder_);
    Mapper image =
        mapper(graph_path(folder_, GraphKind::kImageEncoder, model_.aliases), GraphKind::kImageEncoder);
    image.by_shape(shape_rule({}));
    image.require_inputs(shape_rule({}));
    opened.text_encoder = text_encoder(opened.info.name);
    Mapper language = mapper(opened.text_encoder.graph, GraphKind::kLanguageEncoder);
    language.by_shape(shape_rule({}));
    language.require_inputs(shape_rule({}));
    model_.decoder = decoder(image.graph(), shapes_of_text(language.graph()));
    const ShapeRule text_rule =
        shape_rule({std::nullopt, model_.decoder.input(v030::kLanguageFeatures)->value.shape});
    language.by_shape(text_rule, wanted_text_masks());
    model_.language = language.finish(text_rule);
    open_points(image.graph());
    finish_image(std::move(image));
    model_.decoder_features = links(model_.decoder);
    if (model_.points) link_points();
    require_text_fits();
    read_boxes();
    read_threshold(opened.info);
    read_closing_point();
    state_facts();
    fill_info(opened);
    opened.foreign = std::make_shared<const ForeignModel>(std::move(model_));
    return opened;
  }

 private:
  Mapper mapper(const fs::path& path, GraphKind kind) {
    Mapper mapper(read_file_of(path), kind, &model_.aliases);
    mapper.by_names();
    return mapper;
  }

  /// Names of text encoders beside the usual one, as in v0.3.0's folders.
  TextEncoder text_encoder(const std::string& of) {
    const fs::path usual = graph_path(folder_, GraphKind::kLanguageEncoder, model_.aliases);
    // With some context, so that nothing is read before it is known which is wanted.
    std::vector<TextEncoder> found{{"full", usual, 1}};
    for (const char* size : {"s0", "s1", "l"}) {
      const fs::path graph = folder_ / fmt::format("{}{}{}", kLiteTextFilePrefix, size, kLiteTextFileSuffix);
      if (is_there(graph)) found.push_back({text_encoder_name(graph), graph, 1});
    }
    return choose_text_encoder(wanted_text_, found, of);
  }

  MappedGraph decoder(const MappedGraph& image, const KnownShapes& text) {
    Mapper decoder = mapper(graph_path(folder_, GraphKind::kDecoder, model_.aliases), GraphKind::kDecoder);
    decoder.pass_on(image);
    const ShapeRule rule = shape_rule(text);
    decoder.by_shape(rule);
    return decoder.finish(rule);
  }

  [[nodiscard]] std::vector<std::string_view> wanted_text_masks() const {
    if (model_.decoder.input(v030::kLanguageMask) == nullptr) return {};
    return {v030::kTextMask};
  }

  /// Text works without clicks, so what is wrong here is kept to be said when a click comes.
  void open_points(const MappedGraph& image) {
    const fs::path path = graph_path(folder_, GraphKind::kPointDecoder, model_.aliases);
    if (!is_there(path)) {
      model_.no_points = fmt::format("there is no {}", path_to_utf8(path.filename()));
      return;
    }
    try {
      Mapper points = mapper(path, GraphKind::kPointDecoder);
      points.pass_on(image);
      const ShapeRule rule = shape_rule({});
      points.by_shape(rule);
      MappedGraph mapped = points.finish(rule);
      // Zeros would be a mask, not none.
      if (mapped.input(v1::kMaskInput) != nullptr && mapped.input(v1::kHasMask) == nullptr)
        refuse_mapping(mapped,
                       fmt::format("nothing was found for {}, without which its {} would have to be given",
                                   v1::kHasMask, v1::kMaskInput));
      const MappedTensor& labels = *mapped.input(v1::kPointLabels);
      if (labels.value.shape.back() == 0 || labels.value.shape.back() > kMaxSlots)
        refuse_mapping(mapped, fmt::format("{} is no number of points", sam3::describe(labels.value)));
      model_.mask_side = side_of_mask_input(mapped);
      model_.points = std::move(mapped);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kModelUnsupported) throw;
      model_.no_points = error.what();
      model_.has_bad_points = true;
    }
  }

  /// What mask_input declares, else the side of the finest features, which is the same.
  static std::int64_t side_of_mask_input(const MappedGraph& points) {
    const MappedTensor* mask = points.input(v1::kMaskInput);
    if (mask == nullptr) return 0;
    std::int64_t side = mask->value.shape[2];
    for (const MappedTensor& input : points.inputs) {
      if (mask->value.shape[2] < 0 && input.value.shape.size() == 4)
        side = std::max(side, input.value.shape[2]);
    }
    if (side < 1 || side > kMaxSide || (mask->value.shape[3] > 0 && mask->value.shape[3] != side))
      refuse_mapping(points, fmt::format("{} has no side that can be told", sam3::describe(mask->value)));
    return side;
  }

  void finish_image(Mapper image) {
    std::vector<std::string_view> wanted;
    for (const MappedGraph* taker : {&model_.decoder, model_.points ? &*model_.points : nullptr}) {
      if (taker == nullptr) continue;
      image.by_taker(*taker);
      for (const MappedTensor& input : taker->inputs) {
        if (input.role != nullptr &&
            find_role(GraphKind::kImageEncoder, Direction::kOutput, input.role->name) != nullptr)
          wanted.push_back(input.role->name);
      }
    }
    const ShapeRule rule = shape_rule({});
    image.by_shape(rule, wanted);
    model_.image = image.finish(rule);
  }

  /// What the image encoder gives for each feature that the decoder takes. Errors: kModelUnsupported,
  /// kModelDamaged.
  [[nodiscard]] std::vector<FeatureLink> links(const MappedGraph& decoder) const {
    std::vector<FeatureLink> links;
    for (const MappedTensor& input : decoder.inputs) {
      if (input.role == nullptr) {
        const bool is_position = input.value.name.find("pos") != std::string::npos;
        links.push_back({input.value.name, input.value.name, is_position});
        continue;
      }
      if (find_role(GraphKind::kImageEncoder, Direction::kOutput, input.role->name) == nullptr) continue;
      const MappedTensor* made = model_.image.output(input.role->name);
      if (made == nullptr) {
        refuse_mapping(decoder,
                       fmt::format("nothing was found for its input {}; {} gives {}", describe(input),
                                   model_.image.file.name(), describe(model_.image.outputs)));
      }
      require_fits(model_.image.file, made->value.name, decoder.file, input.value.name);
      links.push_back({made->value.name, input.value.name, input.role->name == v030::kPosition2});
    }
    if (links.empty()) refuse_mapping(decoder, "it takes no features of a picture");
    return links;
  }

  void link_points() {
    try {
      model_.point_features = links(*model_.points);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kModelUnsupported) throw;
      model_.no_points = error.what();
      model_.has_bad_points = true;
      model_.points.reset();
    }
  }

  /// As require_fits, but [C, 1, D] and [1, C, D] are the same numbers.
  void require_text_fits() const {
    const auto check = [&](const MappedTensor& made, const MappedTensor& taken) {
      Shape turned = made.value.shape;
      if (turned.size() == 3) std::swap(turned[0], turned[1]);
      const bool fits = made.value.dtype == taken.value.dtype &&
                        (may_be(made.value.shape, taken.value.shape) || may_be(turned, taken.value.shape));
      if (!fits) require_fits(model_.language.file, made.value.name, model_.decoder.file, taken.value.name);
    };
    check(*model_.language.output(v030::kTextMemory), *model_.decoder.input(v030::kLanguageFeatures));
    const MappedTensor* taken = model_.decoder.input(v030::kLanguageMask);
    if (taken == nullptr) return;
    const MappedTensor* made = model_.language.output(v030::kTextMask);
    if (made == nullptr) {
      refuse_mapping(model_.language,
                     fmt::format("nothing was found for {}, which {} takes as {}", v030::kTextMask,
                                 model_.decoder.file.name(), sam3::describe(taken->value)));
    }
    check(*made, *taken);
  }

  void state(std::string_view name, std::string value, std::string whence) {
    model_.facts.push_back({std::string(name), std::move(value), std::move(whence)});
  }

  void read_boxes() {
    const MappedTensor* coords = model_.decoder.input(v030::kBoxCoords);
    if (coords == nullptr) {
      model_.box_slots = 0;
      state("exemplar boxes", "none", "the decoder takes none");
      return;
    }
    model_.coords_order = order_of_boxes(*coords);
    const auto order_or = [&](std::string_view role, Order otherwise) {
      const MappedTensor* tensor = model_.decoder.input(role);
      if (tensor == nullptr) return otherwise;
      const Order order = order_of(tensor->value.shape[0], tensor->value.shape[1]);
      if (order == Order::kImpossible) refuse_order(*tensor);
      if (order != Order::kUnknown && order != Order::kEither) note_slots(*tensor, order);
      return order == Order::kUnknown || order == Order::kEither ? otherwise : order;
    };
    note_slots(*coords, model_.coords_order);
    model_.labels_order = order_or(v030::kBoxLabels, model_.coords_order);
    model_.masks_order = order_or(v030::kBoxMasks, Order::kPromptFirst);
    state("exemplar boxes", model_.box_slots ? fmt::format("{}", *model_.box_slots) : "any number",
          "the decoder's declaration");
    if (model_.decoder.input(v030::kBoxMasks) == nullptr) {
      state("unused boxes", model_.box_slots ? "not possible: every slot must be filled" : "left out",
            "the decoder takes no box_masks");
    }
  }

  [[noreturn]] void refuse_order(const MappedTensor& tensor) const {
    refuse_mapping(model_.decoder, fmt::format("{} is of several prompts", sam3::describe(tensor.value)));
  }

  Order order_of_boxes(const MappedTensor& coords) {
    const std::string_view said = model_.aliases.fact(kFactBoxLayout);
    Order order = order_of(coords.value.shape[0], coords.value.shape[1]);
    if (order == Order::kImpossible) refuse_order(coords);
    std::string whence = "the decoder's declaration";
    if (!said.empty()) {
      order = said == "boxes_first" ? Order::kItemsFirst : Order::kPromptFirst;
      whence = kByFile;
    } else if (order == Order::kUnknown) {
      // What names none of its dimensions is of one making: the text stands as the boxes do.
      const Shape& text = model_.decoder.input(v030::kLanguageFeatures)->value.shape;
      order = order_of(text[0], text[1]);
      whence = "the order of the text's dimensions";
    }
    if (order == Order::kUnknown || order == Order::kImpossible) {
      // One box looks the same either way.
      model_.box_slots = 1;
      order = Order::kEither;
      state(kFactBoxLayout, "unknown, so only one box is given", "no dimension of box_coords is fixed");
      return order;
    }
    if (order != Order::kEither)
      state(kFactBoxLayout, order == Order::kItemsFirst ? "boxes_first" : "prompt_first", whence);
    return order;
  }

  void note_slots(const MappedTensor& tensor, Order order) {
    const Shape& shape = tensor.value.shape;
    const std::int64_t slots = order == Order::kPromptFirst ? shape[1] : shape[0];
    if (slots > kMaxSlots)
      refuse_mapping(model_.decoder, fmt::format("{} has too many slots", sam3::describe(tensor.value)));
    if (slots == 0)
      refuse_mapping(model_.decoder, fmt::format("{} has no slot", sam3::describe(tensor.value)));
    if (slots > 0) model_.box_slots = static_cast<std::size_t>(slots);
  }

  void read_threshold(ModelInfo& info) {
    const Shape& scores = model_.decoder.output(v030::kScores)->value.shape;
    const bool fixed = std::any_of(scores.begin(), scores.end(), [](std::int64_t d) { return d > 1; });
    std::string whence;
    info.min_threshold = 0;
    if (model_.decoder.input(v1::kScoreThreshold) != nullptr) {
      whence = "the decoder takes it as an input";
    } else if (model_.aliases.threshold_in_graph) {
      info.min_threshold = *model_.aliases.threshold_in_graph;
      whence = kByFile;
    } else if (fixed) {
      whence = fmt::format("the decoder gives a fixed number of rows, {}", to_string(scores));
    } else {
      info.min_threshold = v030::kBakedThreshold;
      whence = "assumed, as in v0.3.0: the decoder gives a varying number of rows";
    }
    model_.all_rows = model_.decoder.input(v1::kScoreThreshold) != nullptr || fixed;
    state(kFactThreshold, fmt::format("{:g}", info.min_threshold), std::move(whence));
  }

  void read_closing_point() {
    if (!model_.points) return;
    const std::string_view said = model_.aliases.fact(kFactClosingPoint);
    if (!said.empty()) {
      if (said == "inside") model_.closing = ClosingPoint::kInside;
      if (said == "ignored") model_.closing = ClosingPoint::kIgnored;
      state(kFactClosingPoint, std::string(said), kByFile);
      return;
    }
    const fs::path& path = model_.points->file.path;
    const bool joins = ort::joins_constant(path, model_.points->input(v1::kPointLabels)->value.name) ||
                       ort::joins_constant(path, model_.points->input(v1::kPointCoords)->value.name);
    model_.closing = joins ? ClosingPoint::kInside : ClosingPoint::kOutside;
    state(kFactClosingPoint, joins ? "inside" : "outside",
          joins ? "the graph appends a constant to the points" : "the graph appends nothing to the points");
  }

  void state_facts() {
    for (const auto& [name, value] : model_.aliases.facts) {
      if (name != kFactClosingPoint && name != kFactBoxLayout) state(name, value, kByFile);
    }
    if (!model_.no_points.empty() && !model_.has_bad_points)
      state("clicks", "not possible", model_.no_points);
  }

  void fill_info(Folder& opened) const {
    ModelInfo& info = opened.info;
    info.family = kFamily;
    info.layout = kLayoutName;
    const bool half = std::any_of(model_.decoder.inputs.begin(), model_.decoder.inputs.end(),
                                  [](const MappedTensor& t) { return t.value.dtype == DType::kFloat16; });
    info.precision = half ? "fp16" : "fp32";
    info.text_encoder = opened.text_encoder.name;
    info.image_side = image_side();
    opened.text_encoder.context = context();
    info.context = opened.text_encoder.context;
    info.max_boxes = model_.box_slots;
  }

  [[nodiscard]] int image_side() const {
    const MappedTensor& image = *model_.image.input(v030::kImage);
    const Shape& shape = image.value.shape;  // [3, S, S] or [1, 3, S, S]
    const std::int64_t side = shape.back();
    const bool right = shape[shape.size() - 3] == 3 && side > 0 && side <= kMaxSide &&
                       shape[shape.size() - 2] == side &&
                       (shape.size() == 3 || shape[0] == 1 || shape[0] < 0);
    if (!right) {
      refuse_mapping(model_.image,
                     fmt::format("{} was expected to be [3, S, S] or [1, 3, S, S] with a fixed S",
                                 sam3::describe(image.value)));
    }
    return static_cast<int>(side);
  }

  /// What the graph fixes; where it fixes nothing, the length of its mask, or that of the released model.
  [[nodiscard]] std::size_t context() const {
    constexpr std::int64_t kUsual = 32;
    std::int64_t context = model_.language.input(v030::kTokens)->value.shape[1];
    const MappedTensor* mask = model_.language.output(v030::kTextMask);
    if (context < 0 && mask != nullptr) context = mask->value.shape[1];
    if (context < 0) context = kUsual;
    if (context < 2 || context > kMaxContext) {
      refuse_mapping(model_.language, fmt::format("phrases of {} tokens cannot be", context));
    }
    return static_cast<std::size_t>(context);
  }

  const fs::path& folder_;
  const std::string& wanted_text_;
  ForeignModel model_;
};

}  // namespace

Folder open_v050(const fs::path& folder, const std::string& text_encoder, const fs::path& aliases) {
  return Opener(folder, text_encoder, aliases).open();
}

}  // namespace samlet::sam3
