//! The page that links the files of a report.

use std::fmt::Write as _;

use super::{REFERENCE_FILE, Report, WRITES, escaped, file_stem};
use crate::campaign::Verdict;

/// The endings of the files of a failure, and the words that link them.
const LINKS: [(&str, &str); 4] = [
    ("txt", "timeline"),
    ("jsonl", "trace"),
    ("log", "output"),
    ("json", "replay"),
];
const STYLE: &str = ":root { color-scheme: light dark; font: 14px/1.5 system-ui } td, th { text-align: left; \
                     vertical-align: top; padding: 2px 12px 2px 0; white-space: pre-line }";

/// Returns the page: the campaign, its families, and the failures with links to those files that `is_there`.
pub fn index(report: &Report, is_there: impl Fn(&str) -> bool) -> String {
    let mut body = format!(
        "<h1>survive</h1>\n<p>{}</p>\n",
        escaped(&report.conclusion())
    );
    push_facts(&mut body, report);
    push_failures(&mut body, report, &is_there);
    push_families(&mut body, report);
    let writes = report.reference.writes.iter();
    let writes: Vec<String> = writes.map(|write| write.point.to_string()).collect();
    push_list(&mut body, "Writes without perturbation", &writes);
    push_list(
        &mut body,
        "Broken without perturbation",
        &texts(&report.reference.findings),
    );
    push_list(&mut body, "Accepted", &report.acceptance_lines());
    let links = ["report.md", "report.json", "junit.xml", REFERENCE_FILE];
    body.push_str("<p>");
    for file in links.into_iter().filter(|file| is_there(file)) {
        write!(body, "<a href=\"{file}\">{file}</a> ").expect(WRITES);
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>survive</title>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <style>{STYLE}</style></head>\n<body>{body}</p>\n</body></html>\n"
    )
}

fn push_facts(body: &mut String, report: &Report) {
    body.push_str("<table>\n");
    for (name, fact) in report.facts() {
        let fact = escaped(&fact);
        writeln!(body, "<tr><th>{name}</th><td>{fact}</td></tr>").expect(WRITES);
    }
    body.push_str("</table>\n");
}

fn push_families(body: &mut String, report: &Report) {
    body.push_str(
        "<h2>Plans</h2>\n<table><tr><th></th><th>survive</th><th>accepted</th><th>break a promise</th></tr>\n",
    );
    for ((_, name), line) in report.lines() {
        let broken = line.total - line.survived - line.accepted;
        writeln!(
            body,
            "<tr><th>{name}</th><td>{}</td><td>{}</td><td>{broken}</td></tr>",
            line.survived, line.accepted
        )
        .expect(WRITES);
    }
    body.push_str("</table>\n");
}

fn push_failures(body: &mut String, report: &Report, is_there: impl Fn(&str) -> bool) {
    let mut rows = String::new();
    for (place, verdict) in report.failures() {
        rows.push_str(&row(&file_stem(place), verdict, &is_there));
    }
    if !rows.is_empty() {
        write!(
            body,
            "<h2>Broken promises</h2>\n<table><tr><th>page</th><th>plan</th><th>broken</th><th></th></tr>\n{rows}</table>\n"
        )
        .expect(WRITES);
    }
}

/// Returns the row of a failure.
fn row(name: &str, verdict: &Verdict, is_there: impl Fn(&str) -> bool) -> String {
    let page = format!("{name}.html");
    let title = if is_there(&page) {
        format!("<a href=\"{page}\">{name}</a>")
    } else {
        name.to_owned()
    };
    let plan = escaped(&verdict.plan.to_string());
    let mut found = texts(&verdict.findings);
    found.extend(verdict.run_ratio());
    let found = escaped(&found.join("\n"));
    let mut links = String::new();
    for (ending, word) in LINKS {
        let file = format!("{name}.{ending}");
        if is_there(&file) {
            write!(links, "<a href=\"{file}\">{word}</a> ").expect(WRITES);
        }
    }
    format!("<tr><td>{title}</td><td>{plan}</td><td>{found}</td><td>{links}</td></tr>\n")
}

fn push_list(body: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    write!(body, "<h2>{title}</h2>\n<ul>\n").expect(WRITES);
    for item in items {
        writeln!(body, "<li>{}</li>", escaped(item)).expect(WRITES);
    }
    body.push_str("</ul>\n");
}

fn texts(findings: &[impl ToString]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
