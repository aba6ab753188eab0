//! Bars for work that takes a while, on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Returns a progress bar of `length` steps.
pub(crate) fn progress_bar(length: u64, what: &'static str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}")
        .expect("the template is valid");
    ProgressBar::with_draw_target(Some(length), target)
        .with_style(style)
        .with_message(what)
}
