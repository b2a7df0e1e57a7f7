#!/usr/bin/env python3
"""Tests of check_style: each rule is broken once in a folder of its own."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parent / "check_style"

SOUND = {
    "a.cc": b"// TODO(ONNX Runtime 1.30): drop this.\nint a;\nusing namespace std::string_literals;\n",
    "b_test.cc": b'open("/tmp/x");\n',
    "run": b"#!/usr/bin/env bash\n\techo $root/tmp frame/work/x\n",
    "examples/x.txt": b"no end, tab\t, \r\n /work/x",
    "x.bin": b"\0 /work/x ",
}

BROKEN = {
    "a.md": (b"see /work/x\n", "a.md:1: a path of one machine"),
    "b.md": (b"\nsee /home/me/x\n", "b.md:2: a path of one machine"),
    "a.cc": (b'open("/tmp/x");\n', "a.cc:1: /tmp"),
    "c.md": (b"https://pypi.org/simple\n", "c.md:1: a registry's host"),
    "b.cc": (b"// TODO: later\n", "b.cc:1: TODO without"),
    "c.cc": (b"using namespace std;\n", "c.cc:1: using namespace"),
    "p.cc": (b"auto n = path.native();\n", "p.cc:1: a path as text"),
    "d.cc": (b"int a;\r\n", "d.cc:1: a carriage return"),
    "e.cc": (b"int a;  \n", "e.cc:1: blanks"),
    "f.cc": (b"\tint a;\n", "f.cc:1: a tab"),
    "g.cc": (b"int a;", "g.cc:1: no line feed"),
    "h.txt": (b"ok\n\xff\n", "h.txt:2: not UTF-8"),
    "run": (b"#!/bin/sh\n", "run:1: begins with #!"),
}


def check(files, executable=()):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if name in executable else 0o644)
        run = subprocess.run([sys.executable, TOOL, "--root", folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout


class CheckStyleTest(unittest.TestCase):
    def test_a_sound_tree_passes(self):
        self.assertEqual(check(SOUND, executable=("run",)), (0, "check_style: nothing to mend\n"))

    def test_each_broken_rule_is_named(self):
        for name, (content, words) in BROKEN.items():
            with self.subTest(name):
                status, output = check({name: content})
                self.assertEqual(status, 1)
                self.assertIn(words, output)
                self.assertIn("check_style: 1 finding(s)", output)

    def test_an_executable_without_interpreter_is_named(self):
        self.assertIn("run:1: is executable", check({"run": b"echo\n"}, executable=("run",))[1])


if __name__ == "__main__":
    unittest.main()
