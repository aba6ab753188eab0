//! Conditions in the status of an object: the functions of apimachinery's `meta` package.
//!
//! A controller tells what it found out about an object by the list `status.conditions`, which has one condition of each type.
//! [`set_condition`] keeps that list: the time of a transition is that of the last change of the status, and it tells whether
//! anything changed, so that a status that is the same need not be written.
//!
//! # Examples
//!
//! ```
//! use informer::conditions::{condition, is_condition_true, set_condition_now};
//!
//! let generation = Some(4);
//! let mut conditions = Vec::new();
//! let ready = condition("Ready", true, "AllReplicasReady", "3 of 3 are ready");
//! let ready = ready.with_observed_generation(generation);
//! assert!(set_condition_now(&mut conditions, ready.clone()));
//! assert!(is_condition_true(&conditions, "Ready"));
//! // The same again is no change: there is nothing to write.
//! assert!(!set_condition_now(&mut conditions, ready));
//! ```
//!
//! # What it promises
//!
//! These are pure functions of their arguments, but for [`set_condition_now`], which reads the system's clock. They do not fail,
//! do not panic, and keep the order of the conditions. They compare texts as they are: nothing checks that a type or a reason is
//! one that the server accepts.

use std::fmt;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use crate::leader_election::WallClock;

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// The state of the condition is not known.
    Unknown,
}

/// A condition that has yet to be set: one without the time of its transition, which [`set_condition`] knows.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCondition {
    condition: Condition,
}

/// Creates a condition of this type and status, such as
/// `condition("Ready", true, "AllReplicasReady", "3 of 3 are ready")`.
///
/// The server takes no empty reason; the message may be empty. `true` and `false` are statuses, too.
pub fn condition(
    type_: impl Into<String>,
    status: impl Into<ConditionStatus>,
    reason: impl Into<String>,
    message: impl Into<String>,
) -> NewCondition {
    NewCondition {
        condition: Condition {
            last_transition_time: UNSET,
            message: message.into(),
            observed_generation: None,
            reason: reason.into(),
            status: status.into().as_str().to_owned(),
            type_: type_.into(),
        },
    }
}

/// Sets the condition of the same type, or appends it, and returns whether anything changed.
///
/// Status, reason, message and observed generation become those of `condition`. The transition time changes only if the status
/// does: it becomes that of `condition` or, if that has none, `now`. A time that is zero, 1970-01-01T00:00:00Z, is none. If there
/// are several conditions of the type, the first is set.
#[doc(alias = "SetStatusCondition")]
pub fn set_condition(
    conditions: &mut Vec<Condition>,
    condition: impl Into<Condition>,
    now: Timestamp,
) -> bool {
    let mut new: Condition = condition.into();
    if new.last_transition_time == UNSET {
        new.last_transition_time = Time(now);
    }
    let Some(old) = conditions.iter_mut().find(|old| old.type_ == new.type_) else {
        conditions.push(new);
        return true;
    };
    if old.status == new.status {
        new.last_transition_time = old.last_transition_time.clone();
    }
    let is_changed = *old != new;
    *old = new;
    is_changed
}

/// Sets the condition as [`set_condition`] does, at the time of the system's clock.
pub fn set_condition_now(conditions: &mut Vec<Condition>, condition: impl Into<Condition>) -> bool {
    set_condition(conditions, condition, WallClock::system().now())
}

/// Returns the first condition of this type.
#[doc(alias = "FindStatusCondition")]
pub fn find_condition<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Removes all conditions of this type, and returns whether there was one.
#[doc(alias = "RemoveStatusCondition")]
pub fn remove_condition(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let len = conditions.len();
    conditions.retain(|condition| condition.type_ != type_);
    conditions.len() != len
}

/// Returns whether there is a condition of this type, and its status is `True`.
#[doc(alias = "IsStatusConditionTrue")]
pub fn is_condition_true(conditions: &[Condition], type_: &str) -> bool {
    is_condition(conditions, type_, ConditionStatus::True)
}

/// Returns whether there is a condition of this type, and its status is `False`.
///
/// If there is none, it is neither true nor false.
#[doc(alias = "IsStatusConditionFalse")]
pub fn is_condition_false(conditions: &[Condition], type_: &str) -> bool {
    is_condition(conditions, type_, ConditionStatus::False)
}

/// Returns whether there is a condition of this type, and its status is `status`.
#[doc(alias = "IsStatusConditionPresentAndEqual")]
pub fn is_condition(
    conditions: &[Condition],
    type_: &str,
    status: impl Into<ConditionStatus>,
) -> bool {
    let status = status.into();
    find_condition(conditions, type_).is_some_and(|condition| condition.status == status.as_str())
}

/// The time of a condition that has none.
const UNSET: Time = Time(Timestamp::UNIX_EPOCH);

// === impl ConditionStatus ===

impl ConditionStatus {
    /// Returns the status as objects have it: `True`, `False` or `Unknown`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(is_true: bool) -> Self {
        if is_true { Self::True } else { Self::False }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

// === impl NewCondition ===

impl NewCondition {
    /// With the generation of the object that was looked at, as in `object.metadata.generation`.
    #[must_use]
    pub fn with_observed_generation(mut self, generation: impl Into<Option<i64>>) -> Self {
        self.condition.observed_generation = generation.into();
        self
    }

    /// With the time at which the status changed, if that is known more precisely than by the clock of the caller.
    #[must_use]
    pub fn with_transition_time(mut self, time: Timestamp) -> Self {
        self.condition.last_transition_time = Time(time);
        self
    }
}

impl From<NewCondition> for Condition {
    /// The condition. Its transition time is zero unless it was given.
    fn from(new: NewCondition) -> Self {
        new.condition
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ready(status: impl Into<ConditionStatus>) -> NewCondition {
        condition("Ready", status, "Counted", "3 of 3").with_observed_generation(1)
    }

    /// Two conditions, of which `Ready` is true since 100.
    fn two() -> Vec<Condition> {
        let mut conditions = Vec::new();
        let other = condition("Other", ConditionStatus::Unknown, "Asked", "");
        assert!(set_condition(&mut conditions, other, at(50)));
        assert!(set_condition(&mut conditions, ready(true), at(100)));
        conditions
    }

    /// Sets a condition at 200. Returns whether it says that something changed, and the condition.
    fn set(new: impl Into<Condition>) -> (bool, Condition) {
        let mut conditions = two();
        let other = conditions[0].clone();
        let is_changed = set_condition(&mut conditions, new, at(200));
        assert_eq!((conditions.len(), &conditions[0]), (2, &other));
        assert_eq!(is_changed, conditions != two());
        (is_changed, conditions.swap_remove(1))
    }

    #[test]
    fn a_condition_that_is_new_is_appended_at_its_own_time_or_now() {
        let conditions = two();
        assert_eq!(conditions[1].type_, "Ready");
        assert_eq!(conditions[1].status, "True");
        assert_eq!(conditions[1].observed_generation, Some(1));
        assert_eq!(conditions[1].last_transition_time, Time(at(100)));
        let mut conditions = Vec::new();
        let timed = ready(true).with_transition_time(at(7));
        assert!(set_condition(&mut conditions, timed, at(100)));
        assert_eq!(conditions[0].last_transition_time, Time(at(7)));
    }

    #[test]
    fn another_time_alone_is_no_change() {
        let (is_changed, condition) = set(ready(true));
        assert!(!is_changed);
        assert_eq!(condition.last_transition_time, Time(at(100)));
        let (is_changed, _) = set(ready(true).with_transition_time(at(7)));
        assert!(!is_changed);
    }

    #[test]
    fn the_transition_time_changes_with_the_status() {
        for status in [ConditionStatus::False, ConditionStatus::Unknown] {
            let (is_changed, condition) = set(ready(status));
            assert!(is_changed);
            assert_eq!(condition.status, status.to_string());
            assert_eq!(condition.last_transition_time, Time(at(200)));
            let (_, condition) = set(ready(status).with_transition_time(at(7)));
            assert_eq!(condition.last_transition_time, Time(at(7)));
        }
    }

    #[test]
    fn reason_message_and_generation_are_taken_without_a_transition() {
        let by = |change: fn(&mut Condition)| {
            let mut new = Condition::from(ready(true));
            change(&mut new);
            let (is_changed, condition) = set(new.clone());
            assert!(is_changed);
            assert_eq!(condition.last_transition_time, Time(at(100)));
            new.last_transition_time = Time(at(100));
            assert_eq!(condition, new);
        };
        by(|new| new.reason = "Estimated".to_owned());
        by(|new| new.message = "4 of 4".to_owned());
        by(|new| new.observed_generation = Some(2));
        by(|new| new.observed_generation = None);
    }

    #[test]
    fn conditions_are_found_and_removed_by_their_types() {
        let mut conditions = two();
        assert_eq!(find_condition(&conditions, "Ready"), Some(&conditions[1]));
        assert_eq!(find_condition(&conditions, "ready"), None);
        assert!(!remove_condition(&mut conditions, "ready"));
        conditions.push(ready(false).into());
        assert!(remove_condition(&mut conditions, "Ready"));
        assert_eq!(conditions, two()[..1]);
        assert!(!remove_condition(&mut Vec::new(), "Ready"));
    }

    #[test]
    fn a_condition_that_is_absent_or_unknown_is_neither_true_nor_false() {
        let mut conditions = two();
        let status_of = |conditions: &[Condition], type_| {
            let (yes, no) = (
                is_condition_true(conditions, type_),
                is_condition_false(conditions, type_),
            );
            assert_eq!(is_condition(conditions, type_, true), yes);
            (yes, no)
        };
        assert_eq!(status_of(&conditions, "Ready"), (true, false));
        assert_eq!(status_of(&conditions, "Other"), (false, false));
        assert_eq!(status_of(&conditions, "Absent"), (false, false));
        let unknown = ConditionStatus::Unknown;
        assert!(is_condition(&conditions, "Other", unknown));
        assert!(!is_condition(&conditions, "Absent", unknown));
        set_condition(&mut conditions, ready(false), at(200));
        assert_eq!(status_of(&conditions, "Ready"), (false, true));
    }
}
