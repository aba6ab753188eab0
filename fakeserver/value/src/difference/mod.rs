//! The unified diff by which the API server shows a forbidden change of an object, as Go prints it.

use std::{collections::BTreeMap, fmt::Write, ops::Range};

use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use crate::{
    go_values::JSON_VALUES,
    schema::{go_syntax, internal_form, types_in},
};

/// The number of equal lines around a change.
const CONTEXT: usize = 3;
/// From how many lines on those that are frequent are no anchors.
const POPULAR_FROM_LINES: usize = 200;

/// The diff of two values of the type of an OpenAPI definition of a version of Kubernetes.
pub fn difference(
    kubernetes: KubernetesVersion,
    definition: &str,
    old: &Value,
    new: &Value,
) -> String {
    let types = types_in(kubernetes);
    let print = |value: &Value| match types.find(definition) {
        Some(id) => internal_form(types, id, value).indented(),
        None => value.to_string(),
    };
    unified(&print(old), &print(new))
}

/// One value of the type of an OpenAPI definition of a version of Kubernetes, in one line.
pub fn printed(kubernetes: KubernetesVersion, definition: &str, value: &Value) -> String {
    let types = types_in(kubernetes);
    match types.find(definition) {
        Some(id) if !kubernetes.gates().is_on(JSON_VALUES) => go_syntax(types, id, value),
        Some(id) => internal_form(types, id, value).to_string(),
        None => value.to_string(),
    }
}

/// A run of lines that both texts have.
#[derive(Clone, Copy, Debug)]
struct Block {
    old: usize,
    new: usize,
    lines: usize,
}

/// A piece of the comparison: equal if both ranges are, and replaced otherwise.
#[derive(Clone, Debug)]
struct Segment {
    is_equal: bool,
    old: Range<usize>,
    new: Range<usize>,
}

struct Matcher<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// The lines of the new text that can be anchors, and their positions.
    places: BTreeMap<&'a str, Vec<usize>>,
}

/// The hunks that turn one text into the other, without the names of files.
pub fn unified(old: &str, new: &str) -> String {
    let matcher = Matcher::new(old, new);
    let mut text = String::new();
    for hunk in hunks(&matcher.pieces()) {
        let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
        let old = place(&(first.old.start..last.old.end));
        let new = place(&(first.new.start..last.new.end));
        writeln!(text, "@@ -{old} +{new} @@").expect("a string takes all");
        for piece in &hunk {
            matcher.write(&mut text, piece);
        }
    }
    text
}

/// Groups neighbouring segments into hunks, with some equal lines around.
fn hunks(pieces: &[Segment]) -> Vec<Vec<Segment>> {
    let mut hunks = Vec::new();
    let mut hunk: Vec<Segment> = Vec::new();
    for piece in pieces {
        if !piece.is_equal {
            hunk.push(piece.clone());
            continue;
        }
        let lines = piece.old.len();
        let has_change = hunk.iter().any(|piece| !piece.is_equal);
        if has_change && lines <= 2 * CONTEXT {
            hunk.push(piece.clone());
            continue;
        }
        if has_change {
            let kept = lines.min(CONTEXT);
            hunk.push(Segment {
                is_equal: true,
                old: piece.old.start..piece.old.start + kept,
                new: piece.new.start..piece.new.start + kept,
            });
            hunks.push(std::mem::take(&mut hunk));
        }
        let kept = lines.min(CONTEXT);
        hunk = vec![Segment {
            is_equal: true,
            old: piece.old.end - kept..piece.old.end,
            new: piece.new.end - kept..piece.new.end,
        }];
    }
    if hunk.iter().any(|piece| !piece.is_equal) {
        trim_end(&mut hunk);
        hunks.push(hunk);
    }
    hunks
}

/// Leaves no more equal lines at the end than stand around a change.
fn trim_end(hunk: &mut [Segment]) {
    if let Some(last) = hunk.last_mut().filter(|last| last.is_equal) {
        let kept = last.old.len().min(CONTEXT);
        last.old.end = last.old.start + kept;
        last.new.end = last.new.start + kept;
    }
}

/// A range of lines as a hunk's head tells it.
fn place(range: &Range<usize>) -> String {
    match range.len() {
        1 => format!("{}", range.start + 1),
        0 => format!("{},0", range.start),
        lines => format!("{},{lines}", range.start + 1),
    }
}

// === impl Matcher ===

impl<'a> Matcher<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        let new: Vec<&str> = new.split('\n').collect();
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, line) in new.iter().enumerate() {
            places.entry(line).or_default().push(place);
        }
        if new.len() >= POPULAR_FROM_LINES {
            let frequent = new.len() / 100 + 1;
            places.retain(|_, places| places.len() <= frequent);
        }
        Self {
            old: old.split('\n').collect(),
            new,
            places,
        }
    }

    fn write(&self, text: &mut String, piece: &Segment) {
        let mut lines = |sign: char, lines: &[&str]| {
            for line in lines {
                writeln!(text, "{sign}{line}").expect("a string takes all");
            }
        };
        if piece.is_equal {
            lines(' ', &self.old[piece.old.clone()]);
        } else {
            lines('-', &self.old[piece.old.clone()]);
            lines('+', &self.new[piece.new.clone()]);
        }
    }

    /// Splits both texts into equal and differing segments.
    fn pieces(&self) -> Vec<Segment> {
        let mut blocks = Vec::new();
        self.match_within(0..self.old.len(), 0..self.new.len(), &mut blocks);
        blocks.push(Block {
            old: self.old.len(),
            new: self.new.len(),
            lines: 0,
        });
        let (mut old, mut new) = (0, 0);
        let mut pieces: Vec<Segment> = Vec::new();
        for block in blocks {
            if old < block.old || new < block.new {
                pieces.push(Segment {
                    is_equal: false,
                    old: old..block.old,
                    new: new..block.new,
                });
            }
            (old, new) = (block.old + block.lines, block.new + block.lines);
            if block.lines == 0 {
                continue;
            }
            match pieces.last_mut() {
                Some(last) if last.is_equal => (last.old.end, last.new.end) = (old, new),
                _ => pieces.push(Segment {
                    is_equal: true,
                    old: block.old..old,
                    new: block.new..new,
                }),
            }
        }
        pieces
    }

    /// Finds the longest equal run, and then the equal runs before and after it.
    fn match_within(&self, old: Range<usize>, new: Range<usize>, blocks: &mut Vec<Block>) {
        let block = self.longest(&old, &new);
        if block.lines == 0 {
            return;
        }
        if old.start < block.old && new.start < block.new {
            self.match_within(old.start..block.old, new.start..block.new, blocks);
        }
        blocks.push(block);
        let (old_next, new_next) = (block.old + block.lines, block.new + block.lines);
        if old_next < old.end && new_next < new.end {
            self.match_within(old_next..old.end, new_next..new.end, blocks);
        }
    }

    fn longest(&self, old: &Range<usize>, new: &Range<usize>) -> Block {
        let mut best = Block {
            old: old.start,
            new: new.start,
            lines: 0,
        };
        // The length of the run that ends at each line of the new text and at the previous line of the old text.
        let mut runs: BTreeMap<usize, usize> = BTreeMap::new();
        for at in old.clone() {
            let mut next = BTreeMap::new();
            let places = self.places.get(self.old[at]).into_iter().flatten();
            for place in places.copied().filter(|place| new.contains(place)) {
                let before = place.checked_sub(1).and_then(|before| runs.get(&before));
                let lines = before.copied().unwrap_or_default() + 1;
                next.insert(place, lines);
                if lines > best.lines {
                    best = Block {
                        old: at + 1 - lines,
                        new: place + 1 - lines,
                        lines,
                    };
                }
            }
            runs = next;
        }
        self.extended(best, old, new)
    }

    /// Takes frequent lines along that stand next to a run.
    fn extended(&self, mut block: Block, old: &Range<usize>, new: &Range<usize>) -> Block {
        while block.old > old.start
            && block.new > new.start
            && self.old[block.old - 1] == self.new[block.new - 1]
        {
            block.old -= 1;
            block.new -= 1;
            block.lines += 1;
        }
        while block.old + block.lines < old.end
            && block.new + block.lines < new.end
            && self.old[block.old + block.lines] == self.new[block.new + block.lines]
        {
            block.lines += 1;
        }
        block
    }
}

#[cfg(test)]
mod tests;
