//! Rights of users.

use std::sync::Arc;

use super::{Attributes, Decision, Policy};
use crate::value::user::UserInfo;

/// The rules of one moment.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    All,
    Rules(Arc<Policy>),
}

// === impl Access ===

impl Access {
    /// Decides whether `user` may do what `attributes` describe.
    pub(crate) fn decide(&self, user: &UserInfo, attributes: &Attributes) -> Decision {
        match self {
            Self::All => Decision::allow(),
            Self::Rules(policy) => policy.decide(user, attributes),
        }
    }
}
