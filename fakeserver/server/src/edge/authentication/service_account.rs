//! Tokens of service accounts: in the form of real ones, and valid for this server only unless it was given keys.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use fakeserver_kinds::{
    Kind,
    core::{
        node, pod,
        secret::{self, LEGACY_ISSUER},
        service_account,
    },
};
use fakeserver_value::user::{self, UserInfo};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::AuthenticationError;
#[cfg(feature = "tls")]
use super::ServiceAccountKeys;
use crate::write::ClaimsSigner;

/// The issuer of tokens, and their audience if they do not name one, unless others are configured.
pub(super) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
/// The leeway for clocks that differ: a token is valid for so long before its time, after it, and after the deletion of
/// the objects that it is bound to.
const LEEWAY: SignedDuration = SignedDuration::from_mins(1);
const POD: [&str; 2] = [
    "authentication.kubernetes.io/pod-name",
    "authentication.kubernetes.io/pod-uid",
];
const NODE: [&str; 2] = [
    "authentication.kubernetes.io/node-name",
    "authentication.kubernetes.io/node-uid",
];

/// Signs and verifies tokens with the server's own key, or with configured keys.
///
/// Tokens of the own key name an algorithm that is not the one used: no client has the key to verify them.
pub struct TokenSigner {
    key: [u8; 32],
    #[cfg(feature = "tls")]
    keys: ServiceAccountKeys,
    issuers: Vec<String>,
    audiences: Vec<String>,
}

/// The claims of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    #[serde(default)]
    aud: Vec<String>,
    exp: Option<i64>,
    nbf: Option<i64>,
    #[serde(default)]
    jti: String,
    #[serde(rename = "kubernetes.io")]
    private: PrivateClaims,
}

/// The claims of a token in a secret.
#[derive(Debug, Deserialize)]
pub(super) struct SecretClaims {
    iss: String,
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    pub(super) namespace: String,
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    pub(super) secret: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    pub(super) account: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    uid: String,
}

#[derive(Debug, Deserialize)]
struct PrivateClaims {
    namespace: String,
    serviceaccount: ObjectReference,
    pod: Option<ObjectReference>,
    secret: Option<ObjectReference>,
    node: Option<ObjectReference>,
}

/// An object as a token names it.
#[derive(Debug, Deserialize)]
struct ObjectReference {
    name: String,
    /// Empty for the node of a pod, if the node was gone when the token was issued.
    #[serde(default)]
    uid: String,
}

/// A stored object that a token depends on.
#[derive(Clone, Debug)]
pub(super) struct DependedObject {
    pub(super) uid: String,
    pub(super) deletion_timestamp: Option<Timestamp>,
}

/// Returns the stored object of a kind, by its namespace and name.
pub(super) type ObjectGetter<'a> = &'a dyn Fn(&Kind, Option<&str>, &str) -> Option<DependedObject>;

// === impl TokenSigner ===

impl TokenSigner {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self {
            key,
            #[cfg(feature = "tls")]
            keys: ServiceAccountKeys::default(),
            issuers: vec![ISSUER.to_owned()],
            audiences: vec![ISSUER.to_owned()],
        }
    }

    /// Signs and verifies with `keys` as well, and takes over their issuers and audiences.
    #[cfg(feature = "tls")]
    pub(crate) fn with_keys(mut self, keys: ServiceAccountKeys) -> Self {
        if let Some(first) = keys.issuers().first() {
            self.audiences = vec![first.clone()];
            self.issuers = keys.issuers().to_vec();
        }
        if !keys.audiences().is_empty() {
            self.audiences = keys.audiences().to_vec();
        }
        self.keys = keys;
        self
    }

    /// Returns the keys of files, if there are any.
    #[cfg(feature = "tls")]
    pub(crate) fn keys(&self) -> Option<&ServiceAccountKeys> {
        Some(&self.keys).filter(|keys| keys.is_set())
    }

    /// Returns the issuer of new tokens.
    pub(crate) fn issuer(&self) -> &str {
        self.issuers.first().map_or(ISSUER, String::as_str)
    }

    /// Returns the audiences of the API, which are those of tokens that do not name any.
    pub(crate) fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Returns a signed token with `claims`.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        #[cfg(feature = "tls")]
        if let Some(token) = self.keys.sign(claims) {
            return token;
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "RS256", "kid": "fake"});
        let signed = format!("{}.{}", part(&header), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.signature(&signed));
        format!("{signed}.{signature}")
    }

    /// Returns the claims of `token`, if it was signed here.
    pub(super) fn verify(&self, token: &str) -> Option<Claims> {
        let claims: Claims = self.claims(token)?;
        self.issuers.contains(&claims.iss).then_some(claims)
    }

    /// Returns the claims of `token`, if it is one of a secret and was signed here.
    pub(super) fn verify_of_secret(&self, token: &str) -> Option<SecretClaims> {
        let claims: SecretClaims = self.claims(token)?;
        (claims.iss == LEGACY_ISSUER).then_some(claims)
    }

    fn claims<C: DeserializeOwned>(&self, token: &str) -> Option<C> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        if !self.has_signed(token) && signature != self.signature(signed) {
            return None;
        }
        let (_, claims) = signed.split_once('.')?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    /// Returns true if a key of a file has signed the token.
    #[cfg(feature = "tls")]
    fn has_signed(&self, token: &str) -> bool {
        self.keys.has_signed(token)
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_self, reason = "keys of files are read with TLS alone")]
    fn has_signed(&self, _token: &str) -> bool {
        false
    }

    fn signature(&self, signed: &str) -> [u8; 32] {
        let inner = Sha256::new().chain_update(self.key).chain_update(signed);
        let outer = Sha256::new().chain_update(self.key);
        outer.chain_update(inner.finalize()).finalize().into()
    }
}

impl std::fmt::Debug for TokenSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Leaves the key out.
        f.debug_struct("TokenSigner").finish_non_exhaustive()
    }
}

impl ClaimsSigner for TokenSigner {
    fn sign(&self, claims: &Value) -> String {
        Self::sign(self, claims)
    }
}

// === impl SecretClaims ===

impl SecretClaims {
    /// Returns the user of the token. `stored_token` is the token in the secret, in base64; `None` if the secret is gone or
    /// is about to be.
    pub(super) fn user(
        &self,
        token: &str,
        stored_token: Option<&str>,
        get: ObjectGetter<'_>,
    ) -> Result<UserInfo, AuthenticationError> {
        let Self {
            namespace,
            account,
            uid,
            ..
        } = self;
        let stored_token =
            stored_token.ok_or_else(|| rejected("Token has been invalidated".to_owned()))?;
        if stored_token != token {
            return Err(rejected("Token does not match server's copy".to_owned()));
        }
        let stored = get(&service_account::KIND, Some(namespace), account);
        let stored = stored.ok_or_else(|| no_account(account))?;
        if stored.deletion_timestamp.is_some() {
            let why = format!("ServiceAccount {namespace}/{account} has been deleted");
            return Err(rejected(why));
        }
        if stored.uid != *uid {
            let why = format!(
                "ServiceAccount UID ({}) does not match claim ({uid})",
                stored.uid
            );
            return Err(rejected(why));
        }
        let user = UserInfo::service_account(namespace, account);
        Ok(user.with_uid(uid).authenticated())
    }
}

// === impl Claims ===

impl Claims {
    /// Returns those of `audiences` that the token is valid for. A token without audiences is one for `implicit`.
    pub(super) fn audiences(
        &self,
        audiences: &[String],
        implicit: &[String],
    ) -> Result<Vec<String>, AuthenticationError> {
        let own = if self.aud.is_empty() {
            implicit
        } else {
            &self.aud
        };
        common_audiences(own, audiences)
    }

    /// Returns the user of the token at `now`, as far as the objects that it depends on are still there.
    pub(super) fn user(
        &self,
        now: Timestamp,
        get: ObjectGetter<'_>,
    ) -> Result<UserInfo, AuthenticationError> {
        self.check_time(now)?;
        let PrivateClaims {
            namespace,
            serviceaccount: account,
            pod,
            secret,
            node,
        } = &self.private;
        check_account(namespace, account, now, get)?;
        let of_namespace = Some(namespace.as_str());
        let bound = [
            (secret.as_ref(), &secret::KIND, of_namespace, "secret"),
            (pod.as_ref(), &pod::KIND, of_namespace, "pod"),
            // The node of a pod is information only.
            (
                node.as_ref().filter(|_| pod.is_none()),
                &node::KIND,
                None,
                "node",
            ),
        ];
        for (reference, kind, namespace, word) in bound {
            let Some(reference) = reference else {
                continue;
            };
            let found = get(kind, namespace, &reference.name);
            check_bound(reference, found, word, now)?;
        }
        let mut user = UserInfo::service_account(namespace, &account.name)
            .with_uid(&account.uid)
            .authenticated();
        if !self.jti.is_empty() {
            user = user.with_extra(user::CREDENTIAL_ID, format!("JTI={}", self.jti));
        }
        for ([name, uid], reference) in [(POD, pod), (NODE, node)] {
            let Some(reference) = reference else {
                continue;
            };
            user = user.with_extra(name, &reference.name);
            if !reference.uid.is_empty() {
                user = user.with_extra(uid, &reference.uid);
            }
        }
        Ok(user)
    }

    fn check_time(&self, now: Timestamp) -> Result<(), AuthenticationError> {
        let leeway = LEEWAY.as_secs();
        let second = now.as_second();
        if self.nbf.is_some_and(|start| second + leeway < start) {
            return Err(rejected(
                "service account token is not valid yet".to_owned(),
            ));
        }
        if self.exp.is_some_and(|end| second - leeway > end) {
            return Err(rejected("service account token has expired".to_owned()));
        }
        Ok(())
    }
}

// === impl DependedObject ===

impl DependedObject {
    fn is_deleted_at(&self, now: Timestamp) -> bool {
        let deleted = self.deletion_timestamp;
        deleted.is_some_and(|deleted| now.duration_since(deleted) > LEEWAY)
    }
}

/// Returns the audiences that are among both; it is an error if there are none.
pub(super) fn common_audiences(
    own: &[String],
    wanted: &[String],
) -> Result<Vec<String>, AuthenticationError> {
    let common: Vec<String> = own
        .iter()
        .filter(|own| wanted.contains(own))
        .cloned()
        .collect();
    if common.is_empty() {
        return Err(rejected(format!(
            "token audiences {} is invalid for the target audiences {}",
            quoted(own),
            quoted(wanted)
        )));
    }
    Ok(common)
}

fn check_account(
    namespace: &str,
    account: &ObjectReference,
    now: Timestamp,
    get: ObjectGetter<'_>,
) -> Result<(), AuthenticationError> {
    let ObjectReference { name, uid } = account;
    let stored = get(&service_account::KIND, Some(namespace), name);
    let stored = stored.ok_or_else(|| no_account(name))?;
    if stored.is_deleted_at(now) {
        let why = format!("service account {namespace}/{name} has been deleted");
        return Err(rejected(why));
    }
    if stored.uid != *uid {
        return Err(rejected(format!(
            "service account UID ({}) does not match claim ({uid})",
            stored.uid
        )));
    }
    Ok(())
}

/// Checks that the object that a token is bound to is still there, and the same.
fn check_bound(
    reference: &ObjectReference,
    found: Option<DependedObject>,
    word: &str,
    now: Timestamp,
) -> Result<(), AuthenticationError> {
    let found = found.filter(|found| !found.is_deleted_at(now));
    let found =
        found.ok_or_else(|| rejected("service account token has been invalidated".to_owned()))?;
    if found.uid == reference.uid {
        return Ok(());
    }
    Err(rejected(format!(
        "{word} UID ({}) does not match service account {word} ref claim ({})",
        found.uid, reference.uid
    )))
}

fn no_account(name: &str) -> AuthenticationError {
    rejected(format!("serviceaccounts {name:?} not found"))
}

fn rejected(why: String) -> AuthenticationError {
    AuthenticationError::RejectedToken(why)
}

/// Returns texts as Go prints a list of quoted ones.
fn quoted(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
