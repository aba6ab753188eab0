//! Approval of definitions whose group belongs to the community.

use fakeserver_value::{go_url::GoUrl, read::text, status::FieldError};
use serde_json::{Value, json};

use super::invalid;

const ANNOTATION: &str = "api-approved.kubernetes.io";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// The state of a definition's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approval {
    Missing,
    Bypassed,
    Approved,
    Invalid,
}

/// Returns the error of a definition whose group needs an approval that it does not have.
pub(super) fn approval_errors(crd: &Value, old: Option<&Value>) -> Option<FieldError> {
    let group = text(&crd["spec"]["group"]);
    let is_of = |domain: &str| {
        let rest = group.strip_suffix(domain);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if !is_of("k8s.io") && !is_of("kubernetes.io") {
        return None;
    }
    let annotation = |crd: &Value| text(&crd["metadata"]["annotations"][ANNOTATION]).to_owned();
    let given = annotation(crd);
    let state = Approval::of(&given);
    if old.is_some_and(|old| Approval::of(&annotation(old)) == state) {
        return None;
    }
    let path = format!("metadata.annotations[{ANNOTATION}]");
    match state {
        Approval::Missing => {
            let detail =
                format!("protected groups must have approval annotation {ANNOTATION:?}, {SEE}");
            Some(FieldError::required(path, &detail))
        }
        Approval::Invalid => {
            let detail = format!(
                "protected groups must have approval annotation {ANNOTATION:?} with either a URL or a reason starting \
                 with \"unapproved\", {SEE}"
            );
            Some(invalid(&path, &json!(given), &detail))
        }
        Approval::Bypassed | Approval::Approved => None,
    }
}

// === impl Approval ===

impl Approval {
    fn of(annotation: &str) -> Self {
        match annotation {
            "" => Self::Missing,
            reason if reason.starts_with("unapproved") => Self::Bypassed,
            url if is_absolute(url) => Self::Approved,
            _ => Self::Invalid,
        }
    }
}

fn is_absolute(url: &str) -> bool {
    let parsed = GoUrl::parse_request(url);
    parsed.is_ok_and(|url| !url.scheme.is_empty() && !url.host.is_empty())
}
