
/// Returns true if `scripts/seeded-bugs.sh` has selected this bug for the run.
pub(crate) fn is_buggy(name: &str) -> bool {
    static NAME: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var("SEEDED_BUG").ok())
        .as_deref()
        == Some(name)
}
