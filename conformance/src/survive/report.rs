//! The findings of a campaign as text, JSON and `JUnit`'s XML.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    path::PathBuf,
};

use serde::Serialize;

use super::{
    campaign::{CampaignError, Verdict},
    finding::Finding,
    plan::{Family, Perturbation, Plan, Side},
    reference::Reference,
};

const WRITES: &str = "a string takes what is written";

/// The number of masked fields that are told; `report.json` has all of them.
const MASKED_TOLD: usize = 5;

/// The findings of a campaign.
#[derive(Debug)]
pub struct Report {
    /// The reference.
    pub reference: Reference,
    /// The verdicts, in the order of their plans.
    pub verdicts: Vec<Verdict>,
    /// The number of plans that were chosen, with those that were not run.
    pub planned_count: usize,
    /// The failure to begin a run, after which no other one was begun.
    pub failure: Option<CampaignError>,
    /// The files by which failures are replayed, by the place of the verdict.
    pub replays: BTreeMap<usize, PathBuf>,
    /// The trace files of failures that a Rust test keeps, by the place of the verdict.
    pub traces: BTreeMap<usize, PathBuf>,
    /// The trace file of the run without perturbation beside them.
    pub reference_trace: Option<PathBuf>,
}

/// A line of the report: plans of one kind.
#[derive(Debug, Default)]
struct Line<'a> {
    total: usize,
    survived: usize,
    first_failure: Option<&'a Verdict>,
}

/// The report as JSON.
#[derive(Serialize)]
struct Json<'a> {
    reference: JsonReference<'a>,
    planned: usize,
    runs: Vec<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonReference<'a> {
    writes: Vec<String>,
    objects: usize,
    seconds: f64,
    masked: Vec<String>,
    unserved: &'a [String],
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct JsonRun<'a> {
    family: Family,
    plan: String,
    survived: bool,
    idle: bool,
    seconds: f64,
    findings: &'a [Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<&'a PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a PathBuf>,
}

// === impl Report ===

impl Report {
    /// Returns the number of plans that broke a promise.
    pub fn failed_count(&self) -> usize {
        self.failed().count()
    }

    /// Returns whether the subject keeps all promises without perturbation.
    pub fn is_reference_clean(&self) -> bool {
        self.reference.findings.is_empty()
    }

    /// Returns whether all promises were kept, without perturbation, too.
    pub fn is_good(&self) -> bool {
        self.failed_count() == 0 && self.is_reference_clean()
    }

    /// Returns the verdicts on plans that broke a promise.
    pub fn failed(&self) -> impl Iterator<Item = &Verdict> {
        let verdicts = self.verdicts.iter();
        verdicts.filter(|it| !it.findings.is_empty())
    }

    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let reference = &self.reference;
        let verdicts = self.verdicts.iter().enumerate();
        let json = Json {
            reference: JsonReference {
                writes: reference
                    .writes
                    .iter()
                    .map(|it| it.point.to_string())
                    .collect(),
                objects: reference.end.object_count(),
                seconds: reference.took.as_secs_f64(),
                masked: masked(reference),
                unserved: &reference.trace.unserved,
                findings: &reference.findings,
            },
            planned: self.planned_count,
            runs: verdicts
                .map(|(place, verdict)| JsonRun {
                    family: verdict.plan.family,
                    plan: verdict.plan.to_string(),
                    survived: verdict.findings.is_empty(),
                    idle: verdict.is_idle,
                    seconds: verdict.took.as_secs_f64(),
                    findings: &verdict.findings,
                    replay: self.replays.get(&place),
                    trace: self.traces.get(&place),
                })
                .collect(),
        };
        serde_json::to_string_pretty(&json).expect("it is made of plain values")
    }

    fn lines(&self) -> BTreeMap<(Family, &'static str), Line<'_>> {
        let mut lines: BTreeMap<_, Line<'_>> = BTreeMap::new();
        for verdict in self.verdicts.iter().filter(|verdict| !verdict.is_idle) {
            let line = lines.entry(line_of(&verdict.plan)).or_default();
            line.total += 1;
            if verdict.findings.is_empty() {
                line.survived += 1;
            } else if line.first_failure.is_none() {
                line.first_failure = Some(verdict);
            }
        }
        lines
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reference = &self.reference;
        let equality = match reference.mask.0.len() {
            0 => "both runs are equal".to_owned(),
            1 => "1 field differs between runs (masked)".to_owned(),
            count => format!("{count} fields differ between runs (masked)"),
        };
        writeln!(
            f,
            "{:22}{}, {}, quiet after {:.1} s; {equality}",
            "reference",
            counted(reference.writes.len(), "write"),
            counted(reference.end.object_count(), "object"),
            reference.took.as_secs_f64(),
        )?;
        for field in masked(reference).iter().take(MASKED_TOLD) {
            writeln!(f, "{:22}masked: {field}", "")?;
        }
        if reference.writes.is_empty() {
            let warning = "WARNING: the subject wrote nothing that changes the state: nothing can fail at a write of it";
            writeln!(f, "{:22}{warning}", "")?;
        }
        for resource in &reference.trace.unserved {
            let hint = "--crds names the files of definitions";
            writeln!(f, "{:22}not served, but asked for: {resource}; {hint}", "")?;
        }
        for finding in &reference.findings {
            writeln!(f, "{:22}FAILS without perturbation: {finding}", "")?;
        }
        for ((_, name), line) in self.lines() {
            write!(f, "{name:22}{} of {} survive", line.survived, line.total)?;
            match line.first_failure {
                Some(verdict) => {
                    let finding = &verdict.findings[0];
                    writeln!(f, "    {}: {finding}", verdict.plan)?;
                }
                None => writeln!(f)?,
            }
        }
        let idle = self.verdicts.iter().filter(|it| it.is_idle).count();
        if idle > 0 {
            writeln!(
                f,
                "{:22}{}, whose writes did not come",
                "said nothing",
                counted(idle, "plan")
            )?;
        }
        let (failed, total) = (self.failed_count(), self.verdicts.len());
        if total < self.planned_count {
            writeln!(
                f,
                "{:22}{total} of {}",
                "only run",
                counted(self.planned_count, "plan")
            )?;
        }
        match (failed, total) {
            (0, _) if !self.is_reference_clean() => {
                writeln!(f, "a promise is broken without any perturbation")
            }
            (_, 0) => writeln!(f, "no plan was run"),
            (0, 1) => writeln!(f, "1 plan keeps every promise"),
            (0, _) => writeln!(f, "{total} plans keep every promise"),
            _ => writeln!(f, "{failed} of {total} plans break a promise"),
        }
    }
}

/// Returns a number of things: `1 plan`, `2 plans`.
pub fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Returns the line that a plan belongs to.
fn line_of(plan: &Plan) -> (Family, &'static str) {
    let name = match (plan.family, plan.perturbations.first()) {
        (Family::Crash, Some(Perturbation::Crash { twice: true, .. })) => "crash twice",
        (Family::Crash, Some(Perturbation::Crash { side, .. })) => match side {
            Side::Before => "crash before a write",
            Side::After => "crash after a write",
        },
        (Family::LostAnswer, Some(Perturbation::LoseAnswer { applied: false, .. })) => {
            "lost request"
        }
        (Family::LostAnswer, _) => "lost answer",
        (Family::Stale, Some(Perturbation::Freeze { restart: true, .. })) => "stale after restart",
        (Family::Stale, _) => "stale",
        (Family::Refusal, _) => "refusal",
        (Family::Unobserved, _) => "unobserved",
        (Family::Deleted, _) => "deleted",
        (Family::Foreign, _) => "foreign write",
        (Family::Leader, _) => "two leaders",
        (Family::Catalogue, _) => "faults",
        (Family::Pairs, _) => "several at once",
        (Family::Generated, _) => "changed field",
        (Family::Reference | Family::Crash, _) => "reference",
    };
    (plan.family, name)
}

fn masked(reference: &Reference) -> Vec<String> {
    let pairs = reference.mask.0.iter();
    pairs
        .map(|(object, path)| match path.as_str() {
            "" => object.clone(),
            path => format!("{object}: {path}"),
        })
        .collect()
}

/// Returns the verdicts as `JUnit`'s XML, a test case a plan.
pub fn junit(report: &Report) -> String {
    let verdicts = &report.verdicts;
    let is_clean = report.is_reference_clean();
    let idle = verdicts.iter().filter(|it| it.is_idle);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"survive\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
        verdicts.len() + 1,
        report.failed_count() + usize::from(!is_clean),
        idle.count(),
    );
    write!(
        xml,
        "  <testcase classname=\"survive.reference\" name=\"without perturbation\" time=\"{:.3}\"",
        report.reference.took.as_secs_f64(),
    )
    .expect(WRITES);
    push_outcome(&mut xml, &report.reference.findings, false);
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
        push_outcome(&mut xml, &verdict.findings, verdict.is_idle);
    }
    xml.push_str("</testsuite>\n");
    xml
}

/// Ends the element of a test case.
fn push_outcome(xml: &mut String, findings: &[Finding], is_idle: bool) {
    if let Some(first) = findings.first() {
        let all: Vec<String> = findings.iter().map(ToString::to_string).collect();
        write!(
            xml,
            ">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
            escaped(&first.to_string()),
            escaped(&all.join("\n")),
        )
        .expect(WRITES);
    } else if is_idle {
        xml.push_str("><skipped/></testcase>\n");
    } else {
        xml.push_str("/>\n");
    }
}

/// Escapes text for XML and HTML.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(letter),
            // XML has no way to write the others.
            control if control.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
