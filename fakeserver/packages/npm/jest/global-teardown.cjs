// Ends the servers of a run.
'use strict';

const { stopServers } = require('../workers.cjs');
const servers = require('./servers.cjs');

module.exports = async function globalTeardown() {
    const { running } = servers;
    servers.running = [];
    delete process.env[servers.VARIABLE];
    await stopServers(running);
};
