// Gives every test file the server of its worker, and resets it between tests.

import { beforeAll, beforeEach, inject } from 'vitest';
import workers from '../workers.cjs';

const server = workers.useServer(inject('fakeserver.servers') ?? [], process.env.VITEST_POOL_ID);
workers.resetBetweenTests(server, { beforeAll, beforeEach });
