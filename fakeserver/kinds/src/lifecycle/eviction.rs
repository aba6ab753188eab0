//! Evictions: who asked for one, and who answers.

use fakeserver_value::{field::Field, findings::Findings};

use super::target::{INTENTS, check_progress, check_target, check_target_update};
use crate::{
    Habits, Kind, PreservedMetadata, Validation,
    declared::{Format, check_minimum, check_named_items, check_required},
};

const REQUESTERS_MAX: usize = 100;
const RESPONDERS_MAX: usize = 11;
const PRIORITY_MAX: i64 = 100_000;
const MESSAGE_MAX_CHARS: usize = 4_000;
const STATES: [&str; 5] = ["Active", "Canceled", "Completed", "Inactive", "Interrupted"];

/// Evictions.
pub static KIND: Kind = Kind::new("lifecycle.k8s.io", "evictions")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check_target, check_update).with(&[("status", check_status)]));

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_target(new, found);
    check_target_update(old, new, found);
}

fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_progress(old, new, found);
    let status = new.at("status");
    let requesters = status.at("requesters");
    if check_named_items(&requesters, REQUESTERS_MAX, found) {
        for requester in requesters.items() {
            check_required(&requester.at("name"), Format::PrefixedKey, found);
            found.one_of(&requester.at("intent"), &INTENTS);
        }
    }
    let targets = status.at("targetResponders");
    if check_named_items(&targets, RESPONDERS_MAX, found) {
        for responder in targets.items() {
            check_required(&responder.at("name"), Format::PrefixedKey, found);
            check_minimum(&responder.at("priority"), 0, found);
            if responder.at("priority").number() > PRIORITY_MAX {
                let why = format!("must be less than or equal to {PRIORITY_MAX}");
                found.invalid(&responder.at("priority"), &why);
            }
            found.one_of(&responder.at("state"), &STATES);
        }
    }
    let responders = status.at("responders");
    if check_named_items(&responders, RESPONDERS_MAX, found) {
        for responder in responders.items() {
            check_required(&responder.at("name"), Format::PrefixedKey, found);
            let message = responder.at("message");
            if message.text().chars().count() > MESSAGE_MAX_CHARS {
                found.too_long(&message, MESSAGE_MAX_CHARS);
            }
        }
    }
}
