//! Regular expressions as Go reads them.

use std::{
    collections::BTreeMap,
    str::Chars,
    sync::{Arc, Mutex, PoisonError},
};

use regex::{Error, Regex, RegexBuilder};

/// The number of compiled patterns in the cache.
const CACHED_MAX: usize = 64;
/// The size of a program in the cache, in bytes. Patterns are the users', and larger programs take up to 10 MB.
const CACHED_SIZE_MAX: usize = 64 << 10;

/// The patterns that were compiled last. To compile one takes a thousand times as long as to match a name, and each value of a
/// custom resource is matched with those of its schema.
struct PatternCache(Mutex<BTreeMap<String, Arc<Regex>>>);

/// Compiles a pattern, or returns it from a bounded cache of this process.
///
/// # Errors
///
/// Returns what Go says of a pattern that is not valid.
pub fn compile(pattern: &str) -> Result<Arc<Regex>, String> {
    static CACHE: PatternCache = PatternCache::new();
    CACHE.compile(pattern)
}

// === impl PatternCache ===

impl PatternCache {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    fn compile(&self, pattern: &str) -> Result<Arc<Regex>, String> {
        let patterns = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = patterns().get(pattern) {
            return Ok(Arc::clone(compiled));
        }
        let translated = translated(pattern);
        let small = RegexBuilder::new(&translated)
            .size_limit(CACHED_SIZE_MAX)
            .build();
        let problem = |error| pattern_problem(pattern, &error);
        if let Err(Error::CompiledTooBig(_)) = small {
            return Regex::new(&translated).map(Arc::new).map_err(problem);
        }
        let compiled = Arc::new(small.map_err(problem)?);
        let mut patterns = patterns();
        if patterns.len() == CACHED_MAX {
            patterns.clear();
        }
        patterns.insert(pattern.to_owned(), Arc::clone(&compiled));
        Ok(compiled)
    }
}

/// Returns a pattern of the crate that means what one means to Go: classes and boundaries are those of ASCII, and fewer
/// characters are special.
fn translated(pattern: &str) -> String {
    let (mut made, mut letters) = (String::with_capacity(pattern.len()), pattern.chars());
    // The number of characters since the beginning of a class, in which a first bracket is one of its characters.
    let mut class: Option<usize> = None;
    while let Some(letter) = letters.next() {
        let rest = letters.as_str();
        match (letter, class) {
            ('\\', _) => escape(&mut made, &mut letters, class.is_some()),
            ('[', None) => {
                made.push('[');
                if let Some(rest) = rest.strip_prefix('^') {
                    made.push('^');
                    letters = rest.chars();
                }
                class = Some(0);
                continue;
            }
            ('[', Some(_)) if let Some(length) = class_name_length(rest) => {
                let (name, rest) = rest.split_at(length);
                made.extend(["[", name]);
                letters = rest.chars();
            }
            ('[' | '&' | '~', Some(_)) => made.extend(['\\', letter]),
            (']', Some(1..)) => {
                made.push(']');
                class = None;
                continue;
            }
            ('{', None) if !is_repetition(rest) => made.push_str("\\{"),
            _ => made.push(letter),
        }
        class = class.map(|count| count + 1);
    }
    made
}

/// Translates the escape behind a backslash.
fn escape(made: &mut String, letters: &mut Chars<'_>, in_class: bool) {
    let Some(letter) = letters.next() else {
        return made.push('\\');
    };
    let members = match letter.to_ascii_lowercase() {
        'd' => "0-9",
        's' => "\\t\\n\\f\\r ",
        'w' => "0-9A-Za-z_",
        _ => "",
    };
    match letter {
        'd' | 's' | 'w' if in_class => made.push_str(members),
        'd' | 's' | 'w' => made.extend(["[", members, "]"]),
        'D' | 'S' | 'W' => made.extend(["[^", members, "]"]),
        'b' if !in_class => made.push_str("(?-u:\\b)"),
        'B' if !in_class => made.push_str("(?-u:\\B)"),
        '<' | '>' => made.push(letter),
        'Q' => {
            let rest = letters.as_str();
            let (quoted, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
            made.push_str(&regex::escape(quoted));
            *letters = rest.chars();
        }
        letter => {
            made.extend(['\\', letter]);
            // The braces of a name or a code are not those of a repetition.
            if matches!(letter, 'p' | 'P' | 'x')
                && let Some(name) = letters.as_str().strip_prefix('{')
            {
                let end = name.trim_start_matches(|c: char| {
                    c == '^' || c == '_' || c.is_ascii_alphanumeric()
                });
                let (name, rest) = letters
                    .as_str()
                    .split_at(letters.as_str().len() - end.len());
                made.push_str(name);
                *letters = rest.chars();
            }
        }
    }
}

/// Returns the length of the name of a class behind a bracket: `:alpha:]`.
fn class_name_length(rest: &str) -> Option<usize> {
    let name = rest.strip_prefix(':')?;
    let end = name.trim_start_matches(|c: char| c == '^' || c.is_ascii_alphanumeric());
    let rest_of_all = end.strip_prefix(":]")?;
    Some(rest.len() - rest_of_all.len())
}

/// Returns whether the text from a brace on is a repetition count.
fn is_repetition(rest: &str) -> bool {
    let without_number =
        |text: &'_ str| text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after_least = &rest[rest.len() - without_number(rest)..];
    let after_comma = after_least.strip_prefix(',').unwrap_or(after_least);
    let most = &after_comma[after_comma.len() - without_number(after_comma)..];
    after_least.len() < rest.len() && most.starts_with('}')
}

/// Returns Go's message for an invalid pattern, as far as the error of the crate allows.
fn pattern_problem(pattern: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let translations = [
        ("unclosed group", "missing closing )", true),
        ("unopened group", "unexpected )", true),
        ("unclosed character class", "missing closing ]", false),
        (
            "repetition operator missing expression",
            "missing argument to repetition operator",
            false,
        ),
    ];
    let found = translations.iter().find(|(ours, ..)| text.contains(ours));
    match found {
        Some((_, theirs, true)) => format!("error parsing regexp: {theirs}: `{pattern}`"),
        Some((ours, theirs, false)) => {
            let part = match *ours {
                "unclosed character class" => pattern.find('[').map(|at| &pattern[at..]),
                _ => pattern.get(..1),
            };
            format!(
                "error parsing regexp: {theirs}: `{}`",
                part.unwrap_or(pattern)
            )
        }
        None => format!("error parsing regexp: invalid or unsupported Perl syntax: `{pattern}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_patterns_are_compiled_once_and_the_cache_is_bounded() {
        // Not that of the process, which other tests fill at the same time.
        let cache = PatternCache::new();
        let compile = |pattern: &str| cache.compile(pattern);
        let first = compile("^cached$").unwrap();
        assert!(Arc::ptr_eq(&first, &compile("^cached$").unwrap()));
        for number in 0..2 * CACHED_MAX {
            compile(&format!("^other{number}$")).unwrap();
            assert!(cache.0.lock().unwrap().len() <= CACHED_MAX);
        }
        assert!(!Arc::ptr_eq(&first, &compile("^cached$").unwrap()));
        let large = "a{900}b{900}c{900}";
        assert!(!Arc::ptr_eq(
            &compile(large).unwrap(),
            &compile(large).unwrap()
        ));
    }

    #[test]
    fn patterns_match_as_in_go() {
        for (pattern, text, is_match) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^\D$", "١", true),
            (r"^[\d_]+$", "1_", true),
            (r"^[^\d]$", "é", true),
            (r"^[\D]$", "1", false),
            (r"^\w$", "é", false),
            (r"^[\W]$", "é", true),
            (r"^\s$", "\u{a0}", false),
            (r"^\S$", "\u{a0}", true),
            (r"\bb", "éb", true),
            (r"\Bb", "éb", false),
            (r"(?i)^straSSE$", "STRASSE", true),
            (r"^\p{Greek}\pL$", "αé", true),
            (r"^[[:alpha:]_]+$", "a_", true),
            (r"^[[a]+$", "[a", true),
            (r"^[]a]+$", "]a", true),
            (r"^[^]]$", "]", false),
            (r"^[a&&b]+$", "&a", true),
            (r"^[a~~b]+$", "~", true),
            (r"^a{2,}$", "aaa", true),
            (r"^a{,2}$", "a{,2}", true),
            (r"^{a}$", "{a}", true),
            (r"^\x{e9}\x41$", "éA", true),
            (r"^\<a\>\_$", "<a>_", true),
            (r"^\Qa.b\E+$", "a.bb", true),
            (r"^\Qa.b", "axb", false),
            (r"^.$", "世", true),
        ] {
            let compiled = compile(pattern).unwrap();
            assert_eq!(compiled.is_match(text), is_match, "{pattern} {text}");
        }
    }

    #[test]
    fn errors_are_those_of_go() {
        for (pattern, problem) in [
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
            ("a[b", "missing closing ]: `[b`"),
            ("*", "missing argument to repetition operator: `*`"),
            (r"\y", "invalid or unsupported Perl syntax: `\\y`"),
        ] {
            let problem = format!("error parsing regexp: {problem}");
            assert_eq!(compile(pattern).unwrap_err(), problem, "{pattern}");
        }
    }
}
