//! Pages beside the reference.
//!
//! Those without examples are read by rustdoc only, so that a word in them compiles nothing anew.

/// Each name of client-go, ours, and what differs.
#[cfg_attr(doc, doc = include_str!("../docs/client-go.md"))]
pub mod client_go {}
