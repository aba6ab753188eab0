//! Certificates of clients of each form, as Go's verifier and the x509 authenticator of kube-apiserver take them.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver::{Certificates, FakeServer, UserInfo};
use serde_json::json;
use sha2::{Digest, Sha256, Sha512};
use tokio_rustls::rustls::{
    self, ClientConfig, SignatureAlgorithm, SignatureScheme, SupportedProtocolVersion,
    client::ResolvesClientCert,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    sign::{CertifiedKey, Signer, SigningKey},
    version::{TLS12, TLS13},
};
use x509_parser::num_bigint::BigUint;

use crate::tls::{Answer, TlsServer, trusted_roots};

/// Authorities, keys and certificates: a line each.
const DATA: &str = include_str!("../data/client-certificates.txt");
/// The order of the curve P-521.
const ORDER: &str = "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d0\
                     3bb5c9b8899c47aebb6fb71e91386409";

/// The answer to a client with a certificate.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// The user and the groups of the certificate.
    User(&'static str, &'static [&'static str]),
    /// The certificate names nobody.
    Anonymous,
    Unauthorized,
}

use Expected::{Anonymous, Unauthorized, User};

const JANE: Expected = User("jane", &["dev"]);

const FORMS: [(&str, Expected); 52] = [
    ("p256", JANE),
    ("p384", JANE),
    ("p521", JANE),
    ("rsa2048", JANE),
    ("rsa3072", JANE),
    ("rsa1024", JANE),
    ("ed25519", JANE),
    // Without extensions, and therefore of version 1.
    ("v1", JANE),
    ("noeku", JANE),
    ("anyeku", JANE),
    // For servers only, and for signing code only.
    ("srveku", Unauthorized),
    ("otheku", Unauthorized),
    ("nocn", Anonymous),
    ("nosubj", Anonymous),
    ("sanonly", Anonymous),
    // Of several common names, the last one counts.
    ("twocn", User("admin2", &[])),
    ("twoo", User("jane", &["a", "b"])),
    ("multirdn", User("jane", &["a"])),
    // Issued by a certificate that is no authority, by an unknown one, and by one with the name of the known one.
    ("nonca", Unauthorized),
    ("other", Unauthorized),
    ("samename", Unauthorized),
    ("critunknown", Unauthorized),
    ("caleaf", JANE),
    // The usage of the key is not for signatures of handshakes.
    ("kucrl", JANE),
    ("sha1", Unauthorized),
    ("sha384", JANE),
    ("sha512", JANE),
    ("serial0", JANE),
    ("serial30", JANE),
    ("utf8", User("jöne", &[])),
    ("latin1", User("jöne", &[])),
    ("bmp", User("jöne", &[])),
    ("masters", User("root", &["system:masters"])),
    ("namecn", User("system:anonymous", &[])),
    // Below an authority that may sign for `example.com` only.
    ("nc", JANE),
    ("ncno", Unauthorized),
    ("wildsan", JANE),
    ("longcn", User(LONG, &[])),
    // Itself among the authorities.
    ("selfca", User("jane", &[])),
    ("intleaf", JANE),
    ("intleafmissing", Unauthorized),
    // An authority below the known one, as a client.
    ("intermediate", User("jane", &[])),
    ("toodeep", Unauthorized),
    // Below an authority for servers only.
    ("inteku", Unauthorized),
    ("expired", Unauthorized),
    ("future", Unauthorized),
    ("rsa1024ca", JANE),
    ("p521ca", JANE),
    ("uid", User("jane", &[])),
    ("twouid", Unauthorized),
    ("dupext", Unauthorized),
    ("none", Anonymous),
];
/// A name of 300 characters.
const LONG: &str = concat!(
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
);

/// Creates a client that presents the same certificate to every server.
#[derive(Debug)]
struct OneCertificate(Arc<CertifiedKey>);

/// A private key of a kind for which the TLS library cannot sign.
#[derive(Clone, Debug)]
enum NumberKey {
    Rsa {
        modulus: BigUint,
        exponent: BigUint,
    },
    /// Signs with one nonce always, whose point and inverse are stored.
    P521 {
        key: BigUint,
        r: BigUint,
        inverse: BigUint,
    },
}

/// A key with the scheme that it signs by.
#[derive(Debug)]
struct SchemeKey(NumberKey, SignatureScheme);

/// Returns the lines of the data that begin with a word, by their second word.
fn lines(first: &str) -> BTreeMap<&'static str, Vec<&'static str>> {
    let lines = DATA.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let lines = lines.filter(|words| words[0] == first);
    lines.map(|words| (words[1], words[2..].to_vec())).collect()
}

fn pem(label: &str, encoded: &str) -> String {
    let contents = STANDARD.decode(encoded).unwrap();
    pem::encode(&pem::Pem::new(label, contents))
}

/// Creates a server that trusts all authorities of the data.
async fn server() -> TlsServer {
    let authorities = lines("authority").into_values();
    let authorities: String = authorities.map(|one| pem("CERTIFICATE", one[0])).collect();
    let (own, key) = Certificates::self_signed([]).unwrap();
    let certificates =
        Certificates::from_pem(own.as_bytes(), key.as_bytes(), authorities.as_bytes()).unwrap();
    let builder = FakeServer::builder().with_token("joe", UserInfo::new("joe"));
    TlsServer::serve_with(builder, certificates).await
}

fn signing_key(name: &str) -> Arc<dyn SigningKey> {
    let parts = &lines("key")[name];
    let number = |at: usize| BigUint::parse_bytes(parts[at].as_bytes(), 16).unwrap();
    match name {
        "rsa1024" => Arc::new(NumberKey::Rsa {
            modulus: number(0),
            exponent: number(1),
        }),
        "p521" => Arc::new(NumberKey::P521 {
            key: number(0),
            r: number(1),
            inverse: number(2),
        }),
        _ => {
            let key = PrivatePkcs8KeyDer::from(STANDARD.decode(parts[0]).unwrap());
            ring::sign::any_supported_type(&PrivateKeyDer::from(key)).unwrap()
        }
    }
}

/// A client that presents the certificate of a form, by one version of TLS.
fn client(
    certificates: &Certificates,
    form: &str,
    version: &'static SupportedProtocolVersion,
) -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(trusted_roots(certificates));
    if form == "none" {
        return builder.with_no_client_auth();
    }
    let (key, chain) = presented(form);
    let chain = chain.into_iter().map(CertificateDer::from).collect();
    let key = CertifiedKey::new(chain, signing_key(key));
    builder.with_client_cert_resolver(Arc::new(OneCertificate(Arc::new(key))))
}

/// Returns the name of the key and the chain of a form.
fn presented(form: &str) -> (&'static str, Vec<Vec<u8>>) {
    let line = DATA
        .lines()
        .find(|line| line.split(' ').next() == Some(form));
    let words: Vec<_> = line
        .unwrap_or_else(|| panic!("{form}"))
        .split(' ')
        .collect();
    let chain = words[2..].iter();
    let chain = chain.map(|encoded| STANDARD.decode(encoded).unwrap());
    (words[1], chain.collect())
}

fn check(form: &str, expected: Expected, answer: &Answer) {
    match expected {
        User(name, groups) => {
            assert_eq!(answer.code, 201, "{form}: {answer:?}");
            let user = &answer.body["status"]["userInfo"];
            assert_eq!(user["username"], name, "{form}");
            let all = [groups, &["system:authenticated"]].concat();
            assert_eq!(user["groups"], json!(all), "{form}");
        }
        Anonymous => {
            assert_eq!(answer.code, 403, "{form}: {answer:?}");
            let message = answer.body["message"].as_str().unwrap();
            assert!(message.contains("User \"system:anonymous\""), "{message}");
        }
        Unauthorized => {
            assert_eq!(answer.code, 401, "{form}: {answer:?}");
            assert_eq!(answer.body["reason"], "Unauthorized", "{form}");
        }
    }
}

#[tokio::test]
async fn certificates_of_each_form_are_taken_as_go_takes_them() {
    let secure = server().await;
    for version in [&TLS13, &TLS12] {
        for (form, expected) in FORMS {
            let client = client(&secure.certificates, form, version);
            let answer = secure.who(client, None).await;
            let answer = answer.unwrap_or_else(|error| panic!("{form}: {error}"));
            check(form, expected, &answer);
        }
    }
    let tested: Vec<_> = FORMS.iter().map(|(form, _)| *form).collect();
    for line in DATA.lines().filter(|line| !line.starts_with('#')) {
        let word = line.split(' ').next().unwrap();
        let is_tested = tested.contains(&word) || ["authority", "key"].contains(&word);
        assert!(is_tested, "{word}");
    }
    secure.end().await;
}

#[tokio::test]
async fn a_certificate_has_a_uid_and_an_id() {
    let secure = server().await;
    let client = client(&secure.certificates, "uid", &TLS13);
    let answer = secure.who(client, None).await.unwrap();
    let (_, chain) = presented("uid");
    let digest = Sha256::digest(&chain[0]);
    let digest: Vec<_> = digest.iter().map(|octet| format!("{octet:02x}")).collect();
    let digest = digest.concat();
    assert_eq!(
        answer.body["status"]["userInfo"],
        json!({
            "username": "jane",
            "uid": "7",
            "groups": ["system:authenticated"],
            "extra": {
                "authentication.kubernetes.io/credential-id": [format!("X509SHA256={digest}")],
            },
        })
    );
    secure.end().await;
}

#[tokio::test]
async fn a_certificate_comes_before_a_token_and_a_token_after_a_refused_one() {
    let secure = server().await;
    for (form, token, expected) in [
        ("expired", "joe", User("joe", &[])),
        ("other", "joe", User("joe", &[])),
        ("nocn", "joe", User("joe", &[])),
        ("other", "x", Unauthorized),
        ("nocn", "x", Unauthorized),
        ("p256", "x", JANE),
        ("none", "joe", User("joe", &[])),
        ("none", "x", Unauthorized),
    ] {
        let client = client(&secure.certificates, form, &TLS13);
        let answer = secure.who(client, Some(token)).await.unwrap();
        check(form, expected, &answer);
    }
    secure.end().await;
}

#[tokio::test]
async fn a_client_without_the_key_of_its_certificate_gets_an_alert() {
    let secure = server().await;
    for version in [&TLS13, &TLS12] {
        for (key, alert) in [("p256", "DecryptError"), ("rsa2048", "DecryptError")] {
            let (_, chain) = presented("samename");
            let chain = chain.into_iter().map(CertificateDer::from).collect();
            let other = if key == "p256" { "p384" } else { key };
            let key = CertifiedKey::new(chain, signing_key(other));
            let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_protocol_versions(&[version])
                .unwrap()
                .with_root_certificates(trusted_roots(&secure.certificates))
                .with_client_cert_resolver(Arc::new(OneCertificate(Arc::new(key))));
            let error = secure.who(client, None).await.unwrap_err();
            assert!(error.contains(alert), "{error}");
        }
    }
    secure.end().await;
}

// === impl OneCertificate ===

impl ResolvesClientCert for OneCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

// === impl NumberKey ===

impl SigningKey for NumberKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let schemes: &[_] = match self {
            Self::Rsa { .. } => &[
                SignatureScheme::RSA_PKCS1_SHA256,
                SignatureScheme::RSA_PSS_SHA256,
            ],
            Self::P521 { .. } => &[SignatureScheme::ECDSA_NISTP521_SHA512],
        };
        let scheme = schemes.iter().find(|scheme| offered.contains(scheme))?;
        Some(Box::new(SchemeKey(self.clone(), *scheme)))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        match self {
            Self::Rsa { .. } => SignatureAlgorithm::RSA,
            Self::P521 { .. } => SignatureAlgorithm::ECDSA,
        }
    }
}

// === impl SchemeKey ===

impl Signer for SchemeKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Ok(match &self.0 {
            NumberKey::Rsa { modulus, exponent } => {
                let padded = match self.1 {
                    SignatureScheme::RSA_PSS_SHA256 => padded_by_pss(message),
                    _ => padded_by_pkcs1(message),
                };
                let value = BigUint::from_bytes_be(&padded).modpow(exponent, modulus);
                let bytes = value.to_bytes_be();
                [vec![0; 128 - bytes.len()], bytes].concat()
            }
            NumberKey::P521 { key, r, inverse } => {
                let order = BigUint::parse_bytes(ORDER.as_bytes(), 16).unwrap();
                let hash = BigUint::from_bytes_be(&Sha512::digest(message));
                let s = (hash + r * key) * inverse % order;
                let content = [integer(r), integer(&s)].concat();
                let length = u8::try_from(content.len()).unwrap();
                [vec![0x30, 0x81, length], content].concat()
            }
        })
    }

    fn scheme(&self) -> SignatureScheme {
        self.1
    }
}

/// Returns a number as DER writes it.
fn integer(number: &BigUint) -> Vec<u8> {
    let mut bytes = number.to_bytes_be();
    if !bytes[0].is_ascii() {
        bytes.insert(0, 0);
    }
    let length = u8::try_from(bytes.len()).unwrap();
    [vec![2, length], bytes].concat()
}

/// Returns the padding of a key of 1,024 bits around the digest of a message.
fn padded_by_pkcs1(message: &[u8]) -> Vec<u8> {
    let info = [
        0x30, 0x31, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 0x20,
    ];
    let digest = Sha256::digest(message);
    let fill = 128 - 3 - info.len() - digest.len();
    [&[0, 1], &*vec![0xff; fill], &[0], &info, &digest].concat()
}

/// Returns the padding of a key of 1,024 bits with a salt of zeros.
fn padded_by_pss(message: &[u8]) -> Vec<u8> {
    let salt = [0; 32];
    let digest = Sha256::digest(message);
    let hash = Sha256::digest([&[0; 8], &*digest, &salt].concat());
    let mut block = [&[0; 62], &[1][..], &salt].concat();
    for (counter, part) in block.chunks_mut(32).enumerate() {
        let counter = u32::try_from(counter).unwrap().to_be_bytes();
        let mask = Sha256::digest([&*hash, &counter].concat());
        for (byte, mask) in part.iter_mut().zip(mask) {
            *byte ^= mask;
        }
    }
    block[0] &= 0x7f;
    [&*block, &hash, &[0xbc]].concat()
}
