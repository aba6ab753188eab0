//! Subjects of certificates: the common name is the user, the organizations are the groups.

use std::{collections::BTreeMap, error::Error, fmt::Write as _};

use fakeserver_value::user::{self, UserInfo};
use rcgen::{CertifiedIssuer, KeyPair, SigningKey};
use sha2::{Digest, Sha256};
use x509_parser::{
    asn1_rs::{Any, BitString, FromDer, Oid, Sequence, Set, Tag, ToDer, Utf8String},
    certificate::X509Certificate,
    oid_registry::{
        OID_X509_COMMON_NAME, OID_X509_COUNTRY_NAME, OID_X509_LOCALITY_NAME,
        OID_X509_ORGANIZATION_NAME, OID_X509_ORGANIZATIONAL_UNIT, OID_X509_POSTAL_CODE,
        OID_X509_SERIALNUMBER, OID_X509_STATE_OR_PROVINCE_NAME, OID_X509_STREET_ADDRESS,
    },
    parse_x509_certificate,
    x509::{AttributeTypeAndValue, X509Name},
};

/// The attribute of a subject that is the uid of the user.
const UID: &str = "1.3.6.1.4.1.57683.2";

pub(super) type Failure = Box<dyn Error + Send + Sync>;

/// The attributes that a signer takes over from a request, in the order in which it writes them.
const KEPT: [Oid<'static>; 9] = [
    OID_X509_COUNTRY_NAME,
    OID_X509_ORGANIZATION_NAME,
    OID_X509_ORGANIZATIONAL_UNIT,
    OID_X509_LOCALITY_NAME,
    OID_X509_STATE_OR_PROVINCE_NAME,
    OID_X509_STREET_ADDRESS,
    OID_X509_POSTAL_CODE,
    OID_X509_COMMON_NAME,
    OID_X509_SERIALNUMBER,
];
/// The attributes that a subject has once: of several, the last one counts.
const SINGLE: [Oid<'static>; 2] = [OID_X509_COMMON_NAME, OID_X509_SERIALNUMBER];

/// A subject: the values of each attribute, by its place in `KEPT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject(BTreeMap<usize, Vec<String>>);

/// Returns the user whom the certificate names; `None` if it names nobody. Of several common names the last one counts.
///
/// # Errors
///
/// The uid is no text, or there are several.
pub fn user_of(certificate: &X509Certificate<'_>) -> Result<Option<UserInfo>, String> {
    let subject = certificate.subject();
    let Some(name) = common_name(subject).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let groups = subject.iter_organization().filter_map(text_of);
    let digest = Sha256::digest(certificate.as_raw());
    let mut id = String::from("X509SHA256=");
    for octet in digest {
        write!(id, "{octet:02x}").expect("strings take what is written");
    }
    let user = UserInfo::new(name)
        .with_groups(groups)
        .with_extra(user::CREDENTIAL_ID, id);
    Ok(Some(user.with_uid(uid_of(subject)?)))
}

/// Returns the last common name that is text.
pub(super) fn common_name(subject: &X509Name<'_>) -> Option<String> {
    subject.iter_common_name().filter_map(text_of).last()
}

/// Returns the uid in a subject, or an empty text without one.
fn uid_of(subject: &X509Name<'_>) -> Result<String, String> {
    let uids = subject
        .iter_attributes()
        .filter(|attribute| attribute.attr_type().to_id_string() == UID);
    let uids: Option<Vec<String>> = uids.map(text_of).collect();
    let uids = uids.ok_or("unable to parse UID into a string")?;
    match uids.as_slice() {
        [] => Ok(String::new()),
        [uid] if uid.is_empty() => Err("UID cannot be an empty string".to_owned()),
        [uid] => Ok(uid.clone()),
        _ => Err(format!(
            "expected 1 UID, but found multiple: [{}]",
            uids.join(" ")
        )),
    }
}

/// Returns the text of an attribute, if it is text.
pub(super) fn text_of(attribute: &AttributeTypeAndValue<'_>) -> Option<String> {
    if let Ok(text) = attribute.as_str() {
        return Some(text.to_owned());
    }
    let octets = attribute.as_slice();
    match attribute.attr_value().tag() {
        // Read as Latin 1, in which it is mostly written.
        Tag::T61String => Some(octets.iter().copied().map(char::from).collect()),
        Tag::BmpString => {
            let units = octets
                .chunks(2)
                .map(|unit| Some(u16::from_be_bytes(unit.try_into().ok()?)));
            String::from_utf16(&units.collect::<Option<Vec<_>>>()?).ok()
        }
        _ => None,
    }
}

/// Returns the subject of a certificate that names a user: one name for each group.
pub(super) fn of_user(user: &UserInfo) -> Result<Vec<u8>, Failure> {
    let mut names = Vec::new();
    for group in user.groups() {
        names.extend(relative_name(&OID_X509_ORGANIZATION_NAME, [&**group])?);
    }
    names.extend(relative_name(&OID_X509_COMMON_NAME, [user.name()])?);
    Ok(Sequence::new(names.into()).to_der_vec()?)
}

/// Returns `certificate` with another subject, signed again.
///
/// The library that generates certificates supports one organization in a name, and a user has one for each group.
pub(super) fn rename(
    certificate: &[u8],
    name: &[u8],
    authority: &CertifiedIssuer<'static, KeyPair>,
) -> Result<Vec<u8>, Failure> {
    let (_, parsed) = parse_x509_certificate(certificate)?;
    let (_, signed) = Sequence::from_der(parsed.tbs_certificate.as_ref())?;
    let subject = parsed.subject().as_raw();
    let at = (signed.content.windows(subject.len()))
        .position(|part| part == subject)
        .ok_or("the certificate has no subject")?;
    let mut content = signed.content[..at].to_vec();
    content.extend(name);
    content.extend(&signed.content[at + subject.len()..]);
    let mut renamed = Sequence::new(content.into()).to_der_vec()?;

    // A certificate is a sequence of the signed part, the algorithm and the signature.
    let (_, whole) = Sequence::from_der(certificate)?;
    let behind = &whole.content[parsed.tbs_certificate.as_ref().len()..];
    let (rest, _) = Any::from_der(behind)?;
    let signature = authority.key().sign(&renamed)?;
    renamed.extend(&behind[..behind.len() - rest.len()]);
    renamed.extend(BitString::new(0, &signature).to_der_vec()?);
    Ok(Sequence::new(renamed.into()).to_der_vec()?)
}

// === impl Subject ===

impl Subject {
    /// Reads a name. Attributes of other types are left out, and so are those that are no text.
    pub(super) fn read(name: &X509Name<'_>) -> Self {
        let mut values: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for attribute in name.iter_attributes() {
            let place = KEPT.iter().position(|kept| kept == attribute.attr_type());
            if let (Some(place), Some(text)) = (place, text_of(attribute)) {
                let values = values.entry(place).or_default();
                if SINGLE.contains(attribute.attr_type()) {
                    values.clear();
                }
                values.push(text);
            }
        }
        Self(values)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the common name, or an empty text.
    pub fn common_name(&self) -> &str {
        self.values(&OID_X509_COMMON_NAME)
            .first()
            .map_or("", |name| name)
    }

    pub fn organizations(&self) -> &[String] {
        self.values(&OID_X509_ORGANIZATION_NAME)
    }

    /// Returns the subject as it stands in a certificate: the values of an attribute are one name.
    pub(super) fn to_der(&self) -> Result<Vec<u8>, Failure> {
        let mut names = Vec::new();
        for (place, values) in &self.0 {
            let values = values.iter().map(|value| &**value);
            names.extend(relative_name(&KEPT[*place], values)?);
        }
        Ok(Sequence::new(names.into()).to_der_vec()?)
    }

    fn values(&self, attribute: &Oid<'_>) -> &[String] {
        let place = KEPT.iter().position(|kept| kept == attribute);
        let values = place.and_then(|place| self.0.get(&place));
        values.map_or(&[], Vec::as_slice)
    }
}

/// Returns a relative distinguished name with all values of an attribute.
fn relative_name<'a>(
    attribute: &Oid<'_>,
    values: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<u8>, Failure> {
    let mut pairs = Vec::new();
    for value in values {
        let mut pair = attribute.to_der_vec()?;
        pair.extend(Utf8String::from(value).to_der_vec()?);
        pairs.push(Sequence::new(pair.into()).to_der_vec()?);
    }
    // Elements of a set are sorted in DER.
    pairs.sort();
    Ok(Set::new(pairs.concat().into()).to_der_vec()?)
}
