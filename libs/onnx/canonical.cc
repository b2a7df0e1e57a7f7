#include "libs/onnx/canonical.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace samlet::onnx {
namespace {

using Names = std::map<std::string, std::string>;  // old -> new

const Body* inner_body(const Attribute& attribute) {
  const auto* inner = std::get_if<std::shared_ptr<const Body>>(&attribute.value);
  return inner == nullptr ? nullptr : inner->get();
}

/// Which of a body's nodes makes a value.
std::map<std::string, std::size_t> producers_of(const Body& body) {
  std::map<std::string, std::size_t> producers;
  for (std::size_t i = 0; i < body.nodes.size(); ++i) {
    for (const std::string& output : body.nodes[i].outputs) producers.emplace(output, i);
  }
  return producers;
}

/// The nodes of one body as its outputs need them, and what they use from outside of it, in that order.
struct Walk {
  std::vector<std::size_t> order;    // indices into body.nodes
  std::vector<std::string> outside;  // constants, inputs of the graph, values of an outer body; each once
};

Walk walk(const Body& body);

/// What a node reads: its inputs, then what its bodies read from outside of them.
std::vector<std::string> reads_of(const Node& node) {
  std::vector<std::string> reads;
  for (const std::string& input : node.inputs) {
    if (!input.empty()) reads.push_back(input);
  }
  for (const Attribute& attribute : node.attributes) {
    const Body* inner = inner_body(attribute);
    if (inner == nullptr) continue;
    for (std::string& name : walk(*inner).outside) reads.push_back(std::move(name));
  }
  return reads;
}

/// Depth first without recursion: a graph is as deep as it is long.
class Walker {
 public:
  explicit Walker(const Body& body)
      : body_(body), producers_(producers_of(body)), seen_(body.nodes.size(), false) {
    for (const Value& input : body.inputs) known_.insert(input.name);
  }

  Walk run() {
    for (const Value& output : body_.outputs) visit(output.name);
    return std::move(walk_);
  }

 private:
  struct Frame {
    std::size_t node;
    std::vector<std::string> reads;
    std::size_t next = 0;
  };

  void visit(const std::string& name) {
    enter(name);
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next < top.reads.size()) {
        const std::string read = top.reads[top.next++];  // the frame may move while the next one is pushed
        enter(read);
      } else {
        walk_.order.push_back(top.node);
        stack_.pop_back();
      }
    }
  }

  void enter(const std::string& name) {
    const auto made = producers_.find(name);
    if (made == producers_.end()) {
      if (known_.insert(name).second) walk_.outside.push_back(name);
    } else if (!seen_[made->second]) {
      seen_[made->second] = true;
      stack_.push_back({made->second, reads_of(body_.nodes[made->second])});
    }
  }

  const Body& body_;
  std::map<std::string, std::size_t> producers_;
  std::vector<bool> seen_;
  std::set<std::string> known_;
  std::vector<Frame> stack_;
  Walk walk_;
};

Walk walk(const Body& body) {
  return Walker(body).run();
}

/// Gives the new names.
class Renamer {
 public:
  explicit Renamer(const Builder& builder) {
    reserve(builder.body());
    for (const Initializer& initializer : builder.initializers())
      initializers_[initializer.name] = &initializer;
  }

  CanonicalGraph run(const Body& body) {
    CanonicalGraph graph;
    Names names;
    graph.body = rename(body, names, graph.initializers);
    return graph;
  }

 private:
  /// Names that stay: those of inputs and outputs, also of inner bodies.
  void reserve(const Body& body) {
    for (const Value& value : body.inputs) kept_.insert(value.name);
    for (const Value& value : body.outputs) kept_.insert(value.name);
    for (const Node& node : body.nodes) {
      for (const Attribute& attribute : node.attributes) {
        if (const Body* inner = inner_body(attribute)) reserve(*inner);
      }
    }
  }

  std::string fresh(const std::string& base) {
    for (;;) {
      const int times = counts_[base]++;
      std::string name = times == 0 ? base : fmt::format("{}_{}", base, times);
      if (!kept_.contains(name) && given_.insert(name).second) return name;
    }
  }

  Body rename(const Body& body, Names& names, std::vector<Initializer>& initializers) {
    Body renamed{body.inputs, body.outputs, {}};
    for (const std::size_t index : walk(body).order) {
      renamed.nodes.push_back(rename(body.nodes[index], names, initializers));
    }
    // An output that is a constant or an input has no node to be renamed with; builders put an Identity
    // there.
    return renamed;
  }

  Node rename(const Node& node, Names& names, std::vector<Initializer>& initializers) {
    Node renamed = node;
    for (std::string& input : renamed.inputs) input = name_of(input, names, initializers);
    renamed.name = fresh(node.base);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      std::string& output = renamed.outputs[i];
      if (!kept_.contains(output)) output = fresh(fmt::format("{}:{}", renamed.name, i));
      names[node.outputs[i]] = output;
    }
    for (Attribute& attribute : renamed.attributes) {
      const Body* inner = inner_body(attribute);
      if (inner == nullptr) continue;
      attribute.value = std::make_shared<const Body>(rename(*inner, names, initializers));
    }
    return renamed;
  }

  std::string name_of(const std::string& old, Names& names, std::vector<Initializer>& initializers) {
    const auto known = names.find(old);
    if (known != names.end()) return known->second;
    const auto constant = initializers_.find(old);
    if (constant == initializers_.end()) return old;  // an input, or left out
    Initializer renamed = *constant->second;
    renamed.name = fresh(renamed.base);
    names[old] = renamed.name;
    initializers.push_back(std::move(renamed));
    return names[old];
  }

  std::map<std::string, const Initializer*> initializers_;
  std::set<std::string> kept_;
  std::set<std::string> given_;
  std::map<std::string, int> counts_;
};

}  // namespace

CanonicalGraph canonical(const Builder& builder) {
  return Renamer(builder).run(builder.body());
}

}  // namespace samlet::onnx
