// A server in a process of its own, and its end.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');

const { Control, ControlError } = require('./control.cjs');
const { findProgram } = require('./program.cjs');
const { fetchWith } = require('./fetch.cjs');

// The server ends when this process is gone, even if it was killed.
const OWNED = ['--end-with-parent'];
const START_LIMIT_MS = 30_000;
// Longer than the server takes to answer what it is about.
const STOP_LIMIT_MS = 10_000;
// Processes that the program has left behind do not hold up its end.
const OUTPUT_LIMIT_MS = 1_000;
// Enough for an error; a server that logs a lot does not fill the memory.
const KEPT_OF_STDERR = 64 * 1024;

/** A server that somebody else owns. */
class Server {
    constructor(described) {
        this.url = described.url;
        this.kubeconfig = described.kubeconfig;
        this.initialFaults = described.initialFaults ?? [];
        this.control = new Control(this.url, { fetch: this.send.bind(this) });
    }

    /** Takes objects and faults back to those of the start. */
    async reset() {
        await this.control.reset();
        for (const { id } of (await this.control.listFaults()).items) {
            if (!this.initialFaults.includes(id)) {
                await this.control.removeFault(id);
            }
        }
    }

    /** Sends a request of `control`. */
    async send(url, options) {
        try {
            return await fetchWith(this.kubeconfig, url, options);
        } catch (error) {
            throw new Error(`${options.method} ${url}: ${this.reasonOf(error)}`, { cause: error });
        }
    }

    reasonOf(error) {
        return `no answer of the server: ${error.cause?.message || error.message || error.code}`;
    }
}

/** A server that this process owns. */
class OwnedServer extends Server {
    #child;
    #run;

    constructor(described, child, run) {
        super(described);
        this.#child = child;
        this.#run = run;
        this.pid = child.pid;
    }

    /** Ends the server, and removes its kubeconfig. */
    async stop() {
        await end(this.#child, this.#run);
        removeKubeconfig(this.kubeconfig);
    }

    /** How the server has ended and what it said, or nothing while it runs. */
    get failure() {
        return this.#run.ended && `the server has ended ${this.#run.ended}${this.#run.said()}`;
    }

    reasonOf(error) {
        return this.failure ?? super.reasonOf(error);
    }
}
if (Symbol.asyncDispose) {
    OwnedServer.prototype[Symbol.asyncDispose] = OwnedServer.prototype.stop;
}

/** Starts a server, and returns it once it listens. */
async function start({ args = [], kubernetesVersion, program = findProgram(), startTimeoutMs = START_LIMIT_MS } = {}) {
    if (kubernetesVersion !== undefined && typeof kubernetesVersion !== 'string') {
        throw new TypeError(`kubernetesVersion: a string is needed, as in '1.34', not ${kubernetesVersion}`);
    }
    const version = kubernetesVersion === undefined ? [] : ['--kubernetes-version', kubernetesVersion];
    // Neither the user's kubeconfig nor a name that others can guess.
    const kubeconfig = path.join(os.tmpdir(), `fakeserver-${crypto.randomBytes(16).toString('hex')}.kubeconfig`);
    const words = ['serve', '--listen', '127.0.0.1:0', '--kubeconfig', kubeconfig, ...OWNED, ...args, ...version];
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    const run = follow(child);
    let url;
    try {
        url = await listening(child, run, startTimeoutMs);
    } catch (error) {
        await end(child, run);
        removeKubeconfig(kubeconfig);
        throw new Error(`fakeserver did not start: ${error.message}\ncommand: ${[program, ...words].join(' ')}`);
    }
    // A test that forgets the server can end, and takes it along.
    for (const handle of [child, child.stdout, child.stderr]) {
        handle.unref();
    }
    const server = new OwnedServer({ url, kubeconfig }, child, run);
    try {
        server.initialFaults = (await server.control.listFaults()).items.map(({ id }) => id);
    } catch (error) {
        await server.stop();
        throw error;
    }
    return server;
}

/** Keeps the end of what the process says on standard error, and notes its exit. */
function follow(child) {
    let kept = '';
    const run = {
        /** How it has ended, if it has. */
        ended: undefined,
        said: () => (kept.trim() ? `; it said:\n${kept.trim()}` : ''),
    };
    child.stderr.setEncoding('utf8').on('data', (text) => {
        kept = (kept + text).slice(-KEPT_OF_STDERR);
    });
    run.end = new Promise((resolve) => {
        child.on('error', (error) => {
            run.ended ??= `before it began: ${error.message}`;
            resolve();
        });
        child.on('exit', (code, signal) => {
            run.ended ??= signal ? `by ${signal}` : `with status ${code}`;
            setTimeout(resolve, OUTPUT_LIMIT_MS).unref();
        });
        // With the end of its output.
        child.on('close', resolve);
    });
    return run;
}

/** Returns the address that the first line of standard output tells. */
async function listening(child, run, limitMs) {
    let timer;
    const line = new Promise((resolve) => {
        let text = '';
        child.stdout.setEncoding('utf8').on('data', (more) => {
            text += text.includes('\n') ? '' : more;
            if (text.includes('\n')) {
                resolve(text.slice(0, text.indexOf('\n')));
            }
        });
    });
    const limit = new Promise((resolve) => {
        timer = setTimeout(resolve, limitMs, undefined);
    });
    try {
        const first = await Promise.race([line, limit, run.end.then(() => undefined)]);
        if (first === undefined) {
            throw new Error(run.ended ? `it ended ${run.ended}${run.said()}` : `it said no address within ${limitMs} ms${run.said()}`);
        }
        const [, url] = /^listening on (https?:\/\/\S+)$/.exec(first.trim()) ?? [];
        if (!url) {
            throw new Error(`its first line is no address but: ${first}`);
        }
        return url;
    } finally {
        clearTimeout(timer);
    }
}

/** Ends the process, by force if it does not end by itself. */
async function end(child, run) {
    if (run.ended) {
        return;
    }
    child.ref();
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await run.end;
    clearTimeout(timer);
}

function removeKubeconfig(file) {
    fs.rmSync(file, { force: true });
    fs.rmSync(`${file}.lock`, { force: true });
}

/** Returns a server that another process has started, of which it was told the URL and the kubeconfig. */
function connect(described) {
    return new Server(described);
}

exports.start = start;
exports.connect = connect;
exports.findProgram = findProgram;
exports.Control = Control;
exports.ControlError = ControlError;
