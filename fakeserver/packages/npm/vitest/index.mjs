// The plugin of Vitest's configuration, and the server of a test.

import { fileURLToPath } from 'node:url';
import workers from '../workers.cjs';

const path = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Adds a server for every worker to a run. The options are those of `start`. */
export function fakeserver(options = {}) {
    return {
        name: 'fakeserver',
        config: () => ({
            test: {
                globalSetup: [path('./global-setup.mjs')],
                setupFiles: [path('./setup.mjs')],
                provide: { 'fakeserver.options': options },
            },
        }),
    };
}

/** The server of this worker, which is reset between tests. */
export const server = workers.serverOfWorker("the configuration of Vitest needs plugins: [fakeserver()], from 'fakeserver/vitest'");
