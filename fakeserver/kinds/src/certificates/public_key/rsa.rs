//! Signatures of RSA.

use x509_parser::{num_bigint::BigUint, public_key::RSAPublicKey};

use super::Hash;

/// The last byte of a message with the padding PSS.
const PSS_TRAILER: u8 = 0xbc;
/// The last byte of the identifiers of SHA-256, SHA-384 and SHA-512.
const HASH_IDS: [(Hash, u8); 3] = [(Hash::Sha256, 1), (Hash::Sha384, 2), (Hash::Sha512, 3)];

/// Verifies the signature of `message` by `key`.
pub(super) fn verify(
    key: &RSAPublicKey<'_>,
    hash: Hash,
    is_pss: bool,
    message: &[u8],
    signature: &[u8],
) -> bool {
    let modulus = BigUint::from_bytes_be(key.modulus);
    let exponent = BigUint::from_bytes_be(key.exponent);
    let bits = usize::try_from(modulus.bits()).unwrap_or_default();
    let size = bits.div_ceil(8);
    let value = BigUint::from_bytes_be(signature);
    let is_exponent = exponent.bit(0) && (2..=31).contains(&exponent.bits());
    if signature.len() != size || value >= modulus || !modulus.bit(0) || !is_exponent {
        return false;
    }
    let encoded = value.modpow(&exponent, &modulus).to_bytes_be();
    let mut padded = vec![0; size - encoded.len()];
    padded.extend(encoded);
    if is_pss {
        is_pss_of(&padded, bits - 1, hash, message).unwrap_or_default()
    } else {
        pkcs1_of(hash, message, size).is_some_and(|expected| expected == padded)
    }
}

/// Returns the digest of `message` in `size` bytes, padded by PKCS#1 v1.5.
fn pkcs1_of(hash: Hash, message: &[u8], size: usize) -> Option<Vec<u8>> {
    let digest = hash.digest(&[message]);
    let (_, id) = HASH_IDS.into_iter().find(|(of, _)| *of == hash)?;
    let length = u8::try_from(digest.len()).ok()?;
    // A sequence of the algorithm, which is an identifier and null, and of the digest.
    let mut info = vec![0x30, 17 + length, 0x30, 13];
    info.extend([6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, id, 5, 0]);
    info.extend([4, length]);
    info.extend(digest);
    let fill = size.checked_sub(info.len() + 3).filter(|fill| *fill >= 8)?;
    let mut padded = vec![0, 1];
    padded.resize(2 + fill, 0xff);
    padded.push(0);
    padded.extend(info);
    Some(padded)
}

/// Returns whether `padded` is `message` with the padding PSS, of `bits` bits. `None` if it is too short for that.
fn is_pss_of(padded: &[u8], bits: usize, hash: Hash, message: &[u8]) -> Option<bool> {
    let size = bits.div_ceil(8);
    // One byte more than the padding has, if the modulus has a multiple of 8 bits and one.
    let (before, encoded) = padded.split_at_checked(padded.len().checked_sub(size)?)?;
    let (trailer, encoded) = encoded.split_last()?;
    let at = encoded.len().checked_sub(hash.size())?;
    let (masked, own) = encoded.split_at(at);
    let mut block: Vec<u8> = masked
        .iter()
        .zip(mask(hash, own, masked.len()))
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    let unused = 8 * size - bits;
    let high = u8::MAX.checked_shl(u32::try_from(8 - unused).ok()?);
    let high = high.unwrap_or_default();
    if masked.first()? & high != 0 {
        return Some(false);
    }
    *block.first_mut()? &= !high;
    let salt_at = block.len().checked_sub(hash.size())?;
    let (fill, salt) = block.split_at(salt_at);
    let (one, zeros) = fill.split_last()?;
    let digest = hash.digest(&[message]);
    let is_padding =
        before.iter().chain(zeros).all(|byte| *byte == 0) && *one == 1 && *trailer == PSS_TRAILER;
    Some(is_padding && hash.digest(&[&[0; 8], &digest, salt]) == own)
}

/// Returns `size` bytes of the mask MGF1 with a seed.
fn mask(hash: Hash, seed: &[u8], size: usize) -> Vec<u8> {
    let mut mask = Vec::new();
    for counter in 0_u32.. {
        if mask.len() >= size {
            break;
        }
        mask.extend(hash.digest(&[seed, &counter.to_be_bytes()]));
    }
    mask.truncate(size);
    mask
}
