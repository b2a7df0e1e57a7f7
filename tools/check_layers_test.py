#!/usr/bin/env python3
"""Tests of check_layers: each rule is broken once in a small tree, and must be named with its file."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check_layers"

SOUND = {
    "include/samlet/error.h": "#pragma once\n#include <string>\n",
    "include/samlet/image.h": '#include "samlet/error.h"\n',
    "libs/base/file.h": "#include <vector>\n",
    "libs/base/file.cc": '#include "libs/base/file.h"\n#include "samlet/error.h"\n',
    "libs/tensor/CMakeLists.txt": "samlet_library(tensor\n  SOURCES tensor.cc\n  PUBLIC samlet::base)\n",
    "libs/tensor/tensor.cc": '#include "libs/base/file.h"\n',
    "libs/base/CMakeLists.txt": "samlet_library(base SOURCES file.cc PRIVATE fmt::fmt)\n",
    "libs/image/CMakeLists.txt": "samlet_library(image SOURCES jpeg.cc PRIVATE samlet::tensor JPEG::JPEG)\n",
    "libs/image/jpeg.cc": '#include <jpeglib.h>\n#include "samlet/image.h"\n#include "libs/base/file.h"\n',
    "libs/image/font.cc": '#include "table.inc"\n',
    "libs/engine/run.cc": '#include "libs/image/x.h"\n#include "libs/ort/x.h"\n#include "samlet/result.h"\n',
    "models/sam3/contract.h": "",
    "models/sam3/pipeline.cc": '#include "libs/engine/x.h"\n#include "models/sam3/contract.h"\n',
    "models/sam3/arch/vit.cc": '#include "libs/nn/x.h"\n#include "models/sam3/contract.h"\n',
    "libs/engine/CMakeLists.txt": "samlet_library(engine SOURCES run.cc PRIVATE samlet::image)\n",
    "libs/nn/CMakeLists.txt": "samlet_library(nn SOURCES x.cc)\n",
    "models/sam3/CMakeLists.txt": "add_subdirectory(arch)\nsamlet_library(sam3 SOURCES pipeline.cc PRIVATE samlet::engine)\n",
    "models/sam3/arch/CMakeLists.txt": "samlet_library(sam3_export SOURCES vit.cc PRIVATE samlet::nn)\n",
    "models/registry.cc": '#include "models/sam3/pipeline.h"\n',
    "apps/cli/main.cc": '#include <CLI/CLI.hpp>\n#include "models/registry.h"\n#include "apps/cli/x.h"\n',
    "tests/e2e_test.cc": '#include <nlohmann/json.hpp>\n#include "apps/cli/x.h"\n#include "models/sam3/contract.h"\n',
}

# What is put beside (or over) the sound tree, and a part of each line that must be said about it.
BROKEN = {
    "up": ({"libs/base/up.cc": '#include "libs/tensor/tensor.h"\n'}, "libs/base/up.cc:1: base must not include tensor"),
    "up by a public header": ({"libs/mask/a.h": '\n#include "samlet/result.h"\n'}, "libs/mask/a.h:2: mask must not"),
    "public header up": ({"include/samlet/mask.h": '#include "samlet/prompt.h"\n'}, "mask must not include engine"),
    "angle brackets": ({"libs/base/up.cc": "#include <libs/tensor/tensor.h>\n"}, "base must not include tensor"),
    "sibling": ({"libs/text/a.cc": '#include "libs/mask/runs.h"\n'}, "libs/text/a.cc:1: text must not include mask"),
    "sibling in a test": ({"libs/text/a_test.cc": '#include "libs/mask/runs.h"\n'}, "text must not include mask"),
    "engine to export": ({"libs/engine/a.cc": '#include "libs/onnx/a.h"\n'}, "engine must not include onnx"),
    "engine to model": ({"libs/engine/a.cc": '#include "models/sam3/contract.h"\n'}, "engine must not include models/sam3"),
    "family to family": ({"models/b/a.cc": '#include "models/sam3/contract.h"\n'}, "models/b must not include models/sam3"),
    "family to registry": ({"models/b/a.cc": '#include "models/registry.h"\n'}, "models/b must not include models "),
    "both halves": ({"models/sam3/a.cc": '#include "libs/nn/a.h"\n#include "libs/engine/a.h"\n'}, "a.cc:2: includes both"),
    "run half to arch": ({"models/sam3/a.cc": '#include "models/sam3/arch/a.h"\n#include "libs/ort/a.h"\n'}, "both"),
    "app to app": ({"apps/server/a.cc": '#include "apps/cli/x.h"\n'}, "apps/server must not include apps/cli"),
    "app past the registry": ({"apps/cli/a.cc": '#include "models/sam3/contract.h"\n'}, "apps/cli must not include models/sam3"),
    "tests' code": ({"libs/base/a.cc": '#include "tests/support/a.h"\n'}, "only tests may include"),
    "relative": ({"libs/base/a.cc": '#include "file.h"\n'}, "not a path from the top"),
    "unknown layer": ({"libs/new/a.cc": '#include "libs/base/file.h"\n'}, "'new' is unknown"),
    "fence, wrong place": ({"libs/mask/a.cc": "#include <png.h>\n"}, "libs/mask/a.cc:1: <png.h> may be included below"),
    "fence, header": ({"libs/onnx/a.h": "#include <protozero/pbf_writer.hpp>\n"}, "must not be included by a header"),
    "fence, second file": ({"apps/cli/z.cc": "#include <CLI/CLI.hpp>\n"}, "apps/cli/z.cc:1: <CLI/> is fenced in 1"),
    "length": ({"libs/base/long.cc": "\n" * 500}, "libs/base/long.cc:500: 500 lines"),
    "link up": ({"libs/base/CMakeLists.txt": "samlet_library(base\n  PRIVATE samlet::tensor)\n"}, "base must not link tensor"),
    "link missing": ({"libs/image/CMakeLists.txt": "samlet_library(image SOURCES a.cc)\n"}, "image includes base (libs/"),
}


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, TOOL, "--root", folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout


class CheckLayersTest(unittest.TestCase):
    def test_a_sound_tree_passes(self):
        self.assertEqual(check(SOUND), (0, "check_layers: all includes point down\n"))

    def test_each_broken_rule_is_named(self):
        for name, (files, words) in BROKEN.items():
            with self.subTest(name):
                status, output = check(SOUND | files)
                self.assertEqual(status, 1)
                self.assertIn(words, output)
                self.assertIn("check_layers: 1 violation(s)", output)

    def test_generated_tables_may_be_long(self):
        self.assertEqual(check({"libs/text/table.cc": "// Generated by tools/x.\n" + "\n" * 900})[0], 0)


if __name__ == "__main__":
    unittest.main()
