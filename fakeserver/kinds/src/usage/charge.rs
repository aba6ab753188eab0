//! Charges: the usage that a write adds to quotas, and the rejection of writes that exceed one.

use serde_json::Value;

use super::{Amounts, Evaluator, Quota, UsageContext};

/// A write of an object that quotas may count.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    pub evaluator: &'a Evaluator,
    pub new: &'a Value,
    /// The object that is updated.
    pub old: Option<&'a Value>,
    /// True if the limits hold. A change of a status is counted, whatever the limits are.
    pub is_limited: bool,
}

/// Returns the usage of each quota after the change, if it is another one.
///
/// # Errors
///
/// A quota forbids the change, in words that follow `is forbidden: `.
pub fn charge(
    quotas: &[Quota],
    change: Change<'_>,
    around: &dyn UsageContext,
) -> Result<Vec<Option<Amounts>>, String> {
    let Change { evaluator, new, .. } = change;
    // All quotas are checked before one is charged: an object that does not say enough is refused first.
    let mut concerned = Vec::with_capacity(quotas.len());
    for quota in quotas {
        let is_concerned = quota.matches(evaluator, new, around);
        if is_concerned {
            check_complete(quota, evaluator, new, around)?;
        }
        concerned.push(is_concerned);
    }
    let usage = evaluator.usage(new, around);
    let negative: Vec<&str> = usage
        .iter()
        .filter(|(_, amount)| amount.is_negative())
        .map(|(name, _)| name)
        .collect();
    if !negative.is_empty() {
        let names = negative.join(",");
        return Err(format!("quota usage is negative for resource(s): {names}"));
    }
    let more = change
        .old
        .map(|old| usage.beyond(&evaluator.usage(old, around)));
    let charges = quotas.iter().zip(concerned).map(|(quota, is_concerned)| {
        if !is_concerned {
            return Ok(None);
        }
        // An object that comes into a quota's scope by the update is charged as a whole, not by the difference.
        let held = change
            .old
            .is_some_and(|old| quota.matches(evaluator, old, around));
        let added = more.as_ref().filter(|_| held).unwrap_or(&usage);
        let added = added
            .without_zeros()
            .only(|name| quota.hard.get(name).is_some());
        if added.is_empty() {
            return Ok(None);
        }
        add(quota, &added, change.is_limited).map(Some)
    });
    charges.collect()
}

/// Refuses an object that does not say all that a quota counts, and a quota whose usage is not known.
fn check_complete(
    quota: &Quota,
    evaluator: &Evaluator,
    object: &Value,
    around: &dyn UsageContext,
) -> Result<(), String> {
    let counted: Vec<&str> = quota.counted(evaluator, around).collect();
    if let Some(missing) = evaluator.missing(counted.iter().copied(), object) {
        return Err(format!("failed quota: {}: {missing}", quota.name));
    }
    if counted.iter().any(|name| quota.used.get(name).is_none()) {
        let names = counted.join(",");
        return Err(format!(
            "status unknown for quota: {}, resources: {names}",
            quota.name
        ));
    }
    Ok(())
}

/// Returns the usage of a quota with `added`.
fn add(quota: &Quota, added: &Amounts, is_limited: bool) -> Result<Amounts, String> {
    let mut used = quota.used.clone();
    used.add(added);
    let exceeded = used
        .only(|name| added.get(name).is_some())
        .above(&quota.hard);
    if is_limited && !exceeded.is_empty() {
        let exceeding = |amounts: &Amounts| amounts.only(|name| exceeded.get(name).is_some());
        return Err(format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            quota.name,
            exceeding(added),
            exceeding(&quota.used),
            exceeding(&quota.hard),
        ));
    }
    Ok(used)
}
