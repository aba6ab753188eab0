// Gives every test file the server of its worker, and resets it between tests.
'use strict';

const { resetBetweenTests, useServer } = require('../workers.cjs');
const { VARIABLE } = require('./servers.cjs');

const described = process.env[VARIABLE];
if (!described) {
    throw new Error("no servers were started: the configuration needs preset: 'fakeserver/jest', or its globalSetup");
}
// Jest itself provides this module.
resetBetweenTests(useServer(JSON.parse(described), process.env.JEST_WORKER_ID), require('@jest/globals'));
