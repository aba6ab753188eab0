//! The report as `JUnit`'s XML.

use std::fmt::Write as _;

use support::call::whole;

use super::{Report, WRITES, escaped, line_of};

use crate::{acceptance::AcceptedFinding, finding::Finding};

/// Returns the verdicts as `JUnit`'s XML, a test case a plan. One of which all findings are accepted is skipped.
pub fn junit(report: &Report) -> String {
    let verdicts = &report.verdicts;
    let is_clean = report.is_reference_clean();
    let is_skipped = |findings: &[Finding], accepted: &[AcceptedFinding], is_idle: bool| {
        findings.is_empty() && (is_idle || !accepted.is_empty())
    };
    let skipped = verdicts
        .iter()
        .filter(|it| is_skipped(&it.findings, &it.accepted, it.is_idle));
    let reference = &report.reference;
    let is_first_skipped = is_skipped(&reference.findings, &reference.left_out, false);
    let ended = report.shortfall();
    let ended = ended.or_else(|| report.failure.as_ref().map(|error| whole(error)));
    let errors = usize::from(ended.is_some());
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"survive\" timestamp=\"{}\" time=\"{:.3}\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\">\n",
        report.origin.started.trim_end_matches('Z'),
        report.origin.seconds,
        verdicts.len() + 1 + errors,
        report.failed_count() + usize::from(!is_clean),
        skipped.count() + usize::from(is_first_skipped),
    );
    xml.push_str("  <properties>\n");
    push_properties(&mut xml, report);
    xml.push_str("  </properties>\n");
    write!(
        xml,
        "  <testcase classname=\"survive.reference\" name=\"without perturbation\" time=\"{:.3}\"",
        reference.took.as_secs_f64(),
    )
    .expect(WRITES);
    push_outcome(&mut xml, &reference.findings, &reference.left_out, false);
    for verdict in verdicts {
        let (_, line) = line_of(&verdict.plan);
        write!(
            xml,
            "  <testcase classname=\"survive.{}\" name=\"{}\" time=\"{:.3}\"",
            line.replace(' ', "-"),
            escaped(&verdict.plan.to_string()),
            verdict.took.as_secs_f64(),
        )
        .expect(WRITES);
        push_outcome(
            &mut xml,
            &verdict.findings,
            &verdict.accepted,
            verdict.is_idle,
        );
    }
    if let Some(ended) = ended {
        writeln!(
            xml,
            "  <testcase classname=\"survive.campaign\" name=\"all plans are run\"><error message=\"{}\"/></testcase>",
            escaped(&ended)
        )
        .expect(WRITES);
    }
    xml.push_str("</testsuite>\n");
    xml
}

/// Adds what is known of the campaign as a whole.
fn push_properties(xml: &mut String, report: &Report) {
    let mut property = |name: &str, value: &str| {
        let value = escaped(value);
        writeln!(xml, "    <property name=\"{name}\" value=\"{value}\"/>").expect(WRITES);
    };
    for (name, fact) in report.facts() {
        property(name, &fact);
    }
    property("planned", &report.planned_count.to_string());
    property("accepted", &report.left_out().count().to_string());
    for entry in report.unmatched() {
        property("accepted-unmatched", &entry.to_string());
    }
    for field in report.unmatched_masks() {
        property("mask-unmatched", &field);
    }
}

/// Ends the element of a test case.
fn push_outcome(
    xml: &mut String,
    findings: &[Finding],
    accepted: &[AcceptedFinding],
    is_idle: bool,
) {
    let joined = |findings: Vec<String>| escaped(&findings.join("\n"));
    let accepted: Vec<String> = accepted.iter().map(ToString::to_string).collect();
    if let Some(first) = findings.first() {
        let all: Vec<String> = findings.iter().map(ToString::to_string).collect();
        write!(
            xml,
            ">\n    <failure message=\"{}\">{}</failure>\n",
            escaped(&first.to_string()),
            joined(all),
        )
        .expect(WRITES);
        if !accepted.is_empty() {
            writeln!(xml, "    <system-out>{}</system-out>", joined(accepted)).expect(WRITES);
        }
        xml.push_str("  </testcase>\n");
    } else if !accepted.is_empty() {
        let joined = joined(accepted);
        writeln!(xml, "><skipped message=\"{joined}\"/></testcase>").expect(WRITES);
    } else if is_idle {
        xml.push_str("><skipped message=\"its writes did not come\"/></testcase>\n");
    } else {
        xml.push_str("/>\n");
    }
}
