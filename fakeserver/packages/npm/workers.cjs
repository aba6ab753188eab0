// One server for each worker of a test run: a reset between tests of one file does not concern another file.
'use strict';

const { start, connect } = require('./index.cjs');

const CURRENT = Symbol.for('fakeserver.current');

/** Starts `count` servers, all or none. */
exports.startServers = async function startServers(count, options) {
    const starting = await Promise.allSettled(Array.from({ length: count }, () => start(options)));
    const servers = starting.filter(({ status }) => status === 'fulfilled').map(({ value }) => value);
    const failed = starting.find(({ status }) => status === 'rejected');
    if (failed) {
        await exports.stopServers(servers);
        throw failed.reason;
    }
    return servers;
};

/** Ends servers. It is an error if one has ended before. */
exports.stopServers = async function stopServers(servers) {
    const failures = servers.map(({ failure }) => failure).filter(Boolean);
    await Promise.all(servers.map((server) => server.stop()));
    if (failures.length > 0) {
        throw new Error(failures.join('\n'));
    }
};

/** Returns what a worker has to know of servers. */
exports.describe = function describe(servers) {
    return servers.map(({ url, kubeconfig, initialFaults }) => ({ url, kubeconfig, initialFaults }));
};

/** Makes the server of the worker number `id` (from 1) the current one, to which `KUBECONFIG` leads as well. */
exports.useServer = function useServer(described, id) {
    const own = described[Number(id) - 1];
    if (!own) {
        throw new Error(`worker ${id} has no server, since ${described.length} were started: start as many as there are workers`);
    }
    process.env.KUBECONFIG = own.kubeconfig;
    globalThis[CURRENT] = connect(own);
    return globalThis[CURRENT];
};

/** Resets the server between tests: before the first of a file, and before each later one, after the hooks of the former one. */
exports.resetBetweenTests = function resetBetweenTests(server, { beforeAll, beforeEach }) {
    let isFirst = true;
    // Functions without parameters: frameworks pass a callback to others.
    beforeAll(async () => {
        await server.reset();
    });
    beforeEach(async () => {
        if (!isFirst) {
            await server.reset();
        }
        isFirst = false;
    });
};

/** Returns an object that stands for the server of the worker in which it is asked. `setUp` says what gives a worker its server. */
exports.serverOfWorker = function serverOfWorker(setUp) {
    const current = () => {
        const server = globalThis[CURRENT];
        if (!server) {
            throw new Error(`this test has no server: ${setUp}`);
        }
        return server;
    };
    return {
        get url() {
            return current().url;
        },
        get kubeconfig() {
            return current().kubeconfig;
        },
        get control() {
            return current().control;
        },
        reset: () => current().reset(),
    };
};
