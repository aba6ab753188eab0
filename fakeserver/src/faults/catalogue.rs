//! Every fault as data: its number, what it models, and who is known to have suffered from it.

use serde::Serialize;

/// What there is to know of a fault before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CatalogueEntry {
    /// Its number in the catalogue of faults that clients meet: `F1` to `F38`. Several may share one.
    pub number: &'static str,
    /// Its name.
    pub fault: &'static str,
    /// What it models, in one line.
    pub models: &'static str,
    /// Who is known to have suffered from it, or why everybody meets it.
    pub suffered: &'static str,
    /// Its parameters, as JSON names them.
    pub parameters: &'static [&'static str],
    /// Whether it is the real thing only over TCP; in process a client sees its effect.
    pub needs_tcp: bool,
    /// Whether a correct client can hold it: converge when it is over, and ask no more than its backoff lets it. Negative
    /// controls cannot be held.
    pub can_be_held: bool,
}

/// The fault of this name.
pub(super) fn entry(name: &str) -> Option<&'static CatalogueEntry> {
    CATALOGUE.iter().find(|entry| entry.fault == name)
}

const fn fault(
    number: &'static str,
    fault: &'static str,
    parameters: &'static [&'static str],
    models: &'static str,
    suffered: &'static str,
) -> CatalogueEntry {
    CatalogueEntry {
        number,
        fault,
        models,
        suffered,
        parameters,
        needs_tcp: false,
        can_be_held: true,
    }
}

// === impl CatalogueEntry ===

impl CatalogueEntry {
    const fn over_tcp(mut self) -> Self {
        self.needs_tcp = true;
        self
    }

    const fn control(mut self) -> Self {
        self.can_be_held = false;
        self
    }
}

/// All faults, by number.
pub const CATALOGUE: &[CatalogueEntry] = &[
    fault(
        "F1",
        "clean_end",
        &[],
        "a watch ends in good order before a frame",
        "kube-runtime 5.0: streams that end at once are opened again without a pause, 23,000 times a second",
    ),
    fault(
        "F1",
        "disconnect",
        &[],
        "a server restarts: all open watches end",
        "clients that all list again at once (kubernetes#6770, #22669)",
    ),
    fault(
        "F2",
        "reset_mid_line",
        &[],
        "a connection breaks within a line",
        "client-go: any decoding error lists everything again (kubernetes#129683)",
    )
    .over_tcp(),
    fault(
        "F2",
        "reset_mid_body",
        &[],
        "a connection breaks within a list",
        "clients that begin a long list anew each time",
    )
    .over_tcp(),
    fault(
        "F3",
        "silence",
        &[],
        "a half-open connection: a stream stays open and brings nothing",
        "kube 3.1 behind load balancers that drop idle connections (Azure/kars#451); client-go (kubernetes#65012)",
    )
    .over_tcp(),
    fault(
        "F4",
        "trickle",
        &["bytes", "everyMs"],
        "a connection that brings a few bytes at a time",
        "clients whose time limits count from the first byte to the last (kubernetes#89652)",
    )
    .over_tcp(),
    fault(
        "F5",
        "slow_reader_evicted",
        &[],
        "a server cuts off a watcher that reads too slowly, behind what is queued for it",
        "client-go: slow handlers hold up the watch until the server cuts it (kubernetes#103789)",
    ),
    fault(
        "F6",
        "rechunk",
        &[],
        "bytes arrive in other pieces: cut within a character, several events in one",
        "whoever takes a piece for a line",
    ),
    fault(
        "F7",
        "go_away",
        &[],
        "an HTTP/2 connection is closed: requests fail unserved, watches break between frames",
        "clients with all watches on one connection",
    )
    .over_tcp(),
    fault(
        "F8",
        "end_before_initial_events_end",
        &[],
        "a streaming list ends before it is complete",
        "kube-runtime 5.0: 21,000 watches a second",
    ),
    fault(
        "F9",
        "end_after_bookmark",
        &[],
        "a stream ends just after a bookmark",
        "clients that take a stream without events for a failed one",
    ),
    fault(
        "F10",
        "compact",
        &[],
        "history is forgotten for lists: continuations meet 410",
        "kube-runtime 5.0: 1,000 lists in ten minutes, never complete",
    ),
    fault(
        "F10",
        "expire",
        &[],
        "history is forgotten for lists and watches",
        "whoever resumes a watch after a long break",
    ),
    fault(
        "F10",
        "expired_event",
        &[],
        "410 as an ERROR event in a stream",
        "kube-runtime 5.0 lists every 1.2 s as long as it lasts",
    ),
    fault(
        "F11",
        "expired_status",
        &["replacementToken"],
        "410 as the status of a watch, a list at a version or a continuation, as aggregated servers have it",
        "kube-runtime 5.0: watches from the same version for ever, and never lists",
    ),
    fault(
        "F12",
        "expired_relist",
        &[],
        "410 for the list that is to mend a 410",
        "clients that list again from the version they know, and do not go on without one",
    ),
    fault(
        "F13",
        "rollback",
        &["revisions"],
        "a cluster is restored from a backup: versions go down, names come back with other uids",
        "every cache that trusts its versions",
    ),
    fault(
        "F14",
        "version_too_large",
        &["waitMs"],
        "a replica that has not come as far as its client: 504 after three seconds",
        "client-go against fresh servers (kubernetes#107133, #91073)",
    ),
    fault(
        "F15",
        "gone",
        &["form"],
        "410 with the reason Gone, or with a text for a body",
        "clients that look for the reason Expired, or for a Status",
    ),
    fault(
        "F16",
        "stale_view",
        &["behindRevisions", "quorum"],
        "a replica stands still while others go on, and then jumps",
        "Sieve: 19 of its 46 bugs are stale states; client-go (kubernetes#59848)",
    ),
    fault(
        "F16",
        "lagging_replica",
        &["lagMs", "quorum"],
        "a replica comes after the others",
        "controllers that read what they have written (controller-runtime#741)",
    ),
    fault(
        "F17",
        "time_travel",
        &["behindRevisions", "quorum"],
        "a connection leads to a replica that is behind what was seen",
        "kubelets at a restart of a server (kubernetes#59848); kube-runtime 5.0: streaming lists from version 0",
    ),
    fault(
        "F18",
        "coalesce",
        &["windowMs"],
        "states come and go before anybody looks",
        "Sieve: 7 of its 46 bugs are unobserved states",
    ),
    fault(
        "F18",
        "unobserved",
        &["lastingMs"],
        "changes are seen through a list only: an object deleted and made anew has another uid",
        "client-go: a deletion and a creation fold into an update (kubernetes#83810)",
    ),
    fault(
        "F19",
        "lost_answer",
        &["heard", "applied"],
        "a write whose answer is lost, whether or not it took effect",
        "Sieve: 11 of its 46 bugs are intermediate states",
    )
    .over_tcp(),
    fault(
        "F20",
        "drop_event",
        &[],
        "negative control: an event never comes",
        "nobody can hold it; a checker must find it",
    )
    .control(),
    fault(
        "F21",
        "duplicate_event",
        &[],
        "negative control: an event comes twice",
        "a checker must find it",
    )
    .control(),
    fault(
        "F22",
        "reorder_events",
        &[],
        "negative control: an event comes after the next one",
        "a checker must find it",
    )
    .control(),
    fault(
        "F23",
        "bookmark_ahead",
        &[],
        "negative control: a bookmark promises an event that was not sent",
        "nobody can hold it; a checker must find it",
    )
    .control(),
    fault(
        "F24",
        "throttle",
        &["retryAfterSeconds", "form"],
        "429 with Retry-After, as text by priority and fairness or as a Status while caches begin",
        "every client of a busy server",
    ),
    fault(
        "F25",
        "server_error",
        &["code", "body"],
        "500, 502, 503 or 504, by the server or as text or a page by a load balancer",
        "kube-runtime 5.0: its backoff never grows while the first list fails",
    ),
    fault(
        "F26",
        "connection_refused",
        &["closedMs"],
        "nobody listens",
        "every client of a server that restarts",
    )
    .over_tcp(),
    fault(
        "F27",
        "latency",
        &["requestMs", "frameMs", "jitterMs"],
        "a slow network, steady or not",
        "clients whose time limits count a watch's whole life (kubernetes#89652)",
    ),
    fault(
        "F28",
        "hang",
        &[],
        "a request is accepted, and no headers come",
        "kube-runtime 5.0: a list or a watch hangs for ever",
    ),
    fault(
        "F29",
        "unauthorized",
        &[],
        "401: a token was rotated",
        "clients that read their token once",
    ),
    fault(
        "F30",
        "forbidden",
        &["flipMs"],
        "403: a right is taken away, for good or by turns",
        "kube-runtime 5.0: one kind that is forbidden delays all others of a Controller; client-go retries for ever unseen",
    ),
    fault(
        "F31",
        "conflict",
        &[],
        "409 for an update: somebody else was quicker",
        "controllers without a retry",
    ),
    fault(
        "F32",
        "already_exists",
        &[],
        "409 for a creation that took effect: something in between sent it twice",
        "controllers that take it for somebody else's object",
    ),
    fault(
        "F33",
        "denied",
        &["code"],
        "403 or 422 in the words of an admission webhook",
        "every controller in a cluster with policies",
    ),
    fault(
        "F34",
        "slow_webhook",
        &["takesMs", "timesOut"],
        "a webhook takes its time, and may get no more of it",
        "clients with short time limits",
    ),
    fault(
        "F35",
        "resource_gone",
        &[],
        "a definition is away for a while: 404, and watches end",
        "client-go lists for ever, 250,000 log lines a day (kubernetes#79610, #142256)",
    ),
    fault(
        "F36",
        "discovery_unavailable",
        &[],
        "one group's server is away: 503, and Stale among all groups",
        "clients whose discovery fails as a whole for one group",
    ),
    fault(
        "F37",
        "unknown_fields",
        &[],
        "a server is newer than its clients",
        "clients that refuse what they do not know",
    ),
    fault(
        "F37",
        "huge_objects",
        &["bytes"],
        "objects as large as a store takes them",
        "clients that hold a list several times (kubernetes#73497)",
    ),
    fault(
        "F37",
        "entity_too_large",
        &[],
        "413: a write is larger than somebody lets pass",
        "controllers that gather status without a bound",
    ),
    fault(
        "F38",
        "watch_list_ignored",
        &[],
        "an old server overlooks sendInitialEvents",
        "kube-runtime 5.0: never ready",
    ),
    fault(
        "F38",
        "watch_list_rejected",
        &[],
        "a server refuses sendInitialEvents with 422",
        "clients without a fallback",
    ),
    fault(
        "F38",
        "initial_events_end_missing",
        &[],
        "the bookmark that ends the initial events never comes",
        "client-go never syncs, silently (kubernetes#140890, k9s#4044, rancher/steve#1229)",
    ),
    fault(
        "F38",
        "initial_events_shuffled",
        &[],
        "the initial events come in no order",
        "clients that merge them as if they were sorted",
    ),
    fault(
        "F38",
        "changed_during_initial_events",
        &["lastingMs"],
        "objects change and go before the initial events have ended",
        "kube-runtime 5.0: what is deleted then stays in its store",
    ),
];
