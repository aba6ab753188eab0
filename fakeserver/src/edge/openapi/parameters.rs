//! The parameters that operations take in their query.

/// A parameter of a query.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// `string`, `integer` or `boolean`.
    pub(super) ty: &'static str,
    pub(super) description: &'static str,
}

const fn string(name: &'static str, description: &'static str) -> Parameter {
    let ty = "string";
    Parameter {
        name,
        ty,
        description,
    }
}

const fn integer(name: &'static str, description: &'static str) -> Parameter {
    let ty = "integer";
    Parameter {
        name,
        ty,
        description,
    }
}

const fn boolean(name: &'static str, description: &'static str) -> Parameter {
    let ty = "boolean";
    Parameter {
        name,
        ty,
        description,
    }
}

const DRY_RUN: Parameter = string(
    "dryRun",
    "Everything is done but storing the result. The only value is All.",
);
const FIELD_MANAGER: Parameter = string(
    "fieldManager",
    "Who makes the change: the name under which the fields that it sets are recorded. Required to apply.",
);
const FIELD_VALIDATION: Parameter = string(
    "fieldValidation",
    "What becomes of unknown and duplicate fields: Ignore drops them, Warn warns of them, Strict refuses the request.",
);
const FORCE: Parameter = boolean(
    "force",
    "Takes fields over from other managers where applying conflicts with them.",
);

/// Every operation.
pub(super) const PRETTY: Parameter = string("pretty", "Prints the answer for people if true.");

/// Lists, watches, and deletions of collections.
pub(super) const SELECTION: &[Parameter] = &[
    boolean(
        "allowWatchBookmarks",
        "Whether a watch may send events of type BOOKMARK.",
    ),
    string(
        "continue",
        "Where the list goes on: the token of the page before.",
    ),
    string(
        "fieldSelector",
        "Selects objects by the values of their fields.",
    ),
    string("labelSelector", "Selects objects by their labels."),
    integer("limit", "How many items a page has at most."),
    string("resourceVersion", "Which version is asked for."),
    string(
        "resourceVersionMatch",
        "Whether that version is meant exactly (Exact) or at least (NotOlderThan).",
    ),
    boolean(
        "sendInitialEvents",
        "Whether a watch begins with what is there already.",
    ),
    integer("timeoutSeconds", "How long the request may last."),
    boolean("watch", "Watches instead of listing."),
];

/// Creations and updates.
pub(super) const WRITE: &[Parameter] = &[DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];

/// Patches.
pub(super) const PATCH: &[Parameter] = &[DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE];

/// Deletions of one object.
pub(super) const DELETE: &[Parameter] = &[
    DRY_RUN,
    integer(
        "gracePeriodSeconds",
        "How long the object may take to end; zero means at once.",
    ),
    boolean(
        "ignoreStoreReadErrorWithClusterBreakingPotential",
        "Deletes the object though it cannot be read.",
    ),
    boolean(
        "orphanDependents",
        "Deprecated: use propagationPolicy. Keeps dependent objects if true.",
    ),
    string(
        "propagationPolicy",
        "What becomes of dependent objects: Orphan, Background or Foreground.",
    ),
];
