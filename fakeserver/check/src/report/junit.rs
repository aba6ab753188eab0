//! The report as `JUnit`'s XML: a suite a file, a test case an object.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use super::versions;
use crate::{
    check::{CheckReport, CheckedFile},
    finding::{Finding, ObjectName, Severity},
};

const WRITES: &str = "a string takes what is written";

/// Returns the report as `JUnit`'s XML. Errors fail the test case of their object; warnings do if `warnings_fail`, and are
/// output otherwise, like notes.
pub fn junit(report: &CheckReport, warnings_fail: bool) -> String {
    let mut by_file: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in &report.findings {
        by_file.entry(&finding.file).or_default().push(finding);
    }
    let fails = |finding: &Finding| match finding.severity() {
        Severity::Error => true,
        Severity::Warning => warnings_fail,
        Severity::Note => false,
    };
    let mut suites = String::new();
    let (mut cases, mut failures) = (0, 0);
    for file in &report.files {
        let findings = by_file.remove(&*file.name).unwrap_or_default();
        let suite = Suite::of(file, &findings, report, &fails);
        cases += suite.cases;
        failures += suite.failures;
        suites.push_str(&suite.xml);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fakeserver check\" tests=\"{cases}\" failures=\"{failures}\">\n{suites}</testsuites>\n"
    )
}

/// The suite of a file.
struct Suite {
    xml: String,
    cases: usize,
    failures: usize,
}

// === impl Suite ===

impl Suite {
    fn of(
        file: &CheckedFile,
        findings: &[&Finding],
        report: &CheckReport,
        fails: &dyn Fn(&Finding) -> bool,
    ) -> Self {
        let mut by_object: BTreeMap<Option<&ObjectName>, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            let object = finding.object.as_deref();
            by_object.entry(object).or_default().push(finding);
        }
        let mut suite = Self {
            xml: String::new(),
            cases: 0,
            failures: 0,
        };
        if let Some(of_file) = by_object.remove(&None) {
            suite.add(file, "the file can be read", &of_file, report, fails);
        }
        let mut objects: Vec<&Arc<ObjectName>> = file.objects.iter().collect();
        objects.dedup();
        for object in objects {
            let of_object = by_object.remove(&Some(&**object)).unwrap_or_default();
            suite.add(file, &object.to_string(), &of_object, report, fails);
        }
        suite.xml = format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n",
            escaped(&file.name),
            suite.cases,
            suite.failures,
            suite.xml,
        );
        suite
    }

    /// Adds a test case.
    fn add(
        &mut self,
        file: &CheckedFile,
        name: &str,
        findings: &[&Finding],
        report: &CheckReport,
        fails: &dyn Fn(&Finding) -> bool,
    ) {
        self.cases += 1;
        let (failing, others): (Vec<&Finding>, Vec<&Finding>) =
            findings.iter().partition(|finding| fails(finding));
        write!(
            self.xml,
            "    <testcase classname=\"{}\" name=\"{}\"",
            escaped(&file.name),
            escaped(name),
        )
        .expect(WRITES);
        if findings.is_empty() {
            self.xml.push_str("/>\n");
            return;
        }
        self.xml.push_str(">\n");
        let lines = |findings: &[&Finding]| {
            let lines = findings.iter().map(|finding| line(finding, report));
            escaped(&lines.collect::<Vec<_>>().join("\n"))
        };
        if let Some(first) = failing.first() {
            self.failures += 1;
            writeln!(
                self.xml,
                "      <failure type=\"{}\" message=\"{}\">{}</failure>",
                first.rule.id(),
                escaped(&first.text()),
                lines(&failing),
            )
            .expect(WRITES);
        }
        if !others.is_empty() {
            writeln!(
                self.xml,
                "      <system-out>{}</system-out>",
                lines(&others)
            )
            .expect(WRITES);
        }
        self.xml.push_str("    </testcase>\n");
    }
}

/// Returns a finding in one line, with its place.
fn line(finding: &Finding, report: &CheckReport) -> String {
    let place = finding
        .position
        .map_or_else(String::new, |position| format!(":{position}"));
    let held = versions::text(&finding.versions, &report.versions);
    let held = if held.is_empty() {
        held
    } else {
        format!(" (in {held})")
    };
    format!(
        "{}{place}: {}: {}{held} [{}]",
        finding.file,
        finding.severity().name(),
        finding.text(),
        finding.rule.id(),
    )
}

/// Returns a text as XML has it. Control characters, which XML cannot have, are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push('\t'),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
