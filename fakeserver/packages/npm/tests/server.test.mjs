// A server and its control, by the installed package.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, ControlError, start } from 'fakeserver';

const POLL_MS = 20;
const LIMIT_MS = 10_000;

let server;
before(async () => {
    server = await start({ args: ['--seed', '7'] });
});
after(() => server.stop());

const create = async (name) => {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/api/v1/namespaces`, { method: 'POST', body, headers });
    return answer.status;
};
const status = async (path) => (await fetch(server.url + path)).status;

async function until(what, condition) {
    const deadline = Date.now() + LIMIT_MS;
    while (!(await condition())) {
        assert.ok(Date.now() < deadline, `not within ${LIMIT_MS} ms: ${what}`);
        await pause(POLL_MS);
    }
}

test('a reset takes objects and faults back', async () => {
    assert.equal(await create('shop'), 201);
    await server.control.installFaults([{ fault: 'throttle', when: { times: 1 } }, { fault: 'hang', when: { afterMs: 60_000 } }]);
    await server.reset();
    assert.deepEqual(await server.control.listFaults(), { items: [] });
    assert.equal(await status('/api/v1/namespaces/shop'), 404);
});

test('a reset leaves the faults of the start', async (t) => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'fakeserver-test-')), 'faults.json');
    t.after(() => fs.rmSync(path.dirname(file), { recursive: true }));
    fs.writeFileSync(file, '{"fault": "forbidden", "match": {"verb": "watch"}}');
    const own = await start({ args: ['--faults', file] });
    t.after(() => own.stop());
    await own.control.installFaults({ fault: 'throttle' });
    await connect(own).control.stats();
    await own.reset();
    assert.deepEqual((await own.control.listFaults()).items.map(({ spec }) => spec.fault), ['forbidden']);
});

test('each operation of the control API has its effect', async () => {
    const { control } = server;
    const { items: [{ id }] } = await control.installFaults({ fault: 'throttle', match: { verb: 'get', resource: 'nodes' }, when: { times: 1 } });
    assert.equal(await status('/api/v1/nodes/none'), 429);
    assert.equal((await control.getFault(id)).fired, 1);
    await control.removeFault(id);
    await assert.rejects(control.getFault(id), (error) => error instanceof ControlError && error.status === 404);
    await control.removeFaults();
    assert.ok((await control.faultCatalogue()).some(({ fault }) => fault === 'throttle'));

    const { revision, requests } = await control.stats();
    assert.equal(requests.nodes.get, 1);
    await create('later');
    await control.compact();
    assert.equal(await status(`/api/v1/namespaces?resourceVersion=${revision}&resourceVersionMatch=Exact`), 410);
    await control.expire();
    assert.match(await control.snapshot(), /^\{"format":"fakeserver.snapshot"/);
    // It keeps its state in memory.
    await assert.rejects(control.saveSnapshot(), (error) => error.status === 409 && /--data FILE/.test(error.message));

    const watch = await fetch(`${server.url}/api/v1/namespaces?watch=1`);
    await until('the watch is open', async () => (await control.stats()).watchers === 1);
    await control.disconnect();
    await watch.text();
    await until('the watch has ended', async () => (await control.stats()).watchers === 0);
});

test('a server is of the version that was asked for', async (t) => {
    for (const [kubernetesVersion, expected] of [['1.34', 'v1.34.9'], ['1.35.x', 'v1.35.6'], [undefined, 'v1.33.13']]) {
        process.env.FAKESERVER_KUBERNETES_VERSION = '1.33';
        const own = await start({ kubernetesVersion }).finally(() => delete process.env.FAKESERVER_KUBERNETES_VERSION);
        t.after(() => own.stop());
        assert.equal((await (await fetch(`${own.url}/version`)).json()).gitVersion, expected);
    }
    await assert.rejects(start({ kubernetesVersion: '1.30' }), /no version "1\.30".*there are/);
    await assert.rejects(start({ kubernetesVersion: 1.34 }), /a string is needed/);
});

test('control works by TLS, with roles', async (t) => {
    const own = await start({ args: ['--tls', '--authorization', 'rbac'] });
    t.after(() => own.stop());
    assert.match(own.url, /^https:/);
    assert.equal((await own.control.stats()).watchers, 0);
    await own.reset();
});

test('a stopped server leaves nothing', async () => {
    const own = await start();
    assert.match(fs.readFileSync(own.kubeconfig, 'utf8'), new RegExp(own.url));
    assert.equal(fs.statSync(own.kubeconfig).mode & 0o077, 0);
    await own.stop();
    await own.stop();
    assert.ok(!fs.existsSync(own.kubeconfig));
    assert.throws(() => process.kill(own.pid, 0), { code: 'ESRCH' });
});

// Runs a script that prints the pid and the kubeconfig of its server.
function owner(rest) {
    const script = `import { start } from 'fakeserver'; const { pid, kubeconfig } = await start();
        console.log(JSON.stringify({ pid, kubeconfig })); ${rest}`;
    return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function isGone({ pid, kubeconfig }) {
    await until('the server has ended', () => {
        try {
            return !process.kill(pid, 0);
        } catch {
            return true;
        }
    });
    await until('its kubeconfig is removed', () => !fs.existsSync(kubeconfig));
}

test('a killed process takes its server along', async () => {
    const process = owner('setInterval(() => {}, 1_000);');
    const [line] = await once(createInterface(process.stdout), 'line');
    process.kill('SIGKILL');
    await isGone(JSON.parse(line));
});

test('a process that forgets its server can end', async () => {
    const process = owner('');
    const [line] = await once(createInterface(process.stdout), 'line');
    const [status] = await once(process, 'exit');
    assert.equal(status, 0);
    await isGone(JSON.parse(line));
});

test('nothing of the user is touched', async () => {
    const home = path.join(os.homedir(), '.kube');
    assert.deepEqual(fs.readdirSync(home), ['config']);
    assert.equal(fs.readFileSync(path.join(home, 'config'), 'utf8'), 'of the user\n');
});
