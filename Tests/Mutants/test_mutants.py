"""python3 -B -m unittest discover Tests/Mutants: what is taken for a place, what is written there, what is read back."""

import os
import tempfile
import unittest

import trial
import tree
from mutations import masked, rewritten, slots_of


def changes(text):
    """All (kind, line after the change) of a text."""
    lines = text.split("\n")
    return [(kind, (lines[number][:slot.start] + other + lines[number][slot.end:]).strip())
            for number, slot in slots_of(text) for kind, other in slot.changes]


class Mutations(unittest.TestCase):
    def test_conditions_without_bindings(self):
        found = changes("func f() {\n  if let a = b, try c < d, !e {\n  }\n}")
        self.assertIn(("negated condition", "if let a = b, try !(c < d), !e {"), found)
        self.assertIn(("< is <=", "if let a = b, try c <= d, !e {"), found)
        self.assertIn(("negated condition", "if let a = b, try c < d, !(!e) {"), found)
        self.assertEqual(len(found), 3)

    def test_checks(self):
        found = changes("func f() {\n  guard a == b else {\n    throw E()\n  }\n  guard c else { return }\n}")
        self.assertEqual([line for kind, line in found if kind == "removed check"], ["guard true else {"])

    def test_statements(self):
        found = changes("func f() {\n  x += y\n  try await go(a, b)\n  log.info(a)\n  let z = min(a, b)\n}")
        self.assertEqual(found[:2], [("dropped statement", ""), ("+= is -=", "x -= y")])
        self.assertIn(("swapped arguments", "try await go(b, a)"), found)
        self.assertIn(("min is max", "let z = max(a, b)"), found)
        self.assertFalse([line for _, line in found if "log" in line or "min(b, a)" in line])

    def test_what_is_no_statement(self):
        for text in ["let a = [\n  f(b)\n]", "func f() {\n  g(\n    h()\n  )\n}", "func f() {\n  a\n    .b()\n}",
                     'func f() {\n  let a = """\n    if b < c {\n    """\n}', "// if a < b {",
                     "func f() {\n  a =\n    b(c)\n}"]:
            self.assertEqual(changes(text), [], text)

    def test_strings_and_comments_are_blank(self):
        text = 'a("x \\(b("}")) < y") // < z'
        self.assertEqual(len(masked(text)), len(text))
        self.assertNotIn("<", masked(text))

    def test_a_line_asks_for_its_mutants(self):
        text = "func f() -> Bool {\n  if a < b { c() }\n  return d\n}\nstruct S {\nfunc g() -> Bool { a < b }\n}"
        lines = text.split("\n")
        (number, slot), (second, result) = slots_of(text)
        self.assertEqual(
            rewritten(lines[number], [(slot, [(7, "!(a < b)"), (8, "a <= b")])]),
            "  if (mutant(7) ? (!(a < b)) : mutant(8) ? (a <= b) : (a < b)) { c() }")
        self.assertEqual(
            rewritten(lines[second], [(result, [(9, result.changes[0][1])])]),
            "func g() -> Bool { if mutant(9) { return a <= b }; return a < b }")


class Files(unittest.TestCase):
    def test_errors_drop_the_mutants_of_their_line_or_the_nearest_before(self):
        for output, dropped in [
                ("/t/A.swift:3:5: error: no\n/t/B.swift:9:1: error: no\n", [1, 2]),
                ("/t/A.swift:12:5: error: missing return\n", [3]), ("/t/A.swift:1:5: error: no\n", [1, 2]),
                ("/t/A.swift:3:5: warning: no\n", [])]:
            mutants = [{"number": number, "file": "A.swift", "line": line, "compiles": True}
                       for number, line in ((1, 3), (2, 3), (3, 9))]
            self.assertEqual(tree.drop("/t", mutants, output), len(dropped))
            self.assertEqual([mutant["number"] for mutant in mutants if not mutant["compiles"]], dropped)

    def test_results_are_read_and_a_line_that_was_cut_off_is_not(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "results")
            with open(path, "w") as file:
                file.write("3\tkilled\tT: ✘ a\t1.5\n4\tsurvived\t9 seeds\t60.0\nno line\n5\tkilled\tT\t1")
            self.assertEqual(trial.read(path), {3: ("killed", "T: ✘ a", 1.5), 4: ("survived", "9 seeds", 60.0)})

    def test_a_run_ends_at_the_first_failure_and_when_time_is_up(self):
        failure, code, _ = trial.watch(["sh", "-c", "printf '\\033[91m✘\\033[0m no\\n'; sleep 60"], os.environ, 30, trial.of_test)
        self.assertEqual((failure, code), ("✘ no", None))
        self.assertEqual(trial.watch(["sleep", "60"], os.environ, 0.2, trial.of_test), (None, None, []))
        self.assertEqual(trial.watch(["sh", "-c", "echo a; exit 3"], os.environ, 30, trial.of_test), (None, 3, ["a"]))


if __name__ == "__main__":
    unittest.main()
