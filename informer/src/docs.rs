//! Pages beside the reference.
//!
//! Only rustdoc reads them, so that an edit recompiles nothing.

/// Each name of client-go, ours, and what differs.
#[cfg_attr(doc, doc = include_str!("../docs/client-go.md"))]
pub mod client_go {}

/// The clients of client-go, and what they are called here.
#[cfg_attr(any(doc, doctest), doc = include_str!("../docs/clients.md"))]
pub mod clients {}

/// Issues of kube-rs, controller-runtime and client-go, and what happens here.
#[cfg_attr(doc, doc = include_str!("../docs/issues.md"))]
pub mod issues {}

/// From `reflector` and `Store` to an informer in ten lines.
#[cfg_attr(any(doc, doctest), doc = include_str!("../docs/kube-runtime.md"))]
pub mod kube_runtime {}
