//! No deletion hits an object with another uid than the one that the subject had read.

use super::Case;
use crate::{
    finding::{Finding, Promise},
    trace::Effect,
};

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for write in &case.outcome.trace.writes {
        if write.point.key.verb != "delete" || write.effect != Effect::Changed {
            continue;
        }
        let (Some(seen), Some(uid)) = (&write.seen, &write.target_uid) else {
            continue;
        };
        if seen.uid != *uid {
            let text = format!(
                "{} hit another object than the one that was read: it had been deleted and created again",
                write.point.key
            );
            findings.push(Finding::new(Promise::BlindDeletes, text).at(write.at));
        }
    }
    findings
}
