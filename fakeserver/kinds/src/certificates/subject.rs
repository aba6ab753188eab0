//! The subjects of certificates that are requested.

use base64::{Engine as _, engine::general_purpose::STANDARD};

const BEGIN: &str = "-----BEGIN CERTIFICATE REQUEST-----";
const END: &str = "-----END CERTIFICATE REQUEST-----";
const INTEGER: u8 = 0x02;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// The object identifier 2.5.4.10.
const ORGANIZATION: [u8; 3] = [0x55, 0x04, 0x0a];

/// A reader of values of DER that stand one after the other.
struct Der<'a>(&'a [u8]);

/// Returns the organizations in the subject of a request, which is in PEM, in base64. One that cannot be read has none.
pub fn organizations(request: &str) -> Vec<String> {
    let organizations = der_of(request).and_then(|der| {
        let request = Der(&der).value(SEQUENCE)?;
        let mut info = Der(Der(request).value(SEQUENCE)?);
        let _version = info.value(INTEGER)?;
        let mut subject = Der(info.value(SEQUENCE)?);
        let mut found = Vec::new();
        while let Some(attributes) = subject.value(SET) {
            let mut attributes = Der(attributes);
            while let Some(attribute) = attributes.value(SEQUENCE) {
                let mut attribute = Der(attribute);
                if attribute.value(OBJECT_IDENTIFIER)? == ORGANIZATION {
                    let (_, text) = attribute.next()?;
                    found.push(String::from_utf8_lossy(text).into_owned());
                }
            }
        }
        Some(found)
    });
    organizations.unwrap_or_default()
}

fn der_of(request: &str) -> Option<Vec<u8>> {
    let pem = String::from_utf8(STANDARD.decode(request).ok()?).ok()?;
    let (_, rest) = pem.split_once(BEGIN)?;
    let (block, _) = rest.split_once(END)?;
    let block: String = block.split_whitespace().collect();
    STANDARD.decode(block).ok()
}

// === impl Der ===

impl<'a> Der<'a> {
    /// Takes the next value, if it has this tag.
    fn value(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let (tag, value) = self.next()?;
        (tag == wanted).then_some(value)
    }

    /// Takes the next value with its tag.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            let (bytes, rest) = rest.split_at_checked(count).filter(|_| count <= 4)?;
            let length = bytes
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte));
            (length, rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }
}
