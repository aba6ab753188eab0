//! Rights of users.

use std::sync::Arc;

use fakeserver_value::user::UserInfo;

use super::{Attributes, Decision, Policy};

/// The rules of one moment.
#[derive(Clone, Debug)]
pub enum Access {
    All,
    Rules(Arc<Policy>),
}

// === impl Access ===

impl Access {
    /// Decides whether `user` may do what `attributes` describe.
    pub fn decide(&self, user: &UserInfo, attributes: &Attributes) -> Decision {
        match self {
            Self::All => Decision::allow(),
            Self::Rules(policy) => policy.decide(user, attributes),
        }
    }
}
