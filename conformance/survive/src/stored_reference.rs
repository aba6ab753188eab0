//! The part of a reference by which plans are judged, in a form that a file can keep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    acceptance::AcceptanceList,
    end_state::{EndState, Mask, StoredState},
    finding::Finding,
    history::Counts,
    reference::Reference,
};

/// The part of a reference by which plans are judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredReference {
    /// The version of the program that drew it.
    pub version: String,
    end: StoredState,
    mask: Mask,
    counts: BTreeMap<String, Counts>,
    /// With those that are accepted.
    findings: Vec<Finding>,
    accepted: AcceptanceList,
}

// === impl Reference ===

impl Reference {
    /// Returns what a file has to keep of it.
    pub fn stored(&self) -> StoredReference {
        let accepted = self.left_out.iter().map(|it| &it.finding);
        StoredReference {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            end: self.end.stored(),
            mask: self.mask.clone(),
            counts: self.counts.clone(),
            findings: self.findings.iter().chain(accepted).cloned().collect(),
            accepted: self.accepted.clone(),
        }
    }

    /// Judges plans by another reference than this one, of the same subject. Returns how this one differs from it.
    pub fn judge_by(&mut self, kept: &StoredReference) -> Vec<String> {
        let (end, unknown) = EndState::restored(&kept.end, &self.end);
        self.mask.0.extend(kept.mask.0.iter().cloned());
        // What the server had at the beginning, and one of them has changed, cannot be compared.
        let unknown = unknown.into_iter().map(|object| (object, String::new()));
        self.mask.0.extend(unknown);
        let new = std::mem::replace(&mut self.findings, kept.findings.clone());
        let is_new = |finding: &&Finding| !kept.findings.iter().any(|it| it.is_same(finding));
        let new = new.iter().filter(is_new).map(ToString::to_string);
        self.accept(&kept.accepted);
        let differences = self.differences(&end, &self.end);
        let mut texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
        texts.extend(new);
        self.end = end;
        self.counts.clone_from(&kept.counts);
        texts
    }

    /// Leaves out what the file of another reference accepts.
    pub fn accept_as(&mut self, kept: &StoredReference) {
        self.accept(&kept.accepted);
    }
}
