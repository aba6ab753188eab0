use super::*;
use crate::write::Propagation;

/// Returns the step for an object that has these owners (`s`olid, `w`aiting, `a`bsent, `u`nknown), finalizers and
/// dependents (`b`locking, `f`ree, `c`ircular), and is being deleted or not.
fn check(owners: &str, flags: &str, dependents: &str) -> Step {
    let owners = owners.chars().map(|state| {
        let state_of = match state {
            's' => OwnerState::Solid,
            'w' => OwnerState::Waiting,
            'a' => OwnerState::Absent,
            _ => OwnerState::Unknown,
        };
        (state.to_string(), state_of)
    });
    let dependents = dependents.chars().map(|kind| decision::Dependent {
        blocks: kind == 'b',
        is_waiting: kind == 'c',
    });
    decide(&Subject {
        is_deleted: flags.contains("deleted"),
        orphans: flags.contains("orphan"),
        waits: flags.contains("foreground"),
        owners: owners.collect(),
        dependents: dependents.collect(),
    })
}

fn delete(propagation: Propagation) -> Step {
    Step::Delete {
        propagation,
        unblocks: false,
    }
}

#[test]
fn an_object_is_only_deleted_after_all_its_owners() {
    assert_eq!(check("", "", ""), Step::Nothing);
    assert_eq!(check("s", "", ""), Step::Nothing);
    assert_eq!(check("sa", "", ""), Step::Release(vec!["a".to_owned()]));
    assert_eq!(check("sw", "", "b"), Step::Release(vec!["w".to_owned()]));
    assert_eq!(check("aa", "", ""), delete(Propagation::Background));
    assert_eq!(check("au", "", ""), Step::Postpone);
    assert_eq!(check("a", "deleted", ""), Step::Nothing);
}

#[test]
fn dependents_of_a_foreground_deletion_are_deleted_in_the_foreground() {
    assert_eq!(check("w", "", "f"), delete(Propagation::Foreground));
    assert_eq!(check("w", "", ""), delete(Propagation::Background));
    let circle = Step::Delete {
        propagation: Propagation::Foreground,
        unblocks: true,
    };
    assert_eq!(check("w", "", "bc"), circle);
}

#[test]
fn finalizers_that_are_there_already_say_how() {
    assert_eq!(check("a", "orphan", "f"), delete(Propagation::Orphan));
    assert_eq!(
        check("a", "foreground", "f"),
        delete(Propagation::Foreground)
    );
}

#[test]
fn an_owner_goes_when_nothing_blocks_it() {
    assert_eq!(check("", "deleted foreground", "fb"), Step::AwaitDependents);
    assert_eq!(check("", "deleted foreground", "fc"), Step::Finish);
    assert_eq!(check("", "deleted orphan", "fb"), Step::Orphan);
    assert_eq!(check("", "orphan", "b"), Step::Nothing);
}
