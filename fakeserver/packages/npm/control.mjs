// A client for the control API of fakeserver, `/_control`.

/** An answer of the control API that is no success. */
export class ControlError extends Error {
    constructor(operation, status, body) {
        let details;
        try {
            details = JSON.parse(body);
        } catch {
            // It is text.
        }
        super(`${operation}: ${status}: ${details?.message ?? body.trim()}`);
        this.name = 'ControlError';
        /** The code of HTTP. */
        this.status = status;
        /** The Status of Kubernetes, or the text. */
        this.body = details ?? body;
        /** The field of the request that is invalid, if the server has named one. */
        this.field = details?.details?.causes?.[0]?.field;
    }
}

/** The operations of a server behind its API. */
export class Control {
    #base;
    #fetch;
    #timeoutMs;

    constructor(url, { fetch: send = globalThis.fetch, timeoutMs = 30_000 } = {}) {
        this.#base = `${url.replace(/\/+$/, '')}/_control`;
        this.#fetch = send;
        this.#timeoutMs = timeoutMs;
    }

    /** Returns the revision, the number of open watches, and the number of requests by resource and verb. */
    stats() {
        return this.#json('stats', 'GET', '/stats');
    }

    /** Forgets the history for lists. */
    async compact() {
        await this.#send('compact', 'POST', '/compact');
    }

    /** Forgets the history for lists and watches. */
    async expire() {
        await this.#send('expire', 'POST', '/expire');
    }

    /** Ends every open watch. */
    async disconnect() {
        await this.#send('disconnect', 'POST', '/disconnect');
    }

    /** Takes the objects back to those of the start. Faults stay. */
    async reset() {
        await this.#send('reset', 'POST', '/reset');
    }

    /** Returns the whole state as lines of JSON. */
    snapshot() {
        return this.#send('snapshot', 'GET', '/snapshot');
    }

    /** Writes the state to the file of `--data`. */
    async saveSnapshot() {
        await this.#send('saveSnapshot', 'POST', '/snapshot');
    }

    /** Lists the faults in force. */
    async listFaults() {
        return (await this.#json('listFaults', 'GET', '/faults')).items;
    }

    /** Installs a fault, or all of an array or none, and returns them with their ids. */
    async installFaults(faults) {
        return (await this.#json('installFaults', 'POST', '/faults', faults)).items;
    }

    /** Returns a fault in force. */
    getFault(id) {
        return this.#json('getFault', 'GET', `/faults/${encodeURIComponent(id)}`);
    }

    /** Removes a fault. */
    async removeFault(id) {
        await this.#send('removeFault', 'DELETE', `/faults/${encodeURIComponent(id)}`);
    }

    /** Removes all faults. */
    async removeFaults() {
        await this.#send('removeFaults', 'DELETE', '/faults');
    }

    /** Returns the catalogue of faults. */
    faultCatalogue() {
        return this.#json('faultCatalogue', 'GET', '/faults/catalogue');
    }

    async #json(operation, method, path, body) {
        return JSON.parse(await this.#send(operation, method, path, body));
    }

    async #send(operation, method, path, body) {
        const answer = await this.#fetch(this.#base + path, {
            method,
            signal: AbortSignal.timeout(this.#timeoutMs),
            ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        });
        const text = await answer.text();
        if (answer.status < 200 || answer.status > 299) {
            throw new ControlError(operation, answer.status, text);
        }
        return text;
    }
}
