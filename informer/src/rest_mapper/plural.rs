//! Names that a server leaves out, guessed.

/// The plural of a kind as client-go guesses it, in lower case.
///
/// Only a guess: a server's own plural is always preferred where it is known.
#[doc(alias = "UnsafeGuessKindToResource")]
pub fn guess_plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        return singular;
    }
    if singular.ends_with('s') {
        return singular + "es";
    }
    match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if singular.is_empty() => singular,
        None => singular + "s",
    }
}

/// The singular of a kind, as client-go guesses it for servers that do not say: the kind in lower case.
pub(super) fn guess_singular(kind: &str) -> String {
    kind.to_lowercase()
}
