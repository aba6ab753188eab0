// Pods that answer: logs, commands, and a process of this script that stands for the pod.

import net from 'node:net';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Attach, Exec, Log, PortForward } from '@kubernetes/client-node';
import { check, config, core, createNamespace, until } from './support.mjs';

const namespace = 'streams';
const name = 'web';

// The script that starts this one has told the server of the port.
const backend = net.createServer((socket) => socket.once('data', (data) => socket.end(`answer to ${data}`)));
backend.listen(Number(process.env.POD_BACKEND_PORT), '127.0.0.1');

await createNamespace(namespace);
await core.createNamespacedPod({
    namespace,
    body: {
        metadata: { name, labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx', env: [{ name: 'MODE', value: 'fast' }] }] },
    },
});
await until('the pod runs', async () => {
    const pod = await core.readNamespacedPod({ name, namespace });
    return pod.status.phase === 'Running';
});

// A stream that collects what is written to it.
function collector() {
    const stream = new PassThrough();
    stream.collected = '';
    stream.on('data', (data) => (stream.collected += data));
    return stream;
}

// Runs a command to its end.
async function execute(command, stdin = null) {
    const [stdout, stderr] = [collector(), collector()];
    const status = await new Promise((resolve, reject) => {
        const exec = new Exec(config);
        exec.exec(namespace, name, 'web', command, stdout, stderr, stdin, false, resolve).catch(reject);
    });
    return { stdout: stdout.collected, stderr: stderr.collected, status };
}

const echoed = await execute(['sh', '-c', 'echo $MODE; echo oops >&2']);
check('a command has outputs', [echoed.stdout, echoed.stderr], ['fast\n', 'oops\n']);
check('it succeeds', echoed.status.status, 'Success');
const failed = await execute(['false']);
check('a command fails', failed.status.reason, 'NonZeroExitCode');
check('it has a code', failed.status.details.causes, [{ reason: 'ExitCode', message: '1' }]);
const input = new PassThrough();
input.end('echo from here\nexit 0\n');
const read = await execute(['sh'], input);
check('a command reads', read.stdout, 'from here\n');

const log = collector();
await new Log(config).log(namespace, name, 'web', log, { follow: false });
await until('a log', () => log.collected === 'container web of image nginx started\n');

const forward = new PortForward(config);
const server = net.createServer((socket) => forward.portForward(namespace, name, [80], socket, null, socket));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const socket = net.connect(server.address().port, '127.0.0.1');
socket.write('javascript');
const [answer] = await once(socket, 'data');
check('a forwarded port', String(answer), 'answer to javascript');

const attached = collector();
await new Attach(config).attach(namespace, name, 'web', attached, null, null, false);
const followed = collector();
await new Log(config).log(namespace, name, 'web', followed, { follow: true });
await core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 1 });
await until('a log that is followed', () => followed.collected.includes('\ncontainer web ended with exit code'));
await until('an attachment', () => attached.collected.startsWith('container web ended with exit code'));
process.exit(0);
