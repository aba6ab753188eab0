// A client for the control API of fakeserver, `/_control`.

/** The requests and frames at which a fault fires. */
export interface FaultMatch {
    /** The `User-Agent` up to the first `/`. */
    client?: string;
    verb?: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'discover';
    group?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
    minResourceVersion?: number;
}

/** The occasions at which a fault fires. */
export interface FaultWhen {
    /** The first occasion, from 1. */
    nth?: number;
    /** The most firings. */
    times?: number;
    afterMs?: number;
    forMs?: number;
    probability?: number;
    seed?: number;
}

/** A fault: its name in the catalogue, and its parameters beside it. */
export interface FaultSpec {
    fault: string;
    match?: FaultMatch;
    when?: FaultWhen;
    [parameter: string]: unknown;
}

/** A fault in force. */
export interface InstalledFault {
    id: number;
    spec: FaultSpec;
    /** The number of its firings. */
    fired: number;
    /** The revision at its last firing. */
    lastRevision: number | null;
}

/** A fault in the catalogue. */
export interface CatalogueEntry {
    number: string;
    fault: string;
    effect: string;
    models: string;
    suffered: string;
    parameters: string[];
    needsTcp: boolean;
    canBeHeld: boolean;
}

/** Counts of a server. */
export interface Stats {
    revision: number;
    watchers: number;
    unseen_changes: number;
    requests: Record<string, Record<string, number>>;
    requests_forgotten: number;
}

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
    /** Returns the revision, the number of open watches, and the number of requests by resource and verb. */
    stats(): Promise<Stats>;
    /** Forgets the history for lists. */
    compact(): Promise<void>;
    /** Forgets the history for lists and watches. */
    expire(): Promise<void>;
    /** Ends every open watch. */
    disconnect(): Promise<void>;
    /** Takes the objects back to those of the start. Faults stay. */
    reset(): Promise<void>;
    /** Returns the whole state as lines of JSON. */
    snapshot(): Promise<string>;
    /** Writes the state to the file of `--data`. */
    saveSnapshot(): Promise<void>;
    /** Lists the faults in force. */
    listFaults(): Promise<InstalledFault[]>;
    /** Installs a fault, or all of an array or none, and returns them with their ids. */
    installFaults(faults: FaultSpec | FaultSpec[]): Promise<InstalledFault[]>;
    /** Returns a fault in force. */
    getFault(id: number): Promise<InstalledFault>;
    /** Removes a fault. */
    removeFault(id: number): Promise<void>;
    /** Removes all faults. */
    removeFaults(): Promise<void>;
    /** Returns the catalogue of faults. */
    faultCatalogue(): Promise<CatalogueEntry[]>;
}
