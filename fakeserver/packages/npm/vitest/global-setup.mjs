// Starts the servers of a run, and returns what ends them.

import os from 'node:os';
import workers from '../workers.cjs';

export default async function globalSetup(project) {
    const { config } = project;
    const { forks, threads } = config.poolOptions ?? {};
    const said = [config.maxWorkers, forks?.maxForks, threads?.maxThreads].filter(Number.isInteger);
    const count = said.length > 0 ? Math.max(...said) : os.availableParallelism();
    const servers = await workers.startServers(count, config.provide?.['fakeserver.options']);
    project.provide('fakeserver.servers', workers.describe(servers));
    return () => workers.stopServers(servers);
}
