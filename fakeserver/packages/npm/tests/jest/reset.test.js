// Tests of one file share a server, and begin with its first state.
const { server } = require('fakeserver/jest');

const namespaces = () => `${server.url}/api/v1/namespaces`;
const create = async () => {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    const answer = await fetch(namespaces(), { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return answer.status;
};

// The hooks of a test still see what it made.
afterEach(async () => {
    expect((await fetch(`${namespaces()}/shop`)).status).toBe(200);
});

test.each([1, 2, 3])('a name is free in test %i', async () => {
    expect(await server.control.listFaults()).toEqual({ items: [] });
    expect(await create()).toBe(201);
    await server.control.installFaults({ fault: 'forbidden', match: { verb: 'watch' } });
});

test('KUBECONFIG leads to the server', () => {
    const fs = require('node:fs');
    expect(process.env.KUBECONFIG).toBe(server.kubeconfig);
    expect(fs.readFileSync(server.kubeconfig, 'utf8')).toContain(server.url);
    return create();
});
