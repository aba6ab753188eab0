// Compiles with the types of the package; it is not run.
import { connect, Control, ControlError, findProgram, start } from 'fakeserver';
import type { Fault, InstalledFault, OwnedServer, Stats } from 'fakeserver';
import { server as ofJest } from 'fakeserver/jest';
import { fakeserver, server as ofVitest } from 'fakeserver/vitest';

const fault: Fault = { fault: 'throttle', retryAfterSeconds: 2, match: { verb: 'list' }, when: { times: 1 } };
const server: OwnedServer = await start({ args: ['--tls'], kubernetesVersion: '1.34', startTimeoutMs: 1_000, program: findProgram() });
const installed: InstalledFault[] = (await server.control.installFaults([fault])).items;
const stats: Stats = await new Control(server.url, { timeoutMs: 1_000 }).stats();
const watches: number | undefined = stats.requests['pods']?.['watch'];
await connect({ url: ofJest.url, kubeconfig: ofVitest.kubeconfig }).reset();
try {
    await server.control.getFault(installed[0]!.id);
} catch (error) {
    if (error instanceof ControlError) {
        console.log(error.status, error.field?.length, watches);
    }
}
// @ts-expect-error: a verb that there is not
await server.control.installFaults({ fault: 'throttle', match: { verb: 'post' } });
export default { plugins: [fakeserver({ args: [] })] };
