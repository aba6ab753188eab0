//! Signatures by the public keys of X.509: RSA, ECDSA and Ed25519.
//!
//! `ring` verifies what it can. Of RSA keys of less than 2,048 bits it has PKCS#1 v1.5 alone, and not with SHA-384; it has no
//! curve P-521, and SHA-512 with no curve at all. These signatures are verified by arithmetic on large integers. All values
//! are public there, so that its time may depend on them.

mod ecdsa;
mod rsa;
#[cfg(test)]
mod tests;

use ring::signature::{self as algorithms, UnparsedPublicKey, VerificationAlgorithm};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_parser::{
    num_bigint::BigUint,
    oid_registry::{
        OID_MD5_WITH_RSA, OID_NIST_HASH_SHA256, OID_NIST_HASH_SHA384, OID_NIST_HASH_SHA512,
        OID_PKCS1_RSASSAPSS, OID_PKCS1_SHA1WITHRSA, OID_PKCS1_SHA256WITHRSA,
        OID_PKCS1_SHA384WITHRSA, OID_PKCS1_SHA512WITHRSA, OID_SHA1_WITH_RSA,
        OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ECDSA_WITH_SHA512,
        OID_SIG_ED25519, Oid,
    },
    public_key::{PublicKey, RSAPublicKey},
    signature_algorithm::RsaSsaPssParams,
    x509::{AlgorithmIdentifier, SubjectPublicKeyInfo},
};

pub use self::ecdsa::Curve;

/// `ecdsa-with-SHA1`.
const ECDSA_WITH_SHA1: &str = "1.2.840.10045.4.1";
/// The smallest RSA key in bits that is accepted.
const RSA_BITS_MIN: u64 = 1_024;
/// The size from which `ring` verifies all signatures of RSA, up to 8,192 bits.
const RING_RSA_BITS_MIN: u64 = 2_048;

/// A hash function of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

/// An algorithm of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// RSA with the padding of PKCS#1 v1.5.
    RsaPkcs1(Hash),
    /// RSA with the padding PSS, whose salt is as long as the hash.
    RsaPss(Hash),
    Ecdsa(Hash),
    Ed25519,
}

/// A signature that is not accepted, in the words of Go's `crypto/x509`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("crypto/rsa: verification error")]
    Rsa,
    #[error(
        "crypto/rsa: {0}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)"
    )]
    RsaSize(u64),
    #[error("x509: ECDSA verification failure")]
    Ecdsa,
    #[error("x509: Ed25519 verification failure")]
    Ed25519,
    #[error("x509: cannot verify signature: insecure algorithm {0}")]
    Insecure(&'static str),
    #[error("x509: cannot verify signature: algorithm unimplemented")]
    Unimplemented,
    #[error("x509: signature algorithm and public key are of different kinds")]
    WrongKey,
}

/// A public key, as far as signatures of its kind can be verified.
enum Key<'a> {
    Rsa(RSAPublicKey<'a>),
    Ecdsa(Curve, Vec<u8>),
    Ed25519,
}

/// Verifies the signature of `message` by `key`.
pub fn verify(
    key: &SubjectPublicKeyInfo<'_>,
    algorithm: SignatureAlgorithm,
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let by_ring = |with: &'static dyn VerificationAlgorithm| {
        let key = UnparsedPublicKey::new(with, &key.subject_public_key.data);
        key.verify(message, signature).is_ok()
    };
    let (is_valid, error) = match (Key::read(key)?, algorithm) {
        (Key::Rsa(key), SignatureAlgorithm::RsaPkcs1(hash) | SignatureAlgorithm::RsaPss(hash)) => {
            let is_pss = algorithm == SignatureAlgorithm::RsaPss(hash);
            let bits = rsa_bits(&key);
            if bits < RSA_BITS_MIN {
                return Err(SignatureError::RsaSize(bits));
            }
            let is_valid = if bits >= RING_RSA_BITS_MIN {
                by_ring(ring_rsa(hash, is_pss))
            } else {
                rsa::verify(&key, hash, is_pss, message, signature)
            };
            (is_valid, SignatureError::Rsa)
        }
        (Key::Ecdsa(curve, point), SignatureAlgorithm::Ecdsa(hash)) => {
            let is_valid = match ring_ecdsa(curve, hash) {
                Some(with) => by_ring(with),
                None => ecdsa::verify(curve, &point, &hash.digest(&[message]), signature),
            };
            (is_valid, SignatureError::Ecdsa)
        }
        (Key::Ed25519, SignatureAlgorithm::Ed25519) => {
            (by_ring(&algorithms::ED25519), SignatureError::Ed25519)
        }
        _ => return Err(SignatureError::WrongKey),
    };
    if is_valid { Ok(()) } else { Err(error) }
}

/// Returns the curve of a key, if it is on one.
pub fn curve_of(key: &SubjectPublicKeyInfo<'_>) -> Option<Curve> {
    match Key::read(key) {
        Ok(Key::Ecdsa(curve, _)) => Some(curve),
        _ => None,
    }
}

/// Returns true if signatures of a key of this kind can be verified.
pub fn is_supported(key: &SubjectPublicKeyInfo<'_>) -> bool {
    Key::read(key).is_ok()
}

fn rsa_bits(key: &RSAPublicKey<'_>) -> u64 {
    BigUint::from_bytes_be(key.modulus).bits()
}

fn ring_rsa(hash: Hash, is_pss: bool) -> &'static dyn VerificationAlgorithm {
    match (hash, is_pss) {
        (Hash::Sha256, false) => &algorithms::RSA_PKCS1_2048_8192_SHA256,
        (Hash::Sha384, false) => &algorithms::RSA_PKCS1_2048_8192_SHA384,
        (Hash::Sha512, false) => &algorithms::RSA_PKCS1_2048_8192_SHA512,
        (Hash::Sha256, true) => &algorithms::RSA_PSS_2048_8192_SHA256,
        (Hash::Sha384, true) => &algorithms::RSA_PSS_2048_8192_SHA384,
        (Hash::Sha512, true) => &algorithms::RSA_PSS_2048_8192_SHA512,
    }
}

fn ring_ecdsa(curve: Curve, hash: Hash) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match (curve, hash) {
        (Curve::P256, Hash::Sha256) => &algorithms::ECDSA_P256_SHA256_ASN1,
        (Curve::P256, Hash::Sha384) => &algorithms::ECDSA_P256_SHA384_ASN1,
        (Curve::P384, Hash::Sha256) => &algorithms::ECDSA_P384_SHA256_ASN1,
        (Curve::P384, Hash::Sha384) => &algorithms::ECDSA_P384_SHA384_ASN1,
        _ => return None,
    })
}

// === impl Key ===

impl<'a> Key<'a> {
    fn read(info: &'a SubjectPublicKeyInfo<'_>) -> Result<Self, SignatureError> {
        if info.algorithm.algorithm == OID_SIG_ED25519 {
            return Ok(Self::Ed25519);
        }
        match info.parsed() {
            Ok(PublicKey::RSA(key)) => Ok(Self::Rsa(key)),
            Ok(PublicKey::EC(point)) => {
                let named = info.algorithm.parameters.as_ref();
                let named = named.and_then(|parameters| parameters.as_oid().ok());
                let curve = named.and_then(|named| Curve::named(&named));
                let curve = curve.ok_or(SignatureError::Unimplemented)?;
                Ok(Self::Ecdsa(curve, point.data().to_vec()))
            }
            _ => Err(SignatureError::Unimplemented),
        }
    }
}

// === impl Hash ===

impl Hash {
    fn digest(self, parts: &[&[u8]]) -> Vec<u8> {
        fn of<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
            let mut digest = D::new();
            for part in parts {
                digest.update(part);
            }
            digest.finalize().to_vec()
        }
        match self {
            Self::Sha256 => of::<Sha256>(parts),
            Self::Sha384 => of::<Sha384>(parts),
            Self::Sha512 => of::<Sha512>(parts),
        }
    }

    /// Returns the number of bytes of a digest.
    fn size(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    fn named(oid: &Oid<'_>) -> Option<Self> {
        [
            (OID_NIST_HASH_SHA256, Self::Sha256),
            (OID_NIST_HASH_SHA384, Self::Sha384),
            (OID_NIST_HASH_SHA512, Self::Sha512),
        ]
        .into_iter()
        .find_map(|(named, hash)| (named == *oid).then_some(hash))
    }
}

// === impl SignatureAlgorithm ===

impl SignatureAlgorithm {
    /// Reads the algorithm of a certificate's signature, or of a request's.
    pub fn read(identifier: &AlgorithmIdentifier<'_>) -> Result<Self, SignatureError> {
        let oid = &identifier.algorithm;
        let simple = [
            (OID_PKCS1_SHA256WITHRSA, Self::RsaPkcs1(Hash::Sha256)),
            (OID_PKCS1_SHA384WITHRSA, Self::RsaPkcs1(Hash::Sha384)),
            (OID_PKCS1_SHA512WITHRSA, Self::RsaPkcs1(Hash::Sha512)),
            (OID_SIG_ECDSA_WITH_SHA256, Self::Ecdsa(Hash::Sha256)),
            (OID_SIG_ECDSA_WITH_SHA384, Self::Ecdsa(Hash::Sha384)),
            (OID_SIG_ECDSA_WITH_SHA512, Self::Ecdsa(Hash::Sha512)),
            (OID_SIG_ED25519, Self::Ed25519),
        ];
        let found = simple.into_iter().find(|(named, _)| named == oid);
        if let Some((_, algorithm)) = found {
            return Ok(algorithm);
        }
        if *oid == OID_PKCS1_RSASSAPSS {
            return pss(identifier).ok_or(SignatureError::Unimplemented);
        }
        Err(
            if [OID_PKCS1_SHA1WITHRSA, OID_SHA1_WITH_RSA].contains(oid) {
                SignatureError::Insecure("SHA1-RSA")
            } else if oid.to_id_string() == ECDSA_WITH_SHA1 {
                SignatureError::Insecure("ECDSA-SHA1")
            } else if *oid == OID_MD5_WITH_RSA {
                SignatureError::Insecure("MD5-RSA")
            } else {
                SignatureError::Unimplemented
            },
        )
    }
}

/// Returns the algorithm with PSS, if all its parameters follow from the hash.
fn pss(identifier: &AlgorithmIdentifier<'_>) -> Option<SignatureAlgorithm> {
    let parameters = RsaSsaPssParams::try_from(identifier.parameters.as_ref()?).ok()?;
    let hash = Hash::named(parameters.hash_algorithm_oid())?;
    let mask = parameters.mask_gen_algorithm().ok()?;
    let is_usual = Hash::named(&mask.hash) == Some(hash)
        && usize::try_from(parameters.salt_length()) == Ok(hash.size())
        && parameters.trailer_field() == 1;
    is_usual.then_some(SignatureAlgorithm::RsaPss(hash))
}
