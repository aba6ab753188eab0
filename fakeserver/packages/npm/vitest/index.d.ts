import { Server, StartOptions } from '../index';

/** Adds a server for every worker to a run. The options are those of `start`. */
export function fakeserver(options?: StartOptions): { name: string };

/** The server of this worker, which is reset between tests. `KUBECONFIG` leads to it as well. */
export const server: Server;
