// What the checks share: the server behind the kubeconfig, waiting for a condition, and saying what holds.

import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';

// Long for a server on this machine; short for a check that hangs.
const LIMIT_MS = 60_000;
const POLL_MS = 20;

export const config = new KubeConfig();
config.loadFromDefault();
export const core = config.makeApiClient(CoreV1Api);

// Prints that something holds, or what differs, and ends.
export function check(what, found, wanted) {
    if (!isDeepStrictEqual(found, wanted)) {
        console.error(`FAILED - ${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`);
        process.exit(1);
    }
    console.log(`ok - ${what}`);
}

// The error of a call that has to be refused with a code.
export async function refused(code, call) {
    let answer;
    try {
        answer = await call();
    } catch (error) {
        if (error.code !== code) {
            check(`a refusal with ${code}`, error.code ?? String(error), code);
        }
        return error;
    }
    check(`a refusal with ${code}`, answer, 'an error');
}

// Polls a condition until it holds, up to the limit.
export async function until(what, condition) {
    const deadline = performance.now() + LIMIT_MS;
    while (!(await condition())) {
        if (performance.now() > deadline) {
            check(what, `not so within ${LIMIT_MS} ms`, 'so');
        }
        await pause(POLL_MS);
    }
    console.log(`ok - ${what}`);
}

// Does something behind the API: disconnect, compact, expire, or stats.
export async function control(action, method = 'POST') {
    const url = new URL(`${config.getCurrentCluster().server}/_control/${action}`);
    const options = { method, signal: AbortSignal.timeout(LIMIT_MS) };
    await config.applyToHTTPSOptions(options);
    const { request } = url.protocol === 'https:' ? https : http;
    const answer = await new Promise((resolve, reject) => {
        request(url, options, resolve).on('error', reject).end();
    });
    const body = await text(answer);
    if (Math.floor(answer.statusCode / 100) !== 2) {
        check(`control: ${action}`, answer.statusCode, 'a success');
    }
    return body ? JSON.parse(body) : undefined;
}

// How often config maps were asked for with a verb.
export async function requests(verb) {
    const { requests } = await control('stats', 'GET');
    return requests.configmaps?.[verb] ?? 0;
}

export function configMap(name, data) {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

export async function createNamespace(name) {
    await core.createNamespace({ body: { metadata: { name } } });
}
