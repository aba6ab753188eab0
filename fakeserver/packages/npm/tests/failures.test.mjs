// Errors, by the installed package: each says what to do.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ControlError, findProgram, start } from 'fakeserver';

// A program made of a line of shell.
function script(t, line) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fakeserver-test-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'program');
    fs.writeFileSync(file, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    return file;
}

function withVariable(t, value) {
    process.env.FAKESERVER_BIN = value;
    t.after(() => delete process.env.FAKESERVER_BIN);
}

test('FAKESERVER_BIN that is no program is an error', async (t) => {
    withVariable(t, '/nonexistent/fakeserver');
    await assert.rejects(async () => start(), /FAKESERVER_BIN is \/nonexistent\/fakeserver, which is no program: correct it, or unset it/);
});

test('FAKESERVER_BIN comes first', (t) => {
    const program = script(t, 'exit 0');
    withVariable(t, program);
    assert.equal(findProgram(), program);
});

test('without the package of the platform it says what to install', (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fakeserver-test-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    fs.cpSync(path.resolve('node_modules/fakeserver'), path.join(folder, 'fakeserver'), { recursive: true });
    const bin = path.join(folder, 'fakeserver/bin/fakeserver');
    const { status, stderr } = spawnSync(bin, ['--version'], { encoding: 'utf8' });
    assert.equal(status, 2);
    assert.match(stderr, /^fakeserver: there is no program fakeserver for linux-x64: install the package fakeserver-linux-x64/);
});

test('a program that exits is an error with what it said', async (t) => {
    const program = script(t, 'echo no luck >&2; exit 3');
    await assert.rejects(start({ program }), /did not start: it ended with status 3; it said:\nno luck\ncommand: .*program serve/);
});

test('a program that is killed is an error', async (t) => {
    await assert.rejects(start({ program: script(t, 'kill -9 $$') }), /did not start: it ended by SIGKILL/);
});

test('a program that cannot be run is an error', async () => {
    await assert.rejects(start({ program: '/nonexistent/fakeserver' }), /did not start: it ended before it began: .*ENOENT/);
});

test('a program that says nothing is an error after the limit', async (t) => {
    const program = script(t, 'exec sleep 60');
    await assert.rejects(start({ program, startTimeoutMs: 200 }), /did not start: it said no address within 200 ms/);
});

test('a process that a program leaves behind does not hold up its end', async (t) => {
    const began = Date.now();
    await assert.rejects(start({ program: script(t, 'sleep 20; exit 1'), startTimeoutMs: 200 }), /said no address within 200 ms/);
    assert.ok(Date.now() - began < 10_000);
});

test('a program that says something else is an error', async (t) => {
    const program = script(t, 'echo hello; exec sleep 60');
    await assert.rejects(start({ program }), /did not start: its first line is no address but: hello/);
});

test('an unknown flag is an error with the words of the program', async () => {
    await assert.rejects(start({ args: ['--controler', 'none'] }), /it ended with status 2; it said:\nerror: unexpected argument '--controler'/);
});

test('an invalid fault names its field', async (t) => {
    const server = await start();
    t.after(() => server.stop());
    const isRefused = (error) => {
        assert.ok(error instanceof ControlError);
        assert.equal(error.status, 400);
        assert.equal(error.field, '[1].retryAfter');
        assert.match(error.message, /^installFaults: 400: \[1\]\.retryAfter: .*no such parameter/);
        return true;
    };
    await assert.rejects(server.control.installFaults([{ fault: 'throttle' }, { fault: 'throttle', retryAfter: 2 }]), isRefused);
    assert.deepEqual(await server.control.listFaults(), { items: [] });
});

test('a server that has died is told', async (t) => {
    const server = await start();
    t.after(() => server.stop());
    process.kill(server.pid, 'SIGKILL');
    await assert.rejects(async () => {
        // Until it is gone.
        for (;;) {
            await server.control.stats();
        }
    }, /GET http.*\/_control\/stats: (the server has ended|no answer of the server)/);
    await pause(100);
    await assert.rejects(server.reset(), /the server has ended by SIGKILL/);
    assert.equal(server.failure, 'the server has ended by SIGKILL');
});
