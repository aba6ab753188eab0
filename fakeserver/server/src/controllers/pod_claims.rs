//! The claims of devices that pods refer to: by name, or by a template of which a claim is made for the pod.

use serde::Deserialize;
use serde_json::Value;

/// A claim that a pod refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodClaim {
    /// Its name within the pod.
    pub name: String,
    pub claim: ClaimName,
    /// The template of which it is made for the pod, if it is.
    pub template: Option<String>,
}

/// The name of the object that a reference leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimName {
    Known(String),
    /// It has not been made yet.
    Unmade,
    /// The pod needs none.
    Unneeded,
}

/// An item of `spec.resourceClaims`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Reference {
    name: String,
    resource_claim_name: Option<String>,
    resource_claim_template_name: Option<String>,
}

/// An item of `status.resourceClaimStatuses`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Made {
    name: String,
    resource_claim_name: Option<String>,
}

// === impl PodClaim ===

impl PodClaim {
    /// Returns the claims of a pod.
    pub fn all(pod: &Value) -> Vec<Self> {
        let references = &pod["spec"]["resourceClaims"];
        if references.is_null() {
            return Vec::new();
        }
        let references = Vec::deserialize(references).unwrap_or_default();
        let made = Vec::deserialize(&pod["status"]["resourceClaimStatuses"]);
        Self::of(references, &made.unwrap_or_default())
    }

    /// Returns the claims that references lead to, given those that were made.
    pub fn of(references: Vec<Reference>, made: &[Made]) -> Vec<Self> {
        let resolve = |reference: Reference| {
            let mut made = made.iter().filter(|made| made.name == reference.name);
            let claim = match (reference.resource_claim_name, made.next()) {
                (Some(name), _) => ClaimName::Known(name),
                (None, None) => ClaimName::Unmade,
                (None, Some(made)) => match &made.resource_claim_name {
                    Some(name) => ClaimName::Known(name.clone()),
                    None => ClaimName::Unneeded,
                },
            };
            Self {
                name: reference.name,
                claim,
                template: reference.resource_claim_template_name,
            }
        };
        references.into_iter().map(resolve).collect()
    }

    /// Returns the name of the object, if it is known.
    pub fn known(&self) -> Option<&str> {
        match &self.claim {
            ClaimName::Known(name) => Some(name),
            ClaimName::Unmade | ClaimName::Unneeded => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_lead_to_claims() {
        let pod = json!({
            "spec": {"resourceClaims": [
                {"name": "a", "resourceClaimName": "shared"},
                {"name": "b", "resourceClaimTemplateName": "t"},
                {"name": "c", "resourceClaimTemplateName": "t"},
                {"name": "d", "resourceClaimTemplateName": "t"},
            ]},
            "status": {"resourceClaimStatuses": [
                {"name": "b", "resourceClaimName": "p-b-x"}, {"name": "c"},
            ]},
        });
        let claims = PodClaim::all(&pod);
        let names: Vec<&ClaimName> = claims.iter().map(|claim| &claim.claim).collect();
        let known = |name: &str| ClaimName::Known(name.to_owned());
        assert_eq!(
            names,
            [
                &known("shared"),
                &known("p-b-x"),
                &ClaimName::Unneeded,
                &ClaimName::Unmade
            ]
        );
        assert_eq!(claims[1].template.as_deref(), Some("t"));
        assert_eq!(PodClaim::all(&json!({"spec": {}})), []);
    }
}
