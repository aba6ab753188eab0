//! The trace file of a run that broke promises, with these, and the events that led there.

use std::collections::BTreeSet;

use tracefile::{BrokenPromise, EventKind, ReadError, Standstill, TraceFile};

use super::finding::Finding;

/// The number of writes, and of changes, that are named as causes of a finding.
const LED: usize = 3;

/// Adds to the text of a trace file what its run did not know: the line that runs it again, and the broken promises.
///
/// # Errors
///
/// It is no text of a trace file.
pub fn with_findings(
    text: &str,
    replay: Option<String>,
    findings: &[Finding],
) -> Result<String, ReadError> {
    let mut file = TraceFile::read(text)?;
    let (_, rest) = text.split_once('\n').unwrap_or_default();
    file.header.replay = replay;
    let mut lines = vec![serde_json::to_string(&file.header).expect("plain values")];
    lines.push(rest.trim_end().to_owned());
    let mut findings: Vec<&Finding> = findings.iter().collect();
    findings.sort_by_key(|finding| (finding.at_ms.is_none(), finding.at_ms));
    for finding in findings {
        let broken = broken(&file, finding);
        lines.push(serde_json::to_string(&broken).expect("plain values"));
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

fn broken(file: &TraceFile, finding: &Finding) -> BrokenPromise {
    let at = finding.at_ms.and_then(|at_ms| {
        // The events of this millisecond count.
        let micros = at_ms.saturating_mul(1_000).saturating_add(999);
        let count = file.events.partition_point(|event| event.micros <= micros);
        count.checked_sub(1)
    });
    BrokenPromise {
        promise: finding.promise.to_string(),
        finding: finding.text.clone(),
        expected: Some(finding.promise.expectation().to_owned()),
        at,
        causes: led(file, at, &finding.text),
        is_excused: false,
    }
}

/// Returns the events before `at` that may have led to a finding: the last writes of the objects that it names with what was
/// read before them, their last changes, and the last thing that the plan did.
fn led(file: &TraceFile, at: Option<usize>, finding: &str) -> Vec<usize> {
    let end = at.unwrap_or(file.events.len());
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-./".contains(letter);
    let words: BTreeSet<&str> = finding
        .split(|letter| !is_part(letter))
        .map(|word| word.trim_end_matches('.'))
        .collect();
    let named: Vec<usize> = (0..file.objects.len())
        .filter(|object| {
            let name = &file.objects[*object];
            words.contains(name.name.as_str()) || words.contains(name.key().as_str())
        })
        .collect();
    // A finding about no object may be about a resource.
    let short: BTreeSet<&str> = match named.as_slice() {
        [] => words,
        named => named
            .iter()
            .map(|it| file.objects[*it].name.as_str())
            .collect(),
    };
    let (mut writes, mut changes, mut deeds) = (Vec::new(), Vec::new(), Vec::new());
    for (number, event) in file.events.iter().enumerate().take(end).rev() {
        match &event.kind {
            EventKind::Request { verb, say, .. }
                if !matches!(verb.as_str(), "get" | "list" | "watch")
                    && say.split([' ', '/']).any(|word| short.contains(word)) =>
            {
                writes.push(number);
            }
            EventKind::Change { object, .. } if named.contains(object) => changes.push(number),
            EventKind::Fault { .. } => deeds.push(number),
            EventKind::Stop {
                how: Standstill::Crash | Standstill::Pause,
                say,
            } if !say.contains("for the restart") => deeds.push(number),
            _ => {}
        }
    }
    let mut led = BTreeSet::new();
    for write in writes.into_iter().take(LED) {
        led.insert(write);
        led.extend(file.events[write].causes.iter().copied());
    }
    led.extend(changes.into_iter().take(LED));
    led.extend(deeds.first());
    led.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Promise;

    const TRACE: &str = r#"{"format":"conformance-trace","version":"1.0","program":"p","title":"a plan"}
{"actor":0,"name":"server","role":"server"}
{"actor":1,"name":"replica 0","role":"process"}
{"object":0,"kind":"Pod","resource":"pods","namespace":"one","name":"web"}
{"t":1000,"a":0,"k":"frame","q":0,"type":"ADDED","o":0,"r":4}
{"t":2000,"a":1,"from":[0],"k":"request","q":1,"verb":"update","say":"update pods one/web"}
{"t":3000,"a":0,"k":"change","o":0,"r":5,"new":{}}
{"t":4000,"a":1,"k":"request","q":2,"verb":"create","say":"create secrets one/other"}
{"t":5000,"a":1,"k":"stop","how":"crash","say":"killed, by the plan"}
{"t":9000,"a":1,"k":"stop","how":"crash","say":"ended for the restart, by the plan"}
{"end":6}
"#;

    fn annotated(finding: Finding) -> (TraceFile, BrokenPromise) {
        let replay = Some("conformance survive --replay 1.json".to_owned());
        let text = with_findings(TRACE, replay, &[finding]).unwrap();
        let file = TraceFile::read(&text).unwrap();
        let broken = file.broken[0].clone();
        (file, broken)
    }

    #[test]
    fn a_finding_is_reported_with_the_write_of_its_object_and_the_read_before_it() {
        let (file, broken) = annotated(Finding::new(
            Promise::EndState,
            "pods one/web: spec differs",
        ));
        assert!(file.is_complete && file.header.replay.is_some());
        assert_eq!((broken.at, broken.causes), (None, vec![0, 1, 2, 4]));
        assert!(broken.expected.is_some());
    }

    #[test]
    fn a_finding_about_a_resource_is_reported_with_its_writes() {
        let finding = Finding {
            at_ms: Some(4),
            ..Finding::new(Promise::Churn, "2 secrets were created instead of 1")
        };
        let (_, broken) = annotated(finding);
        assert_eq!((broken.at, broken.causes), (Some(3), Vec::new()));
        let (_, broken) = annotated(Finding::new(
            Promise::Churn,
            "2 secrets were created instead of 1",
        ));
        assert_eq!(broken.causes, [3, 4]);
    }
}
