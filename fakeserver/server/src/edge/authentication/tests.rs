//! Tokens and users as values.

use fakeserver_kinds::{
    Kind,
    core::{node, pod, secret, service_account},
};
use fakeserver_value::user::UserInfo;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    StaticTokens, TokenSigner,
    service_account::{DependedObject, ISSUER},
};

/// The uid and, if it is being deleted, the time of deletion of stored objects, by kind.
type Stored<'a> = &'a [(&'a Kind, &'a str, Option<i64>)];

fn claims() -> Value {
    json!({
        "aud": [ISSUER, "vault"], "exp": 2_000, "nbf": 1_000, "iat": 1_000, "iss": ISSUER, "jti": "j",
        "kubernetes.io": {"namespace": "ns", "serviceaccount": {"name": "robot", "uid": "u"}},
        "sub": "system:serviceaccount:ns:robot",
    })
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Returns the user of a token with these claims, or why it is refused.
fn user_at(second: i64, claims: &Value, stored: Stored<'_>) -> Result<UserInfo, String> {
    let signer = TokenSigner::new([7; 32]);
    let claims = signer.verify(&signer.sign(claims)).unwrap();
    let user = claims.user(at(second), &|kind, namespace, _| {
        assert_eq!(namespace.is_none(), kind.storage() == node::KIND.storage());
        let found = stored
            .iter()
            .find(|(of, ..)| of.storage() == kind.storage())?;
        Some(DependedObject {
            uid: found.1.to_owned(),
            deletion_timestamp: found.2.map(at),
        })
    });
    user.map_err(|error| error.to_string())
}

#[test]
fn a_token_authenticates_its_service_account() {
    let account = (&service_account::KIND, "u", None);
    let user = user_at(1_500, &claims(), &[account]).unwrap();
    assert_eq!(
        user.to_json(),
        json!({
            "username": "system:serviceaccount:ns:robot",
            "uid": "u",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": ["JTI=j"]},
        })
    );
}

#[test]
fn audiences_are_those_that_were_asked_for_and_granted() {
    let signer = TokenSigner::new([7; 32]);
    let read = |claims: &Value| signer.verify(&signer.sign(claims)).unwrap();
    let [wanted, other] = ["vault", "x"].map(str::to_owned);
    let implicit = [ISSUER.to_owned()];
    let token = read(&claims());
    let both = [other.clone(), wanted];
    assert_eq!(token.audiences(&both, &implicit).unwrap(), ["vault"]);
    assert_eq!(
        token
            .audiences(&[other], &implicit)
            .unwrap_err()
            .to_string(),
        "[invalid bearer token, token audiences [\"https://kubernetes.default.svc.cluster.local\" \"vault\"] is \
         invalid for the target audiences [\"x\"]]"
    );
    let mut without = claims();
    without.as_object_mut().unwrap().remove("aud");
    let token = read(&without);
    assert_eq!(token.audiences(&implicit, &implicit).unwrap(), implicit);
    assert!(token.audiences(&both, &implicit).is_err());
}

#[test]
fn a_token_ends_with_its_time_and_with_its_account() {
    let refused = |second, stored: Stored<'_>| user_at(second, &claims(), stored).unwrap_err();
    let account = &service_account::KIND;
    let stored: Stored<'_> = &[(account, "u", None)];
    let why = |why: &str| format!("[invalid bearer token, {why}]");
    let early = why("service account token is not valid yet");
    let late = why("service account token has expired");
    // Clocks may differ by a minute.
    assert_eq!(refused(939, stored), early);
    assert!(user_at(940, &claims(), stored).is_ok());
    assert!(user_at(2_060, &claims(), stored).is_ok());
    assert_eq!(refused(2_061, stored), late);
    assert_eq!(
        refused(1_500, &[]),
        why("serviceaccounts \"robot\" not found")
    );
    assert_eq!(
        refused(1_500, &[(account, "other", None)]),
        why("service account UID (other) does not match claim (u)")
    );
    let deleted: Stored<'_> = &[(account, "u", Some(1_400))];
    assert!(user_at(1_460, &claims(), deleted).is_ok());
    assert_eq!(
        refused(1_461, deleted),
        why("service account ns/robot has been deleted")
    );
}

#[test]
fn a_token_ends_with_the_object_that_it_is_bound_to() {
    let account = (&service_account::KIND, "u", None);
    for (kind, word) in [
        (&pod::KIND, "pod"),
        (&secret::KIND, "secret"),
        (&node::KIND, "node"),
    ] {
        let mut claims = claims();
        claims["kubernetes.io"][word] = json!({"name": "x", "uid": "v"});
        let refused = |stored: Stored<'_>| user_at(1_500, &claims, stored).unwrap_err();
        let gone = "[invalid bearer token, service account token has been invalidated]";
        assert_eq!(refused(&[account]), gone);
        assert_eq!(refused(&[account, (kind, "v", Some(1_439))]), gone);
        assert_eq!(
            refused(&[account, (kind, "w", None)]),
            format!(
                "[invalid bearer token, {word} UID (w) does not match service account {word} ref claim (v)]"
            )
        );
        assert!(user_at(1_500, &claims, &[account, (kind, "v", Some(1_440))]).is_ok());
        let user = user_at(1_500, &claims, &[account, (kind, "v", None)]).unwrap();
        let extra = |field: &str| {
            let key = format!("authentication.kubernetes.io/{word}-{field}");
            user.extra()
                .get(&key)
                .map(|values| values.join(","))
                .unwrap_or_default()
        };
        let expected = if word == "secret" {
            ["", ""]
        } else {
            ["x", "v"]
        };
        assert_eq!(["name", "uid"].map(extra), expected);
    }
}

#[test]
fn the_node_of_a_pod_is_information() {
    let stored: Stored<'_> = &[(&service_account::KIND, "u", None), (&pod::KIND, "v", None)];
    let mut claims = claims();
    claims["kubernetes.io"]["pod"] = json!({"name": "p", "uid": "v"});
    claims["kubernetes.io"]["node"] = json!({"name": "gone", "uid": "n"});
    let user = user_at(1_500, &claims, stored).unwrap();
    assert_eq!(
        user.to_json()["extra"],
        json!({
            "authentication.kubernetes.io/credential-id": ["JTI=j"],
            "authentication.kubernetes.io/node-name": ["gone"],
            "authentication.kubernetes.io/node-uid": ["n"],
            "authentication.kubernetes.io/pod-name": ["p"],
            "authentication.kubernetes.io/pod-uid": ["v"],
        })
    );
    claims["kubernetes.io"]["node"] = json!({"name": "gone"});
    let user = user_at(1_500, &claims, stored).unwrap();
    let extra = user.to_json()["extra"].clone();
    assert_eq!(
        extra["authentication.kubernetes.io/node-name"],
        json!(["gone"])
    );
    assert_eq!(extra["authentication.kubernetes.io/node-uid"], Value::Null);
}

#[test]
fn foreign_and_changed_tokens_are_invalid() {
    let signer = TokenSigner::new([7; 32]);
    let token = signer.sign(&claims());
    assert!(TokenSigner::new([8; 32]).verify(&token).is_none());
    let mut forged = claims();
    forged["kubernetes.io"]["namespace"] = json!("kube-system");
    let forged = signer.sign(&forged);
    let (forged, _) = forged.rsplit_once('.').unwrap();
    let (_, signature) = token.rsplit_once('.').unwrap();
    assert!(signer.verify(&format!("{forged}.{signature}")).is_none());
    for token in ["", "a", "a.b", "a.b.c", "a.b.!"] {
        assert!(signer.verify(token).is_none(), "{token}");
    }
}

#[test]
fn a_token_file_is_read_line_by_line() {
    let text = "t1,jane,1\n\nt2,\"joe \"\"the\"\" cat\",2,\"a,b\"\r\nt3,jim,,c,ignored\n";
    let tokens = StaticTokens::parse(text).unwrap();
    let users: Vec<(&str, &str, &str, &[String])> = tokens
        .iter()
        .map(|(token, user)| (token.as_str(), user.name(), user.uid(), user.groups()))
        .collect();
    let groups: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    assert_eq!(
        users,
        [
            ("t1", "jane", "1", &[][..]),
            ("t2", "joe \"the\" cat", "2", &groups[..2]),
            ("t3", "jim", "", &groups[2..]),
        ]
    );
    for (text, why) in [
        ("a,b", "line 1: at least 3 columns"),
        ("a,b,c\n,b,c", "line 2: the token is empty"),
    ] {
        let error = StaticTokens::parse(text).unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn a_service_account_is_known_by_its_name() {
    let split = UserInfo::split_service_account;
    assert_eq!(split("system:serviceaccount:ns:a"), Some(("ns", "a")));
    for name in [
        "ns:a",
        "system:serviceaccount:ns",
        "system:serviceaccount::a",
        "system:serviceaccount:ns:",
        "system:serviceaccount:ns:a:b",
    ] {
        assert_eq!(split(name), None, "{name}");
    }
}
