//! The viewer: one page with a trace in it, which needs no network.

/// The page that `scripts/viewer.sh` builds of `viewer`.
const VIEWER: &str = include_str!("../../viewer/dist/viewer.html");
/// The places of the traces in it.
const TRACE: &str = "{{TRACE}}";
const REFERENCE: &str = "{{REFERENCE}}";

/// Returns a page that shows the text of a trace file, beside that of a reference run if there is one.
///
/// # Panics
///
/// If the built viewer has no places for traces, which a test excludes.
pub fn page(trace: &str, reference: Option<&str>) -> String {
    let (before, rest) = VIEWER.split_once(TRACE).expect("the viewer has a place");
    let (between, after) = rest.split_once(REFERENCE).expect("it has two");
    let reference = reference.unwrap_or_default();
    [before, &escaped(trace), between, &escaped(reference), after].concat()
}

/// Escapes what could end the element that holds a trace. In JSON, `<` stands in texts only.
fn escaped(trace: &str) -> String {
    trace.replace('<', "\\u003c")
}
