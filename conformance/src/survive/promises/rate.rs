//! No write is repeated in a hot loop.

use std::{collections::BTreeMap, time::Duration};

use super::Case;
use crate::survive::{
    finding::{Finding, Promise},
    trace::WriteKey,
};

/// More writes of one key than this in one second are a hot loop. Five waits that double from 5 ms on are over after 155 ms,
/// and ten after 5 s.
const WRITES_MAX: usize = 20;
const WINDOW: Duration = Duration::from_secs(1);

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut times: BTreeMap<&WriteKey, Vec<Duration>> = BTreeMap::new();
    for write in &case.outcome.trace.writes {
        times.entry(&write.point.key).or_default().push(write.at);
    }
    let mut findings = Vec::new();
    for (key, times) in times {
        let windows = times.windows(WRITES_MAX + 1);
        let hot = windows
            .filter(|window| window[WRITES_MAX] <= window[0] + WINDOW)
            .map(|window| window[0])
            .next();
        // Objects whose names the server completes are many of one key.
        if let Some(at) = hot.filter(|_| !key.name.ends_with('*')) {
            let text = format!("{key} more than {WRITES_MAX} times within a second");
            findings.push(Finding::new(Promise::Rate, text).at(at));
        }
    }
    findings
}
