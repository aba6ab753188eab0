"""A copy of the sources in which every mutant is behind a switch, so that one build has all of them."""

import re
import shutil
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Parser

PARSER = Parser(Language(tree_sitter_rust.language()))
LET = ("let_condition", "let_chain")
CONSTANT = ("const_item", "static_item", "array_type")
# What a mutant adds is between marks, by which errors of the compiler are attributed.
MARKED = re.compile(rb"/\*<(\d+)\*/.*?/\*\1>\*/", re.DOTALL)

SWITCH = """
/// Returns true if `scripts/mutants.sh` has selected this mutant for the run. `MUTANT=record` notes what is reached.
pub(crate) fn is_mutant(number: usize) -> bool {
    use std::sync::{OnceLock, atomic};
    const RECORD: usize = usize::MAX - 1;
    static SELECTED: OnceLock<usize> = OnceLock::new();
    static REACHED: [atomic::AtomicBool; COUNT] = [const { atomic::AtomicBool::new(false) }; COUNT];
    let selected = *SELECTED.get_or_init(|| match std::env::var("MUTANT").as_deref() {
        Ok("record") => RECORD,
        Ok(number) => number.parse().expect("MUTANT is a number"),
        Err(_) => usize::MAX,
    });
    if selected == RECORD && !REACHED[number].swap(true, atomic::Ordering::Relaxed) {
        let path = std::env::var("MUTANTS_REACHED").expect("MUTANTS_REACHED is a path");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        std::io::Write::write_all(&mut file.unwrap(), format!("{number}\\n").as_bytes()).unwrap();
    }
    selected == number
}
"""


class NotSwitchable(Exception):
    """A mutant that has no form with a switch."""


def marked(number, text):
    return f"/*<{number}*/{text}/*{number}>*/"


class Expression:
    """A range that becomes one of several expressions."""

    def __init__(self, start, end, before="", whole=None):
        self.start, self.end, self.before = start, end, before
        self.alternatives = []

    def write(self, original):
        branches = "".join(
            f"if crate::is_mutant({number}) {{ {marked(number, text)} }} else " for number, text in self.alternatives
        )
        return f"{self.before}({branches}{{ {original} }})"


class Body:
    """The beginning of a function's body, where mutants return."""

    def __init__(self, at):
        self.start = self.end = at
        self.alternatives = []

    def write(self, _original):
        return "".join(
            f" if crate::is_mutant({number}) {{ {marked(number, f'return {text};')} }}"
            for number, text in self.alternatives
        )


class Guard:
    """The guard of a match arm, or the place where it would be."""

    def __init__(self, start, end, has_let):
        self.start, self.end, self.has_let = start, end, has_let
        # The guard is true, is false, the arm is away.
        self.true, self.false = [], []

    def write(self, original):
        never = " && ".join(marked(number, f"!crate::is_mutant({number})") for number in self.false)
        if self.start == self.end:
            return f" if {never}"
        always = "".join(marked(number, f"crate::is_mutant({number})") + " || " for number in self.true)
        guard = original if self.has_let else f"({always}{original})"
        return f"{never} && {guard}" if never else guard


class Source:
    """A file with the places of its mutants."""

    def __init__(self, text):
        self.text = text
        self.root = PARSER.parse(text).root_node
        self.lines = text.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.targets = {}

    def offset(self, place):
        """Converts a line and a column in characters to an offset in bytes."""
        line, column = place
        return self.starts[line - 1] + len(self.lines[line - 1].decode()[: column - 1].encode())

    def slice(self, node):
        return self.text[node.start_byte : node.end_byte].decode()

    def enclosing(self, start, end, *kinds):
        """Returns the smallest node of one of these kinds around a range."""
        node = self.root.descendant_for_byte_range(start, end)
        while node is not None and node.type not in kinds:
            node = node.parent
        if node is None:
            raise NotSwitchable(f"no {kinds[0]} is there")
        return node

    def target(self, key, make):
        if key not in self.targets:
            self.targets[key] = make()
        return self.targets[key]

    def add(self, mutant):
        """Puts a mutant behind a switch."""
        start, end = self.offset(mutant.span[0]), self.offset(mutant.span[1])
        {
            "FnValue": self.add_value,
            "BinaryOperator": self.add_binary,
            "UnaryOperator": self.add_unary,
            "MatchArm": self.add_arm,
            "MatchArmGuard": self.add_guard,
            "StructField": self.add_field,
        }[mutant.genre](mutant, start, end)

    def add_value(self, mutant, start, _end):
        node = self.enclosing(start, start, "function_item")
        at = node.child_by_field_name("body").start_byte + 1
        self.target(("body", at), lambda: Body(at)).alternatives.append((mutant.number, mutant.replacement))

    def expression(self, node):
        if any(child.type in LET for child in node.children):
            raise NotSwitchable("it has a `let`")
        around = node
        while around is not None and around.type not in ("function_item", "closure_expression"):
            if around.type in CONSTANT:
                raise NotSwitchable("it is in a constant")
            around = around.parent
        key = ("expression", node.start_byte, node.end_byte)
        return self.target(key, lambda: Expression(node.start_byte, node.end_byte))

    def add_binary(self, mutant, start, end):
        node = self.enclosing(start, end, "binary_expression", "compound_assignment_expr", *LET)
        if node.type in LET:
            raise NotSwitchable("it has a `let`")
        changed = self.text[node.start_byte : start] + mutant.replacement.encode() + self.text[end : node.end_byte]
        self.expression(node).alternatives.append((mutant.number, changed.decode()))

    def add_unary(self, mutant, start, end):
        node = self.enclosing(start, end, "unary_expression")
        operand = self.slice(node)[1:]
        self.expression(node).alternatives.append((mutant.number, mutant.replacement + operand))

    def guard(self, node):
        pattern = node.child_by_field_name("pattern")
        condition = pattern.child_by_field_name("condition")
        if condition is None:
            at = pattern.end_byte
            return self.target(("guard", at), lambda: Guard(at, at, False))
        has_let = condition.type in LET
        start, end = condition.start_byte, condition.end_byte
        return self.target(("guard", start), lambda: Guard(start, end, has_let))

    def add_arm(self, mutant, start, _end):
        self.guard(self.enclosing(start, start + 1, "match_arm")).false.append(mutant.number)

    def add_guard(self, mutant, start, end):
        guard = self.guard(self.enclosing(start, end, "match_arm"))
        if mutant.replacement == "false":
            guard.false.append(mutant.number)
        elif guard.has_let:
            raise NotSwitchable("its guard has a `let`")
        else:
            guard.true.append(mutant.number)

    def add_field(self, mutant, start, _end):
        node = self.enclosing(start, start + 1, "field_initializer", "shorthand_field_initializer")
        base = next((child for child in node.parent.children if child.type == "base_field_initializer"), None)
        if base is None:
            raise NotSwitchable("its struct has no base")
        name = node.child_by_field_name("field") or node.children[-1]
        value = node.child_by_field_name("value") or node
        before = f"{self.slice(name)}: " if value == node else ""
        key = ("expression", value.start_byte, value.end_byte)
        target = self.target(key, lambda: Expression(value.start_byte, value.end_byte, before))
        target.alternatives.append((mutant.number, f"({self.slice(base)[2:]}).{self.slice(name)}"))

    def render(self):
        targets = sorted(self.targets.values(), key=lambda target: (target.start, -target.end))
        return self.render_range(0, len(self.text), targets)

    def render_range(self, start, end, targets):
        parts, at, next_ = [], start, 0
        while next_ < len(targets):
            target = targets[next_]
            next_ += 1
            inner = []
            while next_ < len(targets) and targets[next_].end <= target.end and target.start != target.end:
                inner.append(targets[next_])
                next_ += 1
            parts.append(self.text[at : target.start].decode())
            parts.append(target.write(self.render_range(target.start, target.end, inner)))
            at = target.end
        parts.append(self.text[at:end].decode())
        return "".join(parts)


def function_at(text, offset):
    """Returns the range of the innermost function around an offset; None if there is none."""
    node = PARSER.parse(text).root_node.descendant_for_byte_range(offset, offset)
    while node is not None and node.type != "function_item":
        node = node.parent
    return node and (node.start_byte, node.end_byte)


def copy_sources(root, copy):
    """Makes `copy` equal to the sources but for informer/src. What did not change keeps its time, for cargo."""
    copy.mkdir(parents=True, exist_ok=True)
    wanted = set()
    for entry in [*root.iterdir()]:
        if entry.name in ("target", ".git"):
            continue
        paths = [entry] if entry.is_file() else [path for path in entry.rglob("*") if path.is_file()]
        for path in paths:
            relative = path.relative_to(root)
            wanted.add(relative)
            if relative.parts[:2] == ("informer", "src") and path.suffix == ".rs":
                continue
            there = copy / relative
            if not there.exists() or there.read_bytes() != path.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, there)
    for path in [*copy.rglob("*")]:
        if path.is_file() and path.relative_to(copy) not in wanted:
            path.unlink()


def write_tree(root, copy, mutants, count):
    """Writes informer/src with the mutants behind switches, and returns the numbers of those that have no such form."""
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    refused = set()
    for path in sorted((root / "informer/src").rglob("*.rs")):
        relative = str(path.relative_to(root))
        source = Source(path.read_bytes())
        for mutant in by_file.get(relative, []):
            try:
                source.add(mutant)
            except NotSwitchable:
                refused.add(mutant.number)
        text = source.render()
        if relative == "informer/src/lib.rs":
            text = text.replace("\n#![warn(", "\n#![allow(warnings, clippy::all, clippy::pedantic)]\n#![allow(", 1)
            text = re.sub(r"\n#!\[cfg_attr\(\n.*?\n\)\]", "", text, flags=re.DOTALL)
            text += SWITCH.replace("COUNT", str(count))
        there = copy / relative
        there.parent.mkdir(parents=True, exist_ok=True)
        if not there.exists() or there.read_text() != text:
            there.write_text(text)
    return refused


def marks(text):
    """Returns the ranges of the mutants in the text of a file, with their numbers."""
    return [(match.start(), match.end(), int(match.group(1))) for match in MARKED.finditer(text)]
