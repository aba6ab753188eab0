//! The words of errors, as people read them in logs and on terminals.
//!
//! They are kept in a snapshot, which `INSTA_UPDATE=always cargo test -p informer messages` regenerates.

use std::{error::Error, sync::Arc, time::Duration};

use informer::{
    ConsistencyError, DecodeError, HandlerEnd, HandlerSyncError, IndexerError, LabelSelector,
    ListerError, ObjectKey, RecountError, ResourceVersion, WaitError,
    discovery::{DiscoveryError, GroupKind, GroupVersionResource},
    field_path::FieldPath,
    leader_election::LeaderElectionError,
    list_watch::{ListWatchError, Status},
    reflector::StoreClosed,
    rest_mapper::RestMapperError,
    watch::{RetryWatcherError, UntilError},
};

const LIMIT: Duration = Duration::from_secs(10);

type Errors = Vec<Box<dyn Error>>;

/// Returns the error of a server that lost its memory.
fn gone() -> ListWatchError {
    Status::new(410, "Expired", "too old resource version: 7 (9)").into()
}

fn refused() -> serde_json::Error {
    serde_json::from_str::<u8>("[]").unwrap_err()
}

fn of_requests() -> Errors {
    let decode = DecodeError {
        key: ObjectKey::new("a", "x"),
        resource_version: ResourceVersion::new("5"),
        source: Arc::new(refused()),
    };
    vec![
        gone().into(),
        ListWatchError::Transport("reset by peer".into()).into(),
        ListWatchError::Refused("nobody listens".into()).into(),
        ListWatchError::Timeout {
            what: "event or bookmark",
            limit: LIMIT,
        }
        .into(),
        ListWatchError::Protocol {
            what: "a list without a version".to_owned(),
            source: None,
        }
        .into(),
        ListWatchError::FrameTooLarge { limit_bytes: 99 }.into(),
        ListWatchError::Request("no such namespace".into()).into(),
        decode.into(),
        RetryWatcherError::StartVersion(ResourceVersion::new("0")).into(),
        RetryWatcherError::Expired {
            version: ResourceVersion::new("7"),
            source: gone(),
        }
        .into(),
        RetryWatcherError::ChangeUnavailable {
            version: ResourceVersion::new("7"),
            source: gone(),
        }
        .into(),
        RetryWatcherError::Refused(gone()).into(),
        UntilError::<StoreClosed>::Condition(StoreClosed).into(),
        UntilError::<StoreClosed>::Refused(gone()).into(),
    ]
}

fn of_indices() -> Errors {
    let (index, value) = (Arc::<str>::from("node"), Arc::<str>::from("n1"));
    vec![
        IndexerError::UnknownIndex {
            name: "node".to_owned(),
        }
        .into(),
        IndexerError::DuplicateIndex {
            name: "node".to_owned(),
        }
        .into(),
        IndexerError::PermanentIndex {
            name: "namespace".to_owned(),
        }
        .into(),
        RecountError::Missing {
            index: Arc::clone(&index),
            value: Arc::clone(&value),
            key: ObjectKey::new("a", "x"),
        }
        .into(),
        RecountError::Surplus {
            index: Arc::clone(&index),
            value,
            key: ObjectKey::cluster("x"),
        }
        .into(),
        RecountError::Unindexed { index }.into(),
    ]
}

fn of_listers_and_waits() -> Errors {
    let resource = || Arc::<str>::from("pods");
    vec![
        ListerError::NotFound {
            resource: resource(),
            namespace: "a".into(),
            name: "x".into(),
        }
        .into(),
        ListerError::NotFound {
            resource: resource(),
            namespace: "".into(),
            name: "x".into(),
        }
        .into(),
        ListerError::NotStarted {
            resource: resource(),
        }
        .into(),
        ListerError::Index(IndexerError::UnknownIndex {
            name: "node".to_owned(),
        })
        .into(),
        WaitError::Stopped {
            resource: resource(),
            version: ResourceVersion::new("9"),
            held: ResourceVersion::new("7"),
        }
        .into(),
        ConsistencyError::Deadline {
            resource: resource(),
            limit: LIMIT,
        }
        .into(),
        ConsistencyError::List {
            resource: resource(),
            source: gone(),
        }
        .into(),
        ConsistencyError::OtherVersion {
            resource: resource(),
            requested: ResourceVersion::new("7"),
            listed: ResourceVersion::new("9"),
        }
        .into(),
        StoreClosed.into(),
    ]
}

fn of_handlers() -> Errors {
    let handler = || Arc::<str>::from("audit");
    vec![
        HandlerSyncError::Deadline {
            handler: handler(),
            limit: LIMIT,
            pending: 3,
            is_informer_synced: true,
        }
        .into(),
        HandlerSyncError::Ended {
            handler: handler(),
            end: HandlerEnd::Removed { handler: handler() },
        }
        .into(),
        HandlerEnd::Overflowed {
            handler: handler(),
            limit: 1_000,
        }
        .into(),
        HandlerEnd::Stopped { handler: handler() }.into(),
        LeaderElectionError::NoIdentity.into(),
    ]
}

fn of_names() -> Errors {
    let pods = GroupVersionResource::new("", "v1", "pods");
    let metrics = GroupVersionResource::new("metrics.k8s.io", "v1beta1", "pods");
    let mut errors: Errors = vec![
        DiscoveryError::Timeout { limit: LIMIT }.into(),
        DiscoveryError::Stale.into(),
        RestMapperError::NoResourceMatch {
            name: "pod".to_owned(),
            candidates: vec![pods.clone()],
        }
        .into(),
        RestMapperError::NoKindMatch {
            kind: Box::new(GroupKind::new("apps", "Deploy")),
            versions: vec!["v1".to_owned()],
            candidates: Vec::new(),
        }
        .into(),
        RestMapperError::Ambiguous {
            name: "pods".to_owned(),
            candidates: vec![pods, metrics],
        }
        .into(),
    ];
    for path in [".spec[", ".spec..x", ".a[x]"] {
        errors.push(path.parse::<FieldPath>().unwrap_err().into());
    }
    for selector in ["a in", "a=b=c", "!", "a notin (b", "a>x"] {
        errors.push(selector.parse::<LabelSelector>().unwrap_err().into());
    }
    errors
}

/// An error with its causes, a line each.
fn in_full(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str("\n  ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

#[test]
fn messages_are_these() {
    let groups = [
        of_requests(),
        of_indices(),
        of_listers_and_waits(),
        of_handlers(),
        of_names(),
    ];
    let errors: Errors = groups.into_iter().flatten().collect();
    for error in &errors {
        let text = error.to_string();
        assert!(!text.ends_with('.'), "{text}");
        assert!(!text.starts_with(char::is_uppercase), "{text}");
        // Its causes are printed after it, and not twice.
        if let Some(cause) = error.source() {
            assert!(!text.contains(&cause.to_string()), "{text}");
        }
    }
    let lines: Vec<String> = errors.iter().map(|error| in_full(&**error)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
