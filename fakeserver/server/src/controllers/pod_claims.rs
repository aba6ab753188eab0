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

/// The name of the claim that a reference resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimName {
    Named(String),
    /// The claim has not been created yet.
    NotCreated,
    /// The pod needs none.
    NotNeeded,
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
pub struct ClaimStatus {
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
    pub fn of(references: Vec<Reference>, made: &[ClaimStatus]) -> Vec<Self> {
        let resolve = |reference: Reference| {
            let mut made = made.iter().filter(|made| made.name == reference.name);
            let claim = match (reference.resource_claim_name, made.next()) {
                (Some(name), _) => ClaimName::Named(name),
                (None, None) => ClaimName::NotCreated,
                (None, Some(made)) => match &made.resource_claim_name {
                    Some(name) => ClaimName::Named(name.clone()),
                    None => ClaimName::NotNeeded,
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

    /// Returns the name of the claim, if it has one.
    pub fn name(&self) -> Option<&str> {
        match &self.claim {
            ClaimName::Named(name) => Some(name),
            ClaimName::NotCreated | ClaimName::NotNeeded => None,
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
        let resolved: Vec<&ClaimName> = claims.iter().map(|claim| &claim.claim).collect();
        let named = |name: &str| ClaimName::Named(name.to_owned());
        assert_eq!(
            resolved,
            [
                &named("shared"),
                &named("p-b-x"),
                &ClaimName::NotNeeded,
                &ClaimName::NotCreated
            ]
        );
        assert_eq!(claims[1].template.as_deref(), Some("t"));
        assert_eq!(PodClaim::all(&json!({"spec": {}})), []);
    }
}
