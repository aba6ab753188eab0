//! Tokens in secrets: a secret of the type `kubernetes.io/service-account-token` gets a token of the account that it names.
//!
//! The rules are those of the tokens controller of 1.36: such a secret has the token, its namespace, the certificate of
//! the authority, and the uid of its account; it is deleted with the account, or if no account has that name and uid.
//! The token is valid as long as the secret exists.

mod claims;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use fakeserver_kinds::core::{
    secret::{self, ACCOUNT_NAME, ACCOUNT_TOKEN, ACCOUNT_UID},
    service_account,
};
use fakeserver_value::{read::text, schema::encode_base64};
use serde_json::{Value, json};

use self::claims::claims;
use super::{
    cluster::{Actor, Cluster},
    controller::Controller,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::{
    store::{ObjectKey, StoredObject},
    write::deletion::{DeletionParameters, is_deleted},
};

/// The entries of such a secret.
const TOKEN: &str = "token";
const NAMESPACE: &str = "namespace";
const CERTIFICATE: &str = "ca.crt";

/// The controller that fills and deletes them.
///
/// # Memory
///
/// A key for each such secret.
#[derive(Debug)]
pub(super) struct ServiceAccountTokens {
    /// The certificate of the authority that clients trust, if there is one.
    root_certificate: Option<String>,
    /// The secrets of tokens by the account that they name.
    secrets: BTreeMap<ObjectKey, BTreeSet<ObjectKey>>,
}

/// The next step for a secret.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    /// Its account is gone.
    Delete,
    /// Completes the secret. A token is issued only if it has none.
    Fill {
        needs_token: bool,
    },
}

// === impl ServiceAccountTokens ===

impl ServiceAccountTokens {
    pub(super) fn new(root_certificate: Option<String>) -> Self {
        Self {
            root_certificate,
            secrets: BTreeMap::new(),
        }
    }

    fn observe_secret(&mut self, change: &ObjectChange<'_>, due: &mut KeyQueue<'_>) {
        let key = change.key();
        let account = |secret: &StoredObject| account_of(key, &secret.to_value());
        let before = (change.before.as_ref()).and_then(|(before, _)| account(before));
        let after = (change.after.as_ref()).and_then(|(after, _)| account(after));
        if let Some(account) = before
            && let Some(secrets) = self.secrets.get_mut(&account)
        {
            secrets.remove(key);
            if secrets.is_empty() {
                self.secrets.remove(&account);
            }
        }
        if let Some(account) = after {
            self.secrets.entry(account).or_default().insert(key.clone());
            due.add(key.clone(), Duration::ZERO);
        }
    }
}

impl Controller for ServiceAccountTokens {
    fn name(&self) -> &'static str {
        "service account tokens"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if change.is_of(&secret::KIND) {
            self.observe_secret(change, due);
        } else if change.is_of(&service_account::KIND) {
            for secret in self.secrets.get(change.key()).into_iter().flatten() {
                due.add(secret.clone(), Duration::ZERO);
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        let Some(secret) = cluster.get(key).map(|stored| stored.to_value()) else {
            return;
        };
        let Some(account) = account_of(key, &secret) else {
            return;
        };
        let account = cluster.get(&account).map(|stored| stored.to_value());
        let certificate = self.root_certificate.as_deref();
        match (step(&secret, account.as_ref(), certificate), account) {
            (Step::Delete, _) => {
                cluster.delete(key, DeletionParameters::default());
            }
            (Step::Fill { needs_token }, Some(account)) => {
                let claims = claims(&secret, &account);
                let token = needs_token.then(|| cluster.backend.sign(&claims)).flatten();
                cluster.update(key, Actor::CONTROLLER_MANAGER, |secret| {
                    fill(secret, &account, token.as_deref(), certificate);
                });
            }
            _ => {}
        }
    }
}

/// Returns the key of the account that a secret of a token names; `None` for another secret.
fn account_of(key: &ObjectKey, secret: &Value) -> Option<ObjectKey> {
    if secret["type"] != ACCOUNT_TOKEN {
        return None;
    }
    let name = secret["metadata"]["annotations"][ACCOUNT_NAME].as_str()?;
    let accounts = service_account::KIND.storage().clone();
    Some(ObjectKey::new(accounts, key.namespace(), name))
}

/// Decides the next step for a secret of a token. `account` is the one of the name that it gives, if there is one.
fn step(secret: &Value, account: Option<&Value>, certificate: Option<&str>) -> Step {
    if is_deleted(secret) {
        return Step::Nothing;
    }
    let uid = &secret["metadata"]["annotations"][ACCOUNT_UID];
    let is_other = |account: &Value| !text(uid).is_empty() && account["metadata"]["uid"] != *uid;
    if account.is_none_or(is_other) {
        return Step::Delete;
    }
    let data = &secret["data"];
    let needs_token = text(&data[TOKEN]).is_empty();
    let is_complete = !needs_token
        && !text(uid).is_empty()
        && data[NAMESPACE] == encoded(text(&secret["metadata"]["namespace"]))
        && certificate.is_none_or(|pem| data[CERTIFICATE] == encoded(pem));
    if is_complete {
        Step::Nothing
    } else {
        Step::Fill { needs_token }
    }
}

/// Writes what a secret of a token has. Without `token` it keeps its own.
fn fill(secret: &mut Value, account: &Value, token: Option<&str>, certificate: Option<&str>) {
    let namespace = encoded(text(&secret["metadata"]["namespace"]));
    secret["metadata"]["annotations"][ACCOUNT_UID] = account["metadata"]["uid"].clone();
    let data = &mut secret["data"];
    data[NAMESPACE] = json!(namespace);
    if let Some(certificate) = certificate {
        data[CERTIFICATE] = json!(encoded(certificate));
    }
    if let Some(token) = token {
        data[TOKEN] = json!(encoded(token));
    }
}

fn encoded(text: &str) -> String {
    encode_base64(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(annotations: &Value) -> Value {
        json!({
            "metadata": {"namespace": "n", "name": "s", "annotations": annotations},
            "type": ACCOUNT_TOKEN,
        })
    }

    #[test]
    fn a_secret_is_filled_once_and_goes_with_its_account() {
        let account = json!({"metadata": {"namespace": "n", "name": "robot", "uid": "u"}});
        let mut secret = secret(&json!({ACCOUNT_NAME: "robot"}));
        let with = |secret: &Value| step(secret, Some(&account), Some("pem"));
        assert_eq!(with(&secret), Step::Fill { needs_token: true });
        assert_eq!(step(&secret, None, None), Step::Delete);
        fill(&mut secret, &account, Some("a.b.c"), Some("pem"));
        let data = json!({"ca.crt": "cGVt", "namespace": "bg==", "token": "YS5iLmM="});
        assert_eq!(secret["data"], data);
        assert_eq!(secret["metadata"]["annotations"][ACCOUNT_UID], "u");
        assert_eq!(with(&secret), Step::Nothing);
        // A new certificate does not change the token.
        secret["data"]["ca.crt"] = json!("b2xk");
        assert_eq!(with(&secret), Step::Fill { needs_token: false });
        fill(&mut secret, &account, None, Some("pem"));
        assert_eq!(secret["data"], data);
        let next = json!({"metadata": {"namespace": "n", "name": "robot", "uid": "v"}});
        assert_eq!(step(&secret, Some(&next), Some("pem")), Step::Delete);
        secret["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(step(&secret, None, None), Step::Nothing);
    }
}
