import { Server } from '../index';

/** The server of this worker, which is reset between tests. `KUBECONFIG` leads to it as well. */
export const server: Server;
