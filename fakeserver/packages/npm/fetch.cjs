// Requests to a server whose certificate only its kubeconfig knows.
'use strict';

const fs = require('node:fs');
const https = require('node:https');
const { text } = require('node:stream/consumers');

/** Sends a request as `fetch` does, by TLS with the certificates of the kubeconfig. */
exports.fetchWith = function fetchWith(kubeconfig, url, options) {
    return url.startsWith('https:') ? fetchByTls(kubeconfig, url, options) : fetch(url, options);
};

async function fetchByTls(kubeconfig, url, { method, headers, body, signal }) {
    const certificates = certificatesOf(fs.readFileSync(kubeconfig, 'utf8'));
    const answer = await new Promise((resolve, reject) => {
        https.request(url, { method, headers, signal, agent: false, ...certificates }, resolve).on('error', reject).end(body);
    });
    return { status: answer.statusCode, text: () => text(answer) };
}

/** Returns the certificates and the key of a kubeconfig that fakeserver has written; the administrator is its first user. */
function certificatesOf(written) {
    const [ca, cert, key] = ['certificate-authority', 'client-certificate', 'client-key'].map((field) => {
        const [, encoded] = new RegExp(`^\\s*${field}-data: (\\S+)$`, 'm').exec(written) ?? [];
        return encoded && Buffer.from(encoded, 'base64');
    });
    return { ca, cert, key };
}
