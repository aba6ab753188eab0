// A client for the control API of fakeserver, `/_control`.

// generated from /_control/openapi.json by scripts/packages/control_clients.py

/** What is known about a fault. */
export interface CatalogueEntry {
    /** Whether a correct client can hold it. */
    canBeHeld: boolean;
    /** The effect, in a paragraph. */
    effect: string;
    /** The name. */
    fault: string;
    /** The situation that it models, in a line. */
    models: string;
    /** Whether the fault itself happens over TCP only. */
    needsTcp: boolean;
    /** The number, `F1` and up. Several faults may share one. */
    number: string;
    /** The names of its parameters. */
    parameters: string[];
    /** Clients that suffered from it, or the kind of client that does. */
    suffered: string;
}

/** A fault: its name, and beside it its parameters, which the catalogue lists. */
export interface Fault {
    /** lost_answer: True, the default, if the write takes effect. */
    applied?: boolean;
    /** stale_view: The number of revisions between the present and the frozen state. time_travel: The number of revisions that the state is behind, 5 by default. */
    behindRevisions?: number;
    /** server_error: The body; if absent, a `Status` for 500, and text for any other code. */
    body?: 'status' | 'text' | 'html';
    /** trickle: Bytes in a piece, 16 by default. huge_objects: Bytes by which each object grows, at most 3 MiB, 1,500,000 by default. */
    bytes?: number;
    /** connection_refused: Milliseconds for which connections over TCP are refused from each such request on. */
    closedMs?: number;
    /** server_error: The status code, from 400 to 599, 500 by default. denied: The status code, 403 (the default) or 422. */
    code?: number;
    /** slow_headers: Milliseconds between the end of the request's execution and the headers, 3,000 by default. */
    delayMs?: number;
    /** trickle: Milliseconds between two pieces, 100 by default. */
    everyMs?: number;
    /** The name of the fault. */
    fault: 'clean_end' | 'disconnect' | 'reset_mid_line' | 'reset_mid_body' | 'silence' | 'trickle' | 'slow_reader_evicted' | 'rechunk' | 'go_away' | 'end_before_initial_events_end' | 'end_after_bookmark' | 'compact' | 'expire' | 'expired_event' | 'expired_status' | 'expired_relist' | 'rollback' | 'version_too_large' | 'late_cache' | 'gone' | 'stale_view' | 'lagging_replica' | 'time_travel' | 'coalesce' | 'unobserved' | 'lost_answer' | 'drop_event' | 'duplicate_event' | 'reorder_events' | 'bookmark_ahead' | 'throttle' | 'server_error' | 'connection_refused' | 'latency' | 'hang' | 'slow_headers' | 'unauthorized' | 'forbidden' | 'conflict' | 'already_exists' | 'denied' | 'slow_webhook' | 'resource_gone' | 'discovery_unavailable' | 'unknown_fields' | 'huge_objects' | 'entity_too_large' | 'mixed_versions' | 'watch_list_ignored' | 'watch_list_rejected' | 'initial_events_end_missing' | 'initial_events_shuffled' | 'changed_during_initial_events';
    /** forbidden: Milliseconds for which the permission is absent, then present, and so on; for good if absent. */
    flipMs?: number | null;
    /** gone: The form of the 410. throttle: The form of the body. */
    form?: 'event' | 'status' | 'text';
    /** latency: Milliseconds before a frame is sent. */
    frameMs?: number;
    /** lost_answer: The substitute for the answer. */
    heard?: 'reset' | 'timeout';
    /** latency: The most milliseconds of a random delay that is added to each. */
    jitterMs?: number;
    /** lagging_replica: Milliseconds by which it lags, 3,000 by default. */
    lagMs?: number;
    /** unobserved: Milliseconds of silence before the 410, 3,000 by default. changed_during_initial_events: Milliseconds by which the end of the initial events is delayed, 3,000 by default. */
    lastingMs?: number;
    match?: Match;
    /** stale_view: True if reads of the most recent state are stale too. lagging_replica: True if reads of the most recent state lag too. time_travel: True if lists of the most recent state are behind too. */
    quorum?: boolean;
    /** expired_status: True, the default, if the answer to a continuation has a token that continues at the present state. */
    replacementToken?: boolean;
    /** latency: Milliseconds before a request is served. */
    requestMs?: number;
    /** throttle: Seconds in `Retry-After`, 1 by default. */
    retryAfterSeconds?: number;
    /** rollback: The number of revisions that are undone, 5 by default. */
    revisions?: number;
    /** throttle: Seconds in the details of the form `status`, which the header may contradict; 0, the default, for none. */
    statusRetryAfterSeconds?: number;
    /** slow_webhook: Milliseconds that the webhook takes, 3,000 by default. */
    takesMs?: number;
    /** slow_webhook: True if the write is rejected then. */
    timesOut?: boolean;
    /** mixed_versions: Version of the other server, such as `1.35`; the next one by default, or the one before the newest. */
    version?: string | null;
    /** version_too_large: Milliseconds before the answer, 3,000 by default. late_cache: Milliseconds before the answer, 3,000 by default. */
    waitMs?: number;
    when?: When;
    /** coalesce: Milliseconds that a change waits for the next one, 100 by default. */
    windowMs?: number;
}

/** Faults in force. */
export interface FaultList {
    items: InstalledFault[];
}

/** A fault in force. */
export interface InstalledFault {
    /** The number of its firings. */
    fired: number;
    /** The id by which it can be removed. */
    id: number;
    /** The revision at its last firing. */
    lastRevision: number | null;
    spec: Fault;
}

/** The release of Kubernetes that is served, and those that there are. */
export interface KubernetesVersions {
    /** The release that is served: `1.36.2`. */
    version: string;
    /** All releases, from old to new. */
    versions: string[];
}

/** The requests and watches that a fault affects; what is absent matches all. */
export interface Match {
    /** The `User-Agent` up to the first `/`. */
    client?: string | null;
    /** The API group; the core group is empty. */
    group?: string | null;
    /** The lowest version: of a frame; that a request names; of the server, if the request names none. */
    minResourceVersion?: number | null;
    /** The name in the path. */
    name?: string | null;
    /** The namespace in the path. */
    namespace?: string | null;
    /** The plural name of the resource, as in `configmaps`. */
    resource?: string | null;
    /** The subresource; empty for none. */
    subresource?: string | null;
    /** The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or `discover`. */
    verb?: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'discover' | null;
}

/** The counts of a server. */
export interface Stats {
    /** The number of requests, by resource (`deployments.apps`, `pods/status`) and verb. */
    requests: Record<string, Record<string, number>>;
    /** The number of requests that the log no longer has. */
    requests_forgotten: number;
    /** The revision of the last write. */
    revision: number;
    /** The number of changes that the controllers have not processed yet. */
    unseen_changes: number;
    /** The number of open watches. */
    watchers: number;
}

/** A change of the version of Kubernetes. */
export interface UpgradeReport {
    /** The release before: `1.36.2`. */
    from: string;
    /** The number of objects with unknown fields. */
    objectsWithUnknownFields: number;
    /** The release now. */
    to: string;
    /** The unknown fields of the first 100 objects that have some, by `resource.group namespace/name`. */
    unknownFields: Record<string, string[]>;
    /** The resources that are not served, with the number of their objects. */
    unserved: Record<string, number>;
}

/** The occasions at which a fault fires, all by default: requests, or frames of watches, that it matches and affects. Times are of the server's clock. */
export interface When {
    /** Milliseconds from the installation to the start of the rule's time. */
    afterMs?: number;
    /** Milliseconds that the rule's time lasts; unlimited if absent. */
    forMs?: number | null;
    /** The first occasion at which the rule fires, from 1. */
    nth?: number;
    /** The probability of a firing at an occasion, from 0 to 1. */
    probability?: number;
    /** The seed of the random choices of the rule: its probability, and those of its effect. */
    seed?: number;
    /** The most firings; unlimited if absent. */
    times?: number | null;
}

// end of what is generated

/** An answer of the control API that is no success. */
export class ControlError extends Error {
    /** The code of HTTP. */
    readonly status: number;
    /** The Status of Kubernetes, or the text. */
    readonly body: unknown;
    /** The field of the request that is invalid, if the server has named one. */
    readonly field: string | undefined;
}

/** The operations of a server behind its API. */
export class Control {
    constructor(url: string, options?: { fetch?: typeof fetch; timeoutMs?: number });
    // generated from /_control/openapi.json by scripts/packages/control_clients.py

    /** Returns the counts of the server. */
    stats(): Promise<Stats>;
    /** Returns the whole state, a line of JSON an object. */
    snapshot(): Promise<string>;
    /** Writes the state to the data file; 409 if the server has none. */
    saveSnapshot(): Promise<void>;
    /** Removes history: lists of older versions are answered with 410. Watches go on. */
    compact(): Promise<void>;
    /** Removes history for watches, too: one that begins at an older version receives an ERROR event with 410. */
    expire(): Promise<void>;
    /** Ends all open watches. */
    disconnect(): Promise<void>;
    /** Restores the state of the start: later objects are gone, and all watches end. Faults stay in force. */
    reset(): Promise<void>;
    /** Removes all faults. */
    removeFaults(): Promise<void>;
    /** Returns the faults in force. */
    listFaults(): Promise<FaultList>;
    /** Installs a fault, or several, all or none; 400 names the invalid field. */
    installFaults(faults: Fault | Fault[]): Promise<FaultList>;
    /** Returns what is known about each fault. */
    faultCatalogue(): Promise<CatalogueEntry[]>;
    /** Removes a fault. */
    removeFault(id: number): Promise<void>;
    /** Returns a fault in force. */
    getFault(id: number): Promise<InstalledFault>;
    /** Returns the release of Kubernetes that is served, and those that there are. */
    kubernetesVersion(): Promise<KubernetesVersions>;
    /** Serves another version of Kubernetes, newer or older, with open watches; 400 lists the versions. */
    upgrade(version: string): Promise<UpgradeReport>;

    // end of what is generated

}
