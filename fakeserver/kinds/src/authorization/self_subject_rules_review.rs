//! Reviews of the rules that apply to the client that asks.

use crate::Kind;

/// Reviews of the rules that apply to the client that asks.
pub static KIND: Kind = Kind::new("authorization.k8s.io", "selfsubjectrulesreviews");
