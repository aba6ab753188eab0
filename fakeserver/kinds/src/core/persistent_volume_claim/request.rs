//! The class and the size that a claim asks for, as admission, quotas, cells and controllers read them.

use fakeserver_value::schema::Quantity;
use serde_json::Value;

use crate::formats::quantity;

/// The annotation that named the class before there was a field.
pub const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Returns the storage class of a claim or a volume; empty without one. An annotation counts, even if it is empty, and then
/// the field.
#[doc(alias = "GetPersistentVolumeClaimClass")]
#[doc(alias = "GetPersistentVolumeClass")]
pub fn class_of(object: &Value) -> &str {
    let annotated = object["metadata"]["annotations"][CLASS].as_str();
    let named = annotated.or_else(|| object["spec"]["storageClassName"].as_str());
    named.unwrap_or_default()
}

/// Returns the size that a claim asks for; zero if it does not say.
pub fn size_of(claim: &Value) -> Quantity {
    quantity(&claim["spec"]["resources"]["requests"]["storage"])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_annotated_class_counts_before_the_field_even_if_it_is_empty() {
        let mut claim = json!({"spec": {}});
        assert_eq!(class_of(&claim), "");
        claim["spec"]["storageClassName"] = json!("fast");
        assert_eq!(class_of(&claim), "fast");
        for class in ["slow", ""] {
            claim["metadata"] = json!({"annotations": {CLASS: class}});
            assert_eq!(class_of(&claim), class);
        }
    }
}
