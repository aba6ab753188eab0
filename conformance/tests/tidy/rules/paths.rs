//! Paths in Markdown exist: targets of links, and paths in code. So do those in comments, and in data files.

use std::collections::BTreeSet;

use crate::{
    finding::Finding,
    markdown::{self, Part},
    tree::Tree,
};

/// Types of files of which examples have no names of their own.
const OURS: [&str; 4] = ["rs", "md", "sh", "py"];
/// Keys of annotations that look like paths.
const ANNOTATIONS: [&str; 1] = ["fakeserver/exit-code"];

/// The paths in Markdown that lead nowhere.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let places = PathIndex::of(tree);
    let mut findings = Vec::new();
    for (page, text) in tree.of_type("md") {
        for (line, part) in markdown::parts(text) {
            let missing: Vec<String> = match part {
                Part::Link(target) => places.missing_target(page, target).into_iter().collect(),
                // What a command printed is about objects as often as about files.
                Part::Fenced("console", printed) if !printed.starts_with('$') => Vec::new(),
                Part::Span(code) | Part::Fenced(_, code) => {
                    let words = code.split_whitespace().flat_map(alternatives);
                    words.filter(|word| places.is_missing(word)).collect()
                }
            };
            findings.extend(missing.into_iter().map(|path| {
                let what = format!("`{path}` does not exist");
                Finding::new(page, line, what, "name a path that does")
            }));
        }
    }
    findings
}

/// Returns the paths in comments that lead nowhere. Only those count that begin at the root of the repository and name a file or
/// a folder: other words have slashes, too.
pub(crate) fn in_comments(tree: &Tree) -> Vec<Finding> {
    let places = PathIndex::of(tree);
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        let Some(mark) = comment_mark(path) else {
            continue;
        };
        for (index, line) in text.lines().enumerate() {
            let Some((before, comment)) = line.split_once(mark) else {
                continue;
            };
            // In an address or a text.
            if before.ends_with([':', '"', '\'']) {
                continue;
            }
            let words =
                comment.split(|letter: char| letter.is_whitespace() || "`'\"()[]".contains(letter));
            let words = words
                .map(|word| word.trim_end_matches([',', ';', ':', '.', '!', '?', '/']))
                .filter(|word| places.is_rooted(word))
                .flat_map(alternatives);
            findings.extend(words.filter(|word| places.is_missing(word)).map(|word| {
                Finding::new(
                    path,
                    index + 1,
                    format!("`{word}` does not exist"),
                    "name a path that does",
                )
            }));
        }
    }
    findings
}

/// Returns the mark before a comment in a file, if comments of its type are read.
fn comment_mark(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    match extension {
        "rs" | "ts" | "mts" | "js" | "cjs" | "mjs" | "go" | "java" => Some("//"),
        "py" | "sh" | "toml" | "yaml" | "yml" | "txt" => Some("#"),
        _ => None,
    }
}

/// The files and folders, and the ends of their paths by which pages may call them.
struct PathIndex<'a> {
    tree: &'a Tree,
    ends: BTreeSet<&'a str>,
    /// The paths that `.gitignore` files name: they come to exist.
    ignored: BTreeSet<String>,
    roots: BTreeSet<&'a str>,
}

// === impl PathIndex ===

impl<'a> PathIndex<'a> {
    fn of(tree: &'a Tree) -> Self {
        let files = tree.files().map(|(path, _)| path);
        let all: Vec<&str> = files.chain(tree.folders()).collect();
        let ends = all.iter().flat_map(|path| {
            let ends = path.match_indices('/');
            ends.map(|(slash, _)| &path[slash + 1..]).chain([*path])
        });
        Self {
            tree,
            ends: ends.collect(),
            ignored: ignored(tree),
            roots: all
                .iter()
                .filter_map(|path| path.split_once('/'))
                .map(|(root, _)| root)
                .collect(),
        }
    }

    /// The path to which a link of `page` leads, if nothing is there.
    fn missing_target(&self, page: &str, target: &str) -> Option<String> {
        let is_outside =
            target.contains("://") || target.contains("::") || target.starts_with("mailto:");
        let target = target.split('#').next().unwrap_or_default();
        if is_outside || target.is_empty() {
            return None;
        }
        // Rustdoc's links to modules have neither.
        if !target.contains(['/', '.']) {
            return None;
        }
        let mut segments: Vec<&str> = page.split('/').collect();
        segments.pop();
        for segment in target.trim_end_matches('/').split('/') {
            match segment {
                "." => {}
                ".." => drop(segments.pop()),
                other => segments.push(other),
            }
        }
        let path = segments.join("/");
        (!self.tree.has(&path)).then_some(path)
    }

    /// True if a word is a path from the root with the extension of a file, or of two folders at least.
    fn is_rooted(&self, word: &str) -> bool {
        let Some((root, rest)) = word.split_once('/') else {
            return false;
        };
        self.roots.contains(root) && (rest.contains('.') || rest.contains('/'))
    }

    /// True if a word of code looks like a path of this repository and is none.
    fn is_missing(&self, word: &str) -> bool {
        let word = word.trim_start_matches("./");
        let path = word.trim_end_matches('/');
        let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_path = match path.split_once('/') {
            Some((root, _)) => {
                self.roots.contains(root) || OURS.contains(&extension) || path != word
            }
            None => OURS.contains(&extension) || path != word,
        };
        let is_odd = path
            .contains(|letter: char| !(letter.is_ascii_alphanumeric() || "/._-".contains(letter)));
        is_path
            && !is_odd
            && !path.starts_with('_')
            && !path.is_empty()
            && !word.starts_with('/')
            && !self.ends.contains(path)
            && !self.ignored.contains(path)
            && !ANNOTATIONS.contains(&path)
    }
}

/// The paths that `.gitignore` files name.
fn ignored(tree: &Tree) -> BTreeSet<String> {
    let files = tree
        .files()
        .filter_map(|(path, text)| Some((path.strip_suffix(".gitignore")?, text)));
    let lines = files.flat_map(|(folder, text)| text.lines().map(move |line| (folder, line)));
    lines
        .map(|(folder, line)| format!("{folder}{}", line.trim_matches('/')))
        .collect()
}

/// The paths that a word stands for: `a/{b,c}` is two, and ends before a placeholder such as `<name>`, `*` or `TARGET`.
fn alternatives(word: &str) -> Vec<String> {
    if let (Some(open), Some(close)) = (word.find('{'), word.find('}'))
        && open < close
    {
        let (before, after) = (&word[..open], &word[close + 1..]);
        let names = word[open + 1..close].split(',');
        return names
            .flat_map(|name| alternatives(&format!("{before}{name}{after}")))
            .collect();
    }
    let is_placeholder = |segment: &str| {
        let letters = segment.chars().filter(|letter| letter.is_alphabetic());
        segment.contains(['<', '*'])
            || (letters.clone().count() > 0
                && !segment.contains('.')
                && letters.into_iter().all(char::is_uppercase))
    };
    let segments: Vec<&str> = word.split('/').collect();
    let kept = segments.iter().position(|segment| is_placeholder(segment));
    match kept {
        Some(0) => Vec::new(),
        Some(count) => vec![format!("{}/", segments[..count].join("/"))],
        None => vec![word.to_owned()],
    }
}
