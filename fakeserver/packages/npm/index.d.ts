import { Control } from './control';

export * from './control';

/** A server that somebody else owns. */
export interface Server {
    /** Its address, as in `http://127.0.0.1:40123`. */
    readonly url: string;
    /** The path of a kubeconfig for it, which is removed with it. */
    readonly kubeconfig: string;
    /** The operations behind its API. */
    readonly control: Control;
    /** Takes objects and faults back to those of the start. */
    reset(): Promise<void>;
}

/** A server that this process owns. It ends with the process, even if that is killed. */
export interface OwnedServer extends Server {
    readonly pid: number;
    /** How the server has ended and what it said, or nothing while it runs. */
    readonly failure: string | undefined;
    /** Ends the server, and removes its kubeconfig. */
    stop(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

export interface StartOptions {
    /** Flags of `fakeserver serve`, as in `['--controllers', 'workloads']`. */
    args?: string[];
    /** The version of Kubernetes, as in `'1.34'`; without it that of `FAKESERVER_KUBERNETES_VERSION`, or else the program's default. */
    kubernetesVersion?: string;
    /** The program, instead of the one that `findProgram` finds. */
    program?: string;
    /** The limit until it listens. */
    startTimeoutMs?: number;
}

/** Starts a server, and returns it once it listens. */
export function start(options?: StartOptions): Promise<OwnedServer>;

/** Returns a server that another process has started, of which it was told the URL and the kubeconfig. */
export function connect(described: { url: string; kubeconfig: string }): Server;

/** Returns the path of the program: `FAKESERVER_BIN`, or that of the platform's package, or that on the `PATH`. */
export function findProgram(): string;
