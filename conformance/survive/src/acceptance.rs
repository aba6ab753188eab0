//! The findings that a user accepts: each is left out under the families of plans under which it was seen, with its reason.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    end_state::Mask,
    finding::{Finding, Promise},
    plan::{Family, Plan},
};

/// The findings that are accepted, with the reasons, and the fields that may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptanceList {
    /// The file that it was read from; empty if there is none.
    #[serde(skip)]
    pub file: PathBuf,
    /// The findings.
    #[serde(default)]
    pub findings: Vec<Acceptance>,
    /// Fields that may differ, besides those that differ between the runs of the reference: pairs of an object (`pods shop/web-*`)
    /// and a path, which is empty for the object as a whole.
    #[serde(default)]
    pub mask: Mask,
}

/// A finding that is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The promise.
    pub promise: Promise,
    /// The finding, as reports have it; of a rule its name and a colon suffice.
    pub text: String,
    /// The families of plans under which it is left out; every family if it does not say. `reference` is without perturbation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub families: Option<Vec<Family>>,
    /// The reason.
    pub reason: String,
}

/// A finding that is left out of a verdict, since it is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedFinding {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// The reason.
    pub reason: String,
    /// The place of its entry in the file.
    #[serde(skip)]
    pub(super) entry: usize,
}

// === impl AcceptanceList ===

impl AcceptanceList {
    /// Reads what is accepted from a file; nothing if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read, or has another form, or an entry names no family or no reason.
    pub fn read(file: &Path) -> Result<Self, String> {
        let unclear = |reason| {
            format!(
                "{} does not tell what is accepted: {reason}",
                file.display()
            )
        };
        let accepted: Self = match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| unclear(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
        };
        for entry in &accepted.findings {
            entry.check().map_err(unclear)?;
        }
        Ok(Self {
            file: file.to_owned(),
            ..accepted
        })
    }

    /// Takes what is accepted out of the findings of a run under `plan`, and returns it.
    pub(super) fn take(&self, plan: &Plan, findings: &mut Vec<Finding>) -> Vec<AcceptedFinding> {
        let mut left_out = Vec::new();
        findings.retain(|finding| {
            let mut entries = self.findings.iter();
            let entry = entries.position(|entry| entry.is_about(finding) && entry.is_under(plan));
            left_out.extend(entry.map(|entry| AcceptedFinding {
                finding: finding.clone(),
                reason: self.findings[entry].reason.clone(),
                entry,
            }));
            entry.is_none()
        });
        left_out
    }

    /// Adds what was found under a family. Returns the number of findings that it had not.
    pub fn add(&mut self, family: Family, findings: &[Finding], reason: &str) -> usize {
        let mut count = 0;
        for finding in findings {
            let mut present = self.findings.iter_mut();
            let present =
                present.find(|present| present.is_about(finding) && present.reason == reason);
            match present {
                Some(present) if present.is_under_family(family) => continue,
                Some(present) => present.families.get_or_insert_default().push(family),
                None => self.findings.push(Acceptance {
                    promise: finding.promise,
                    text: finding.text.clone(),
                    families: Some(vec![family]),
                    reason: reason.to_owned(),
                }),
            }
            count += 1;
        }
        count
    }
}

// === impl Acceptance ===

impl Acceptance {
    fn is_about(&self, finding: &Finding) -> bool {
        let accepted = Finding::new(self.promise, self.text.as_str());
        accepted.is_same(finding)
    }

    /// Returns whether it counts under a plan: under one of several perturbations if it does under one of them.
    pub(super) fn is_under(&self, plan: &Plan) -> bool {
        plan.families().any(|family| self.is_under_family(family))
    }

    fn is_under_family(&self, family: Family) -> bool {
        let families = self.families.as_ref();
        families.is_none_or(|families| families.contains(&family))
    }

    /// Fails if a required field is empty.
    fn check(&self) -> Result<(), String> {
        let missing = match &self.families {
            Some(families) if families.is_empty() => "no family: take it out if it was mended",
            _ if self.reason.trim().is_empty() => "no reason",
            _ => return Ok(()),
        };
        Err(format!("the entry {:?} names {missing}", self.text))
    }
}

impl fmt::Display for Acceptance {
    /// Writes the families, the finding and the reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let families = self.families.iter().flatten();
        let families: Vec<String> = families.map(ToString::to_string).collect();
        if !families.is_empty() {
            write!(f, "{}: ", families.join(", "))?;
        }
        write!(
            f,
            "{}: {} (accepted: {})",
            self.promise, self.text, self.reason
        )
    }
}

impl fmt::Display for AcceptedFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (accepted: {})", self.finding, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Perturbation;

    fn plan(family: Family, perturbations: &[Perturbation]) -> Plan {
        Plan {
            family,
            perturbations: perturbations.to_vec(),
        }
    }

    fn merge() -> Perturbation {
        Perturbation::Merge {
            resource: "pods".to_owned(),
        }
    }

    fn finding(text: &str) -> Finding {
        Finding::new(Promise::EndState, text)
    }

    #[test]
    fn a_finding_is_accepted_under_the_families_in_which_it_was_seen() {
        let mut accepted = AcceptanceList::default();
        let found = [finding("two instead of one")];
        assert_eq!(accepted.add(Family::Unobserved, &found, "why"), 1);
        assert_eq!(accepted.add(Family::Unobserved, &found, "why"), 0);
        for (family, perturbations, is_left_out) in [
            (Family::Unobserved, vec![merge()], true),
            (Family::Pairs, vec![merge()], true),
            (Family::Crash, vec![], false),
            (Family::Reference, vec![], false),
        ] {
            let mut findings = [found.as_slice(), &[finding("other")]].concat();
            let left_out = accepted.take(&plan(family, &perturbations), &mut findings);
            assert_eq!(left_out.len(), usize::from(is_left_out), "{family}");
            assert_eq!(findings.len(), 2 - left_out.len(), "{family}");
        }
        // The same under another one is one more family of the same entry.
        assert_eq!(accepted.add(Family::Crash, &found, "why"), 1);
        let text = serde_json::to_value(&accepted).unwrap();
        let families = &text["findings"][0]["families"];
        assert_eq!(families, &serde_json::json!(["unobserved", "crash"]));
    }

    #[test]
    fn an_entry_without_families_counts_under_all_and_one_of_a_rule_by_its_name() {
        let text =
            r#"{"findings": [{"promise": "rule", "text": "two: it is false", "reason": "r"}]}"#;
        let accepted: AcceptanceList = serde_json::from_str(text).unwrap();
        let mut findings = vec![Finding::new(
            Promise::Rule,
            "two: at revision 7 it is false",
        )];
        let left_out = accepted.take(&plan(Family::Crash, &[]), &mut findings);
        assert_eq!((left_out.len(), findings.len()), (1, 0));
        let misspelt = text.replace("reason", "why");
        assert!(serde_json::from_str::<AcceptanceList>(&misspelt).is_err());
    }

    #[test]
    fn an_entry_that_says_nothing_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (families, reason, expected) in [
            (r#"["crash"]"#, "why", None),
            ("[]", "why", Some("names no family")),
            (r#"["crash"]"#, " ", Some("names no reason")),
        ] {
            let text = format!(
                r#"{{"findings": [{{"promise": "rule", "text": "t", "families": {families}, "reason": "{reason}"}}]}}"#
            );
            fs::write(file.path(), text).unwrap();
            let error = AcceptanceList::read(file.path()).err();
            let is_expected = match (&error, expected) {
                (Some(error), Some(expected)) => error.contains(expected),
                (error, expected) => error.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{error:?}, not {expected:?}");
        }
    }
}
