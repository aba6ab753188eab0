//! The reasons for which certificates are not accepted, and the names that constraints allow.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_value::user::UserInfo;
use jiff::Timestamp;
use x509_parser::extensions::{GeneralName, GeneralSubtree, NameConstraints};

use super::{Roots, expired, name_constraints::check_name};

const DATA: &str = include_str!("../../../../tests/data/client-certificates.txt");

/// Returns what is found out about the certificate of a form.
fn found(form: &str) -> Result<Option<(UserInfo, Timestamp)>, String> {
    let mut roots = Roots::default();
    let mut chain = Vec::new();
    for line in DATA.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let decoded = |at: usize| STANDARD.decode(words[at]).unwrap();
        if words[0] == "authority" {
            roots.add(decoded(2)).unwrap();
        } else if words[0] == form {
            chain = (2..words.len()).map(decoded).collect();
        }
    }
    let chain: Vec<&[u8]> = chain.iter().map(Vec::as_slice).collect();
    let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    roots.user(&chain, now)
}

/// Returns the certificate that a client of a form sends.
fn certificate(form: &str) -> Vec<u8> {
    let mut lines = DATA.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let line = lines.find(|words| words[0] == form).unwrap();
    STANDARD.decode(line[2]).unwrap()
}

/// Returns why the certificate of a form is not accepted, without its identification.
fn refusal(form: &str) -> String {
    let why = found(form).unwrap_err();
    match why.split_once(" failed: ") {
        Some((id, why)) => {
            assert!(id.starts_with("verifying certificate SN="), "{id}");
            why.to_owned()
        }
        None => why,
    }
}

#[test]
fn an_authority_that_go_refuses_to_read_is_refused_at_once() {
    let mut roots = Roots::default();
    for (der, why) in [
        (
            certificate("dupext"),
            "x509: certificate contains duplicate extensions",
        ),
        (b"no certificate".to_vec(), "x509: malformed certificate"),
    ] {
        assert_eq!(roots.add(der), Err(why.to_owned()));
    }
    assert!(roots.subjects().is_empty());
}

#[test]
fn a_certificate_is_accepted_up_to_the_end_of_its_chain() {
    let (user, not_after) = found("intleaf").unwrap().unwrap();
    assert_eq!(user.name(), "jane");
    assert_eq!(not_after.to_string(), "2125-01-01T00:00:00Z");
    assert_eq!(
        expired("2125-01-01T00:00:00.5Z".parse().unwrap(), not_after),
        "x509: certificate has expired or is not yet valid: current time 2125-01-01T00:00:00Z is after \
         2125-01-01T00:00:00Z"
    );
    assert_eq!(found("nocn"), Ok(None));
}

#[test]
fn a_refusal_has_its_reason() {
    let usage = "x509: certificate specifies an incompatible key usage";
    let unknown = "x509: certificate signed by unknown authority";
    let because = |why: &str, candidate: &str| {
        format!(
            "{unknown} (possibly because of {why:?} while trying to verify candidate authority certificate {candidate:?})"
        )
    };
    for (form, why) in [
        ("srveku", usage.to_owned()),
        ("inteku", usage.to_owned()),
        ("other", unknown.to_owned()),
        ("intleafmissing", unknown.to_owned()),
        (
            "samename",
            because("x509: ECDSA verification failure", "test-ca"),
        ),
        (
            "nonca",
            because(
                "x509: invalid signature: parent certificate cannot sign this kind of certificate",
                "leaf",
            ),
        ),
        (
            "sha1",
            because(
                "x509: cannot verify signature: insecure algorithm ECDSA-SHA1",
                "test-ca",
            ),
        ),
        (
            "toodeep",
            because(
                "x509: too many intermediates for path length constraint",
                "intermediate",
            ),
        ),
        ("critunknown", "x509: unhandled critical extension".to_owned()),
        (
            "ncno",
            because(
                "x509: a root or intermediate certificate is not authorized to sign for this name: DNS name \
                 \"a.example.org\" is not permitted by any constraint",
                "constrained-ca",
            ),
        ),
        (
            "expired",
            "x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is after \
             2025-02-01T00:00:00Z"
                .to_owned(),
        ),
        (
            "future",
            "x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:00Z is before \
             2124-01-01T00:00:00Z"
                .to_owned(),
        ),
        (
            "dupext",
            "x509: certificate contains duplicate extensions".to_owned(),
        ),
        (
            "twouid",
            "expected 1 UID, but found multiple: [7 8]".to_owned(),
        ),
    ] {
        assert_eq!(refusal(form), why, "{form}");
    }
}

#[test]
fn names_are_allowed_by_constraints_of_their_kind() {
    let dns = GeneralName::DNSName;
    let mail = GeneralName::RFC822Name;
    let uri = GeneralName::URI;
    let ip = GeneralName::IPAddress;
    for (constraint, within, beside) in [
        (
            dns("example.com"),
            vec![dns("example.com"), dns("a.EXAMPLE.com")],
            vec![dns("badexample.com"), dns("com"), dns("")],
        ),
        (
            dns(".example.com"),
            vec![dns("a.example.com")],
            vec![dns("example.com")],
        ),
        (dns(""), vec![dns("a")], vec![]),
        (
            mail("example.com"),
            vec![mail("jane@example.com")],
            vec![mail("jane@example.org"), mail("example.com")],
        ),
        (
            mail("jane@example.com"),
            vec![mail("jane@EXAMPLE.com")],
            vec![mail("JANE@example.com"), mail("joe@example.com")],
        ),
        (
            uri("example.com"),
            vec![
                uri("spiffe://example.com/a"),
                uri("https://joe@a.example.com:1/"),
            ],
            vec![
                uri("spiffe://example.org/example.com"),
                uri("https://10.0.0.1/"),
                uri("https://[::1]/"),
                uri("example.com"),
            ],
        ),
        (
            ip(&[10, 0, 0, 0, 255, 0, 0, 0]),
            vec![ip(&[10, 1, 2, 3])],
            vec![ip(&[11, 0, 0, 0]), ip(&[10; 16])],
        ),
    ] {
        let subtrees = Some(vec![GeneralSubtree {
            base: constraint.clone(),
        }]);
        let permitted = NameConstraints {
            permitted_subtrees: subtrees.clone(),
            excluded_subtrees: None,
        };
        let excluded = NameConstraints {
            permitted_subtrees: None,
            excluded_subtrees: subtrees,
        };
        for (names, is_within) in [(within, true), (beside, false)] {
            for name in names {
                let is_permitted = check_name(&name, &permitted).is_ok();
                assert_eq!(is_permitted, is_within, "{name:?} {constraint:?}");
                let is_excluded = check_name(&name, &excluded).is_err();
                assert_eq!(is_excluded, is_within, "{name:?} {constraint:?}");
            }
        }
        assert_eq!(
            check_name(
                &GeneralName::Invalid(x509_parser::asn1_rs::Tag(9), &[]),
                &permitted
            ),
            Ok(())
        );
    }
}
