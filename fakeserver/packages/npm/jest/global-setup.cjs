// Starts the servers of a run. `globals: { fakeserver: { args: [...] } }` has the options of `start`.
'use strict';

const { describe, startServers } = require('../workers.cjs');
const servers = require('./servers.cjs');

module.exports = async function globalSetup(globalConfig, projectConfig) {
    servers.running = await startServers(globalConfig.maxWorkers, projectConfig.globals.fakeserver);
    process.env[servers.VARIABLE] = JSON.stringify(describe(servers.running));
};
