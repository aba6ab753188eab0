//! The selection of a server's controllers.

use fakeserver_kinds::certificates::authority::Authority;

/// The controllers of an API server that work, and what they depend on.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each controller is on or off by itself"
)]
pub struct EnabledControllers {
    pub garbage_collector: bool,
    pub namespaces: bool,
    pub quota: bool,
    /// True if leaders are elected among lease candidates, which only some servers have.
    pub leader_election: bool,
    pub service_accounts: bool,
    pub certificates: bool,
    /// The authority that signs certificates, and that clients trust.
    pub authority: Option<Authority>,
    /// True if the stored roles and bindings decide about rights.
    pub has_rules: bool,
    /// True if the cluster is not empty at first. The server keeps its own objects then, and the versions of definitions have
    /// API services, as those of built-in groups have.
    pub bootstrapped: bool,
    /// True if one of the servers that have a log in common is elected to run the controllers. Others have no election.
    pub elected: bool,
}

// === impl EnabledControllers ===

impl EnabledControllers {
    /// No controllers.
    pub const NONE: Self = Self {
        garbage_collector: false,
        namespaces: false,
        quota: false,
        leader_election: false,
        service_accounts: false,
        certificates: false,
        authority: None,
        has_rules: false,
        bootstrapped: false,
        elected: true,
    };
}

/// The controllers without which deletions do not end, and elections.
impl Default for EnabledControllers {
    fn default() -> Self {
        Self {
            garbage_collector: true,
            namespaces: true,
            leader_election: true,
            ..Self::NONE
        }
    }
}
