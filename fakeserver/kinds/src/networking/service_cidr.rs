//! Ranges of service addresses.

use fakeserver_value::{
    field::Field,
    findings::Findings,
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, PreservedMetadata, Validation,
    addresses::{check_canonical_cidr, parse_cidr},
    table::cell::{Cells, age, name},
};

const SPEC: &str = "io.k8s.api.networking.v1.ServiceCIDRSpec";

/// Ranges of service addresses.
pub static KIND: Kind = Kind::new("networking.k8s.io", "servicecidrs")
    .habits(Habits {
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

fn check(cidr: &Field<'_>, found: &mut Findings) {
    let spec = cidr.at("spec");
    let ranges = spec.at("cidrs");
    if ranges.is_empty() {
        return found.required(&ranges, "at least one CIDR required");
    }
    if ranges.len() > 2 {
        let whole = spec.called_at(&ranges);
        return found.invalid_struct(&whole, SPEC, "may only hold up to 2 values");
    }
    for range in ranges.items() {
        check_canonical_cidr(&range, found);
    }
    let family = |place: usize| {
        let (address, _) = parse_cidr(ranges.place(place).text())?;
        Some(address.to_canonical().is_ipv4())
    };
    if ranges.len() == 2 && family(0).is_some() && family(0) == family(1) {
        let why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        found.invalid(&ranges, why);
    }
}

/// Ranges do not change, but a second one can be added.
fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("spec").at("cidrs"), new.at("spec").at("cidrs"));
    match (was.len(), is.len()) {
        (before, after) if before == after => {
            for (old, new) in was.items().zip(is.items()) {
                found.immutable_text(&new, &old);
            }
        }
        (1, 2) => {
            found.immutable_text(&is.place(0), &was.place(0));
            check(new, found);
        }
        _ => found.invalid(&is, "field is immutable"),
    }
}

// === Cells ===

fn cells(cidr: &Value, now: Timestamp) -> Cells {
    let ranges: Vec<&str> = items(&cidr["spec"]["cidrs"]).iter().map(text).collect();
    vec![
        json!(name(cidr)),
        json!(ranges.join(",")),
        json!(age(cidr, now)),
    ]
}
