//! The decision about one object, given its owners and dependents.

use crate::write::Propagation;

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnerState {
    Solid,
    /// The owner waits for the deletion of its blocking dependents.
    Waiting,
    /// The owner does not exist, or an object with another uid has its name.
    Absent,
    /// Unknown, since its kind is not served.
    Unknown,
}

/// An object that names the subject as an owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependent {
    pub(super) blocks: bool,
    /// True if it waits for its own dependents.
    pub(super) is_waiting: bool,
}

/// An object, as far as it matters here.
#[derive(Clone, Debug, Default)]
pub(super) struct Subject {
    pub(super) is_deleted: bool,
    /// True if it has the finalizer `orphan`.
    pub(super) orphans: bool,
    /// True if it has the finalizer `foregroundDeletion`.
    pub(super) waits: bool,
    /// Uids and states of its owners.
    pub(super) owners: Vec<(String, OwnerState)>,
    pub(super) dependents: Vec<Dependent>,
}

/// The next step for an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Nothing,
    /// The state of an owner is unknown, for now.
    Postpone,
    /// The owner references to the subject are removed, then the subject is deleted.
    Orphan,
    /// Its dependents are processed, and it stays until they are gone.
    AwaitDependents,
    /// Its dependents are gone.
    Finish,
    /// Removes the references to owners that are gone; other owners exist.
    Release(Vec<String>),
    /// Deletes the object, whose owners are all gone.
    Delete {
        propagation: Propagation,
        /// Its owners do not have to wait for it: they wait in a circle.
        unblocks: bool,
    },
}

/// Decides about `subject`.
#[doc(alias = "attemptToDeleteItem")]
pub(super) fn decide(subject: &Subject) -> Step {
    if subject.is_deleted && subject.orphans {
        return Step::Orphan;
    }
    if subject.is_deleted && subject.waits {
        let is_blocked = subject.dependents.iter().any(|each| each.blocks);
        return if is_blocked {
            Step::AwaitDependents
        } else {
            Step::Finish
        };
    }
    if subject.is_deleted || subject.owners.is_empty() {
        return Step::Nothing;
    }
    let has = |wanted: OwnerState| subject.owners.iter().any(|(_, state)| *state == wanted);
    if has(OwnerState::Unknown) {
        return Step::Postpone;
    }
    if has(OwnerState::Solid) {
        let lost = subject.owners.iter();
        let lost = lost.filter(|(_, state)| *state != OwnerState::Solid);
        let lost: Vec<String> = lost.map(|(uid, _)| uid.clone()).collect();
        return if lost.is_empty() {
            Step::Nothing
        } else {
            Step::Release(lost)
        };
    }
    if has(OwnerState::Waiting) && !subject.dependents.is_empty() {
        return Step::Delete {
            propagation: Propagation::Foreground,
            unblocks: subject.dependents.iter().any(|each| each.is_waiting),
        };
    }
    let propagation = match (subject.orphans, subject.waits) {
        (true, _) => Propagation::Orphan,
        (_, true) => Propagation::Foreground,
        _ => Propagation::Background,
    };
    Step::Delete {
        propagation,
        unblocks: false,
    }
}

// === impl Subject ===

impl Subject {
    /// Of each dependent, whether it waits for what it owns itself.
    pub(super) fn waiting(&self) -> impl Iterator<Item = bool> {
        self.dependents.iter().map(|dependent| dependent.is_waiting)
    }
}
