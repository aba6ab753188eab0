// The server of a test by Jest.
'use strict';

const { serverOfWorker } = require('../workers.cjs');

exports.server = serverOfWorker("the configuration of Jest needs preset: 'fakeserver/jest'");
