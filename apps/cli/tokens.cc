#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/commands.h"
#include "libs/text/tokenizer.h"

namespace samlet::cli {

int tokens(const TokensArguments& arguments, Terminal& terminal) {
  terminal.require_output(false);
  const text::Tokens tokens = text::tokenize(arguments.text, arguments.context);
  if (tokens.truncated) {
    terminal.warning(fmt::format("the text is longer than {} tokens and was cut", arguments.context - 2));
  }
  const auto used = std::span(tokens.ids).first(tokens.used);
  terminal.print(fmt::format("{}\n", fmt::join(used, " ")));
  return 0;
}

}  // namespace samlet::cli
