//! Checks of names and ids, and of lists that name their items.

use std::collections::BTreeSet;

use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{dns_label_problems, subdomain_problems},
};
use serde_json::json;

/// The change since which findings about items of a list name the items, and no items of a list that is too long are checked.
pub(super) const ITEMS_BY_KEY_ENDED: &str = "DeviceListsCheckedByItem";

const POOL_NAME_MAX_BYTES: usize = 253;

const ID_MAX_BYTES: usize = 32;

const DOMAIN_MAX_BYTES: usize = 63;

/// The length from which findings shorten the keys of attributes and capacities.
pub(super) const QUALIFIED_MAX_BYTES: usize = DOMAIN_MAX_BYTES + 1 + ID_MAX_BYTES;

/// The change since which a missing part of a qualified name is an invalid value.
const MISSING_NAMES_INVALID: &str = "MissingPartsOfQualifiedNamesInvalid";

const IDENTIFIER: &str = "a valid C identifier must start with alphabetic character or '_', followed by a string of \
    alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is \
    '[A-Za-z_][A-Za-z0-9_]*')";

/// Checks the name of a request, a device or a counter, which is there, if empty.
pub(super) fn check_label_name(name: &Field<'_>, found: &mut Findings) {
    for problem in dns_label_problems(name.text()) {
        found.invalid_as(name, &json!(name.text()), &problem);
    }
}

/// Checks the name of a pool: subdomains between slashes.
pub(super) fn check_pool_name(name: &Field<'_>, found: &mut Findings) {
    if !name.has_text() {
        found.required(name, "");
        return;
    }
    if name.text().len() > POOL_NAME_MAX_BYTES {
        found.too_long(name, POOL_NAME_MAX_BYTES);
    }
    for part in name.text().split('/') {
        for problem in subdomain_problems(part) {
            found.invalid_as(name, &json!(part), &problem);
        }
    }
}

/// Checks a name with or without a domain; findings are about `target`.
pub(super) fn check_qualified_name(name: &str, target: &Field<'_>, found: &mut Findings) {
    let missing = |why: &str, found: &mut Findings| {
        if found.is_on(MISSING_NAMES_INVALID) {
            found.invalid_as(target, &json!(""), why);
        } else {
            found.required(target, why);
        }
    };
    if name.is_empty() && !found.is_on(MISSING_NAMES_INVALID) {
        return found.required(target, "name required");
    }
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [id] => check_identifier(id, target, found),
        [domain, id] => {
            if domain.is_empty() {
                missing("the domain must not be empty", found);
            } else {
                check_domain(domain, target, found);
            }
            if id.is_empty() {
                missing("the name must not be empty", found);
            } else {
                check_identifier(id, target, found);
            }
        }
        // A real server accepts more slashes.
        _ => {}
    }
}

/// Checks a name that has a domain.
pub(super) fn check_fully_qualified_name(name: &Field<'_>, found: &mut Findings) {
    check_qualified_name(name.text(), name, found);
    let is_reported = !name.has_text() && !found.is_on(MISSING_NAMES_INVALID);
    if !name.text().contains('/') && !is_reported {
        found.invalid(
            name,
            "a fully qualified name must be a domain and a name separated by a slash",
        );
    }
}

fn check_domain(domain: &str, target: &Field<'_>, found: &mut Findings) {
    if domain.len() > DOMAIN_MAX_BYTES {
        found.too_long(target, DOMAIN_MAX_BYTES);
    }
    for problem in subdomain_problems(&domain.to_lowercase()) {
        found.invalid_as(target, &json!(domain), &problem);
    }
}

fn check_identifier(id: &str, target: &Field<'_>, found: &mut Findings) {
    if id.len() > ID_MAX_BYTES {
        found.too_long(target, ID_MAX_BYTES);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts_well = id.starts_with(|first: char| !first.is_ascii_digit());
    if !starts_well || !id.bytes().all(is_allowed) {
        found.invalid_as(target, &json!(id), IDENTIFIER);
    }
}

/// Checks a uid in its usual form.
pub(super) fn check_uid(uid: &Field<'_>, found: &mut Findings) {
    let text = uid.text();
    if let Some(problem) = uuid_problem(text) {
        found.invalid(uid, &format!("error validating uid: {problem}"));
    } else if text.len() != 36 || text != text.to_lowercase() {
        found.invalid(
            uid,
            "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
             hexadecimal characters",
        );
    }
}

/// Returns why a text is no UUID in any of its four forms.
fn uuid_problem(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let dashed = match bytes.len() {
        32 => {
            let is_uuid = bytes.iter().all(u8::is_ascii_hexdigit);
            return (!is_uuid).then(|| "invalid UUID format".to_owned());
        }
        36 => bytes,
        38 if bytes[0] != b'{' || bytes[37] != b'}' => {
            return Some("invalid bracketed UUID format".to_owned());
        }
        38 => &bytes[1..37],
        45 if !bytes[..9].eq_ignore_ascii_case(b"urn:uuid:") => {
            let prefix = String::from_utf8_lossy(&bytes[..9]);
            return Some(format!("invalid urn prefix: {prefix:?}"));
        }
        45 => &bytes[9..],
        length => return Some(format!("invalid UUID length: {length}")),
    };
    let is_good = |(place, byte): (usize, &u8)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let is_uuid = dashed.iter().enumerate().all(is_good);
    (!is_uuid).then(|| "invalid UUID format".to_owned())
}

/// Returns the items of a list, or none and a finding if they are too many.
pub(super) fn at_most<'a>(
    list: &Field<'a>,
    items_max: usize,
    found: &mut Findings,
) -> Vec<Field<'a>> {
    if list.len() > items_max {
        found.too_many(list, items_max);
        if found.is_on(ITEMS_BY_KEY_ENDED) {
            return Vec::new();
        }
    }
    list.items().collect()
}

/// Finds items that are equal, or have equal members `key`.
pub(super) fn check_unique(items: &[Field<'_>], key: Option<&'static str>, found: &mut Findings) {
    let mut keys = BTreeSet::new();
    for item in items {
        let member = key.map_or_else(|| item.clone(), |key| item.at(key));
        let text = member.text();
        if !keys.insert(text) {
            let named = if found.is_on(ITEMS_BY_KEY_ENDED) {
                item
            } else {
                &member
            };
            found.duplicate_as(named, &json!(text));
        }
    }
}

/// Returns the entries of a map; findings shorten keys that are longer than `bytes_max`.
pub(super) fn shortened_entries<'a>(
    map: &Field<'a>,
    bytes_max: usize,
) -> impl Iterator<Item = (&'a str, Field<'a>)> {
    let map = map.clone();
    map.clone().entries().map(move |(key, value)| {
        let short_key = map.key(&shortened(key, bytes_max));
        (key, value.called_at(&short_key))
    })
}

fn shortened(key: &str, bytes_max: usize) -> String {
    if key.len() <= bytes_max {
        return key.to_owned();
    }
    let rest = bytes_max - 3;
    let start = String::from_utf8_lossy(&key.as_bytes()[..rest.div_ceil(2)]);
    let end = String::from_utf8_lossy(&key.as_bytes()[key.len() - rest / 2..]);
    format!("{start}...{end}")
}
