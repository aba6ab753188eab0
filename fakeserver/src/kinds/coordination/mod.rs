//! The group `coordination.k8s.io`.

pub(crate) mod lease;
pub(crate) mod lease_candidate;

use crate::value::{field::Field, findings::Findings, names::qualified_name_problems};

/// The strategy of elections that the server holds itself.
pub(crate) const OLDEST_EMULATION_VERSION: &str = "OldestEmulationVersion";

/// Checks the strategy of an election: a known one, or a qualified name. Findings call it a member of itself.
fn check_strategy(strategy: &Field<'_>, found: &mut Findings) {
    let place = strategy.called_within(strategy, "strategy");
    if strategy.text().contains('/') {
        found.problems(&place, qualified_name_problems(strategy.text()));
    } else {
        found.optional_one_of(&place, &[OLDEST_EMULATION_VERSION]);
    }
}
