//! Tokens and users as values.

use fakeserver_value::user::UserInfo;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{AuthenticationError, StaticTokens, TokenSigner, service_account::ISSUER};

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

#[test]
fn a_token_is_whom_it_was_issued_to() {
    let signer = TokenSigner::new([7; 32]);
    let claims = signer.verify(&signer.sign(&claims())).unwrap();
    let user = claims.user(at(1_500), Some("u")).unwrap();
    assert_eq!(
        user.to_json(),
        json!({
            "username": "system:serviceaccount:ns:robot",
            "uid": "u",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": ["JTI=j"]},
        })
    );
    let wanted = ["x".to_owned(), "vault".to_owned()];
    assert_eq!(claims.audiences(&wanted), ["vault"]);
    assert_eq!(claims.audiences(&wanted[..1]), [""; 0]);
}

#[test]
fn a_token_ends_with_its_time_and_with_its_account() {
    let signer = TokenSigner::new([7; 32]);
    let claims = signer.verify(&signer.sign(&claims())).unwrap();
    let refused = |second, uid| claims.user(at(second), uid).unwrap_err();
    assert_eq!(refused(999, Some("u")), AuthenticationError::TokenExpired);
    assert!(claims.user(at(1_999), Some("u")).is_ok());
    assert_eq!(refused(2_000, Some("u")), AuthenticationError::TokenExpired);
    assert_eq!(refused(1_500, None), AuthenticationError::Invalidated);
    assert_eq!(
        refused(1_500, Some("other")),
        AuthenticationError::Invalidated
    );
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
