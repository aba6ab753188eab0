//! The process does not panic, and does not end unless the plan ends it.

use std::{collections::BTreeSet, fs};

use super::Case;
use crate::{
    finding::{Finding, Promise},
    trace::Event,
};

/// The beginnings of lines by which runtimes tell of panics.
const PANICS: [&str; 3] = ["panic: ", "fatal error: ", "thread '"];

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut stopped = BTreeSet::new();
    for (at, event) in &case.outcome.trace.events {
        if let Event::Stopped { replica, .. } = event {
            stopped.insert(*replica);
        }
        if let Event::Ended {
            replica,
            how,
            is_planned: false,
            ..
        } = event
        {
            // A replica that has lost the lease may exit, to be started again as a candidate.
            if stopped.remove(replica) {
                continue;
            }
            let text = format!("replica {replica} {how}");
            findings.push(Finding::new(Promise::Alive, text).at(*at));
        }
    }
    for panic in &case.outcome.panics {
        findings.push(Finding::new(Promise::Alive, format!("it {panic}")));
    }
    for output in &case.outcome.output {
        let text = fs::read(output).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        if let Some(line) = text.lines().find(|line| is_panic(line)) {
            findings.push(Finding::new(Promise::Alive, format!("it says: {line}")));
        }
    }
    findings
}

fn is_panic(line: &str) -> bool {
    let begins = PANICS.iter().any(|beginning| line.starts_with(beginning));
    begins && (!line.starts_with("thread '") || line.contains("panicked at"))
}

#[cfg(test)]
mod tests {
    use super::is_panic;

    #[test]
    fn panics_are_distinguished_from_other_lines() {
        assert!(is_panic("panic: runtime error: index out of range"));
        assert!(is_panic("thread 'main' (7) panicked at src/main.rs:3:5:"));
        assert!(!is_panic("thread 'main' starts"));
        assert!(!is_panic("no panic: all is well"));
    }
}
