//! Constraints that an authority sets to the alternative names of the certificates below it.

use std::net::IpAddr;

use fakeserver_value::go_url::GoUrl;
use x509_parser::{
    certificate::X509Certificate,
    extensions::{GeneralName, GeneralSubtree, NameConstraints},
};

/// Returns true if all constraints are of kinds that are checked.
pub(super) fn are_handled(constraints: &NameConstraints<'_>) -> bool {
    [
        &constraints.permitted_subtrees,
        &constraints.excluded_subtrees,
    ]
    .into_iter()
    .flatten()
    .flatten()
    .all(|subtree| kind(&subtree.base).is_some())
}

/// Checks the alternative names of the certificates below `authority` by its constraints.
///
/// # Errors
///
/// The name that is not allowed, and the constraint.
pub(super) fn check<'a>(
    authority: &X509Certificate<'_>,
    below: impl Iterator<Item = &'a X509Certificate<'a>>,
) -> Result<(), String> {
    let Ok(Some(constraints)) = authority.name_constraints() else {
        return Ok(());
    };
    let names = below.filter_map(|certificate| certificate.subject_alternative_name().ok()?);
    for name in names.flat_map(|names| &names.value.general_names) {
        check_name(name, constraints.value)?;
    }
    Ok(())
}

/// Checks one name.
pub(super) fn check_name(
    name: &GeneralName<'_>,
    constraints: &NameConstraints<'_>,
) -> Result<(), String> {
    let Some(word) = kind(name) else {
        return Ok(());
    };
    let of_kind = |subtrees: &'_ Option<Vec<GeneralSubtree<'_>>>| {
        let subtrees = subtrees.iter().flatten();
        let same = subtrees.filter(|subtree| kind(&subtree.base) == Some(word));
        let matched = same.map(|subtree| (text(&subtree.base), is_within(name, &subtree.base)));
        matched.collect::<Vec<_>>()
    };
    let name = text(name);
    let excluded = of_kind(&constraints.excluded_subtrees);
    if let Some((constraint, _)) = excluded.iter().find(|(_, is_within)| *is_within) {
        return Err(format!(
            "{word} {name:?} is excluded by constraint {constraint:?}"
        ));
    }
    let permitted = of_kind(&constraints.permitted_subtrees);
    if permitted.is_empty() || permitted.iter().any(|(_, is_within)| *is_within) {
        return Ok(());
    }
    Err(format!(
        "{word} {name:?} is not permitted by any constraint"
    ))
}

/// Returns the word for a kind of names, if its constraints are checked.
fn kind(name: &GeneralName<'_>) -> Option<&'static str> {
    Some(match name {
        GeneralName::DNSName(_) => "DNS name",
        GeneralName::RFC822Name(_) => "email address",
        GeneralName::URI(_) => "URI",
        GeneralName::IPAddress(_) => "IP address",
        _ => return None,
    })
}

/// Returns a name or a constraint as text.
fn text(name: &GeneralName<'_>) -> String {
    match name {
        GeneralName::DNSName(text) | GeneralName::RFC822Name(text) | GeneralName::URI(text) => {
            (*text).to_owned()
        }
        GeneralName::IPAddress(octets) => {
            // A constraint is an address and a mask of the same size.
            let size = if octets.len() < 16 { 4 } else { 16 };
            let parts: Vec<String> = octets.chunks(size).filter_map(address_text).collect();
            parts.join("/")
        }
        _ => String::new(),
    }
}

fn address_text(octets: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(octets).map(IpAddr::from);
    let v6 = <[u8; 16]>::try_from(octets).map(IpAddr::from);
    Some(v4.or(v6).ok()?.to_string())
}

/// Returns true if a name is one of those that a constraint of its kind describes.
fn is_within(name: &GeneralName<'_>, constraint: &GeneralName<'_>) -> bool {
    match (name, constraint) {
        (GeneralName::DNSName(name), GeneralName::DNSName(constraint)) => {
            is_in_domain(name, constraint)
        }
        (GeneralName::RFC822Name(name), GeneralName::RFC822Name(constraint)) => {
            let Some((local, domain)) = name.rsplit_once('@') else {
                return false;
            };
            match constraint.rsplit_once('@') {
                Some((wanted, host)) => local == wanted && domain.eq_ignore_ascii_case(host),
                None => is_in_domain(domain, constraint),
            }
        }
        (GeneralName::URI(name), GeneralName::URI(constraint)) => {
            host_of(name).is_some_and(|host| is_in_domain(&host, constraint))
        }
        (GeneralName::IPAddress(address), GeneralName::IPAddress(constraint)) => {
            let (network, mask) = constraint.split_at(constraint.len() / 2);
            network.len() == address.len()
                && (0..address.len()).all(|at| address[at] & mask[at] == network[at] & mask[at])
        }
        _ => false,
    }
}

/// Returns true if `domain` is `constraint` or below it. A constraint that begins with a dot is for what is below alone, and
/// an empty one is for all.
fn is_in_domain(domain: &str, constraint: &str) -> bool {
    let (needs_label, suffix) = match constraint.strip_prefix('.') {
        Some(suffix) => (true, suffix),
        None => (false, constraint),
    };
    if suffix.is_empty() {
        return true;
    }
    let Some(at) = domain.len().checked_sub(suffix.len()) else {
        return false;
    };
    let is_suffix = domain
        .get(at..)
        .is_some_and(|end| end.eq_ignore_ascii_case(suffix));
    is_suffix && (domain[..at].ends_with('.') || at == 0 && !needs_label)
}

/// Returns the host of a URI, if it is a name.
fn host_of(uri: &str) -> Option<String> {
    let host = GoUrl::parse(uri).ok()?.hostname();
    let is_name = !host.is_empty() && host.parse::<IpAddr>().is_err();
    is_name.then_some(host)
}
