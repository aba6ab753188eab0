// The servers of a run, in the process that owns them.
'use strict';

const KEY = Symbol.for('fakeserver.jest');

// Jest may load set-up and teardown in module registries of their own.
globalThis[KEY] ??= { running: [] };

/** The variable that tells workers of them. */
exports.VARIABLE = 'FAKESERVER_JEST_SERVERS';

Object.defineProperty(exports, 'running', {
    get: () => globalThis[KEY].running,
    set: (running) => {
        globalThis[KEY].running = running;
    },
});
