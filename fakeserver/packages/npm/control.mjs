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

    // generated from /_control/openapi.json by scripts/packages/control_clients.py

    /** Returns the counts of the server. */
    stats() {
        return this.#json('stats', 'GET', '/stats');
    }

    /** Returns the whole state, a line of JSON an object. */
    snapshot() {
        return this.#send('snapshot', 'GET', '/snapshot');
    }

    /** Writes the state to the data file; 409 if the server has none. */
    async saveSnapshot() {
        await this.#send('saveSnapshot', 'POST', '/snapshot');
    }

    /** Removes history: lists of older versions are answered with 410. Watches go on. */
    async compact() {
        await this.#send('compact', 'POST', '/compact');
    }

    /** Removes history for watches, too: one that begins at an older version receives an ERROR event with 410. */
    async expire() {
        await this.#send('expire', 'POST', '/expire');
    }

    /** Ends all open watches. */
    async disconnect() {
        await this.#send('disconnect', 'POST', '/disconnect');
    }

    /** Restores the state of the start: later objects are gone, and all watches end. Faults stay in force. */
    async reset() {
        await this.#send('reset', 'POST', '/reset');
    }

    /** Removes all faults. */
    async removeFaults() {
        await this.#send('removeFaults', 'DELETE', '/faults');
    }

    /** Returns the faults in force. */
    listFaults() {
        return this.#json('listFaults', 'GET', '/faults');
    }

    /** Installs a fault, or several, all or none; 400 names the invalid field. */
    installFaults(faults) {
        return this.#json('installFaults', 'POST', '/faults', faults);
    }

    /** Returns what is known about each fault. */
    faultCatalogue() {
        return this.#json('faultCatalogue', 'GET', '/faults/catalogue');
    }

    /** Removes a fault. */
    async removeFault(id) {
        await this.#send('removeFault', 'DELETE', `/faults/${encodeURIComponent(id)}`);
    }

    /** Returns a fault in force. */
    getFault(id) {
        return this.#json('getFault', 'GET', `/faults/${encodeURIComponent(id)}`);
    }

    /** Returns the release of Kubernetes that is served, and those that there are. */
    kubernetesVersion() {
        return this.#json('kubernetesVersion', 'GET', '/kubernetes-version');
    }

    /** Serves another version of Kubernetes, newer or older, with open watches; 400 lists the versions. */
    upgrade(version) {
        return this.#json('upgrade', 'POST', '/kubernetes-version', { version });
    }

    // end of what is generated

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
