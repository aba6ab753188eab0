//! Signatures on curves: two numbers one after the other in tokens (RFC 7518, 3.4), and in DER elsewhere.

use x509_parser::der_parser::{asn1_rs::FromDer as _, asn1_rs::Integer, asn1_rs::Sequence};

/// The tags of DER.
const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;

/// Returns the signature in the form of tokens, of numbers of `width` bytes.
pub(super) fn signature_of_der(der: &[u8], width: usize) -> Option<Vec<u8>> {
    let (_, sequence) = Sequence::from_der(der).ok()?;
    let (rest, r) = Integer::from_der(&sequence.content).ok()?;
    let (_, s) = Integer::from_der(rest).ok()?;
    let mut signature = Vec::with_capacity(2 * width);
    for number in [r, s] {
        let bytes = number.as_ref();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let bytes = &bytes[zeros..];
        signature.resize(signature.len() + width.checked_sub(bytes.len())?, 0);
        signature.extend_from_slice(bytes);
    }
    Some(signature)
}

/// Returns the signature in DER. The numbers have fewer than 100 bytes, so that each length is one byte.
pub(super) fn der_of_signature(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    let content = [integer(r), integer(s)].concat();
    let mut der = vec![SEQUENCE, u8::try_from(content.len()).unwrap_or(u8::MAX)];
    der.extend(content);
    der
}

/// Returns a positive number in DER: without zeros at its front, but for one where it would be negative.
fn integer(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros.min(bytes.len().saturating_sub(1))..];
    let is_high = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let len = bytes.len() + usize::from(is_high);
    let mut der = vec![INTEGER, u8::try_from(len).unwrap_or(u8::MAX)];
    der.resize(2 + usize::from(is_high), 0);
    der.extend_from_slice(bytes);
    der
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_the_same_numbers() {
        for (r, s) in [
            ([0x80, 1], [0, 2]),
            ([0, 0], [0x7f, 0xff]),
            ([1, 0], [0, 0x80]),
        ] {
            let signature = [r, s].concat();
            let der = der_of_signature(&signature);
            assert_eq!(signature_of_der(&der, 2), Some(signature));
        }
        assert_eq!(
            der_of_signature(&[0x80, 1, 0, 2]),
            [0x30, 8, 2, 3, 0, 0x80, 1, 2, 1, 2]
        );
        assert_eq!(signature_of_der(&[0x30, 1], 2), None);
    }
}
