//! The claims of tokens in secrets.

use fakeserver_kinds::core::secret::LEGACY_ISSUER;
use fakeserver_value::read::text;
use serde_json::{Value, json};

/// Returns the claims of the token of a secret. It has no end.
pub(super) fn claims(secret: &Value, account: &Value) -> Value {
    let (secret, account) = (&secret["metadata"], &account["metadata"]);
    let [namespace, name] = ["namespace", "name"].map(|field| text(&account[field]));
    json!({
        "iss": LEGACY_ISSUER,
        "kubernetes.io/serviceaccount/namespace": namespace,
        "kubernetes.io/serviceaccount/secret.name": secret["name"],
        "kubernetes.io/serviceaccount/service-account.name": name,
        "kubernetes.io/serviceaccount/service-account.uid": account["uid"],
        "sub": format!("system:serviceaccount:{namespace}:{name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_names_its_secret_and_its_account() {
        let secret = json!({"metadata": {"namespace": "n", "name": "s"}});
        let account = json!({"metadata": {"namespace": "n", "name": "robot", "uid": "u"}});
        let claims = claims(&secret, &account);
        assert_eq!(claims["sub"], "system:serviceaccount:n:robot");
        assert_eq!(claims["kubernetes.io/serviceaccount/secret.name"], "s");
        assert!(claims["exp"].is_null());
    }
}
