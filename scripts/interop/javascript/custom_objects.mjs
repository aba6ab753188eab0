// A definition of custom resources, and an informer that selects some of their objects.

import {
    ADD,
    ApiextensionsV1Api,
    CustomObjectsApi,
    DELETE,
    ERROR,
    makeInformer,
    PatchStrategy,
    setHeaderOptions,
    UPDATE,
    Watch,
} from '@kubernetes/client-node';
import { check, config, control, createNamespace, refused, until } from './support.mjs';

const namespace = 'custom';
const [group, version, plural] = ['shop.example.com', 'v1', 'orders'];
await createNamespace(namespace);

const extensions = config.makeApiClient(ApiextensionsV1Api);
const name = `${plural}.${group}`;
const openAPIV3Schema = {
    type: 'object',
    properties: {
        spec: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } } },
    },
};
await extensions.createCustomResourceDefinition({
    body: {
        metadata: { name },
        spec: {
            group,
            scope: 'Namespaced',
            names: { plural, kind: 'Order' },
            versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
        },
    },
});
await until('the definition is established', async () => {
    const { status } = await extensions.readCustomResourceDefinition({ name });
    return status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True');
});

const orders = config.makeApiClient(CustomObjectsApi);
const at = { group, version, namespace, plural };
const order = (name, count) => ({ apiVersion: `${group}/${version}`, kind: 'Order', metadata: { name }, spec: { count } });
const label = (name, tier) => {
    const options = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    const body = { metadata: { labels: { tier } } };
    return orders.patchNamespacedCustomObject({ ...at, name, body }, options);
};

await orders.createNamespacedCustomObject({ ...at, body: order('one', 1) });
await orders.createNamespacedCustomObject({ ...at, body: order('two', 2) });
const invalid = await refused(422, () => orders.createNamespacedCustomObject({ ...at, body: order('none', 0) }));
check('an object that breaks its schema is refused', JSON.parse(invalid.body).details.causes[0].field, 'spec.count');
await label('one', 'gold');

const labelSelector = 'tier=gold';
const list = () => orders.listNamespacedCustomObject({ ...at, labelSelector });
const path = `/apis/${group}/${version}/namespaces/${namespace}/${plural}`;
const informer = makeInformer(config, path, list, labelSelector);
const seen = [];
for (const verb of [ADD, UPDATE, DELETE]) {
    informer.on(verb, (found) => seen.push([verb, found.metadata.name]));
}
const onError = (error) => check('no error is told', String(error), 'none');
informer.on(ERROR, onError);

async function told(what, wanted) {
    await until(`${what}: it is told`, () => seen.length > 0);
    check(what, seen.shift(), wanted);
}

await informer.start();
await told('what is selected', [ADD, 'one']);
await until('it watches', async () => (await control('stats', 'GET')).watchers === 1);
await label('two', 'gold');
await told('what comes into the selection', [ADD, 'two']);
await label('one', 'silver');
await told('what leaves the selection', [DELETE, 'one']);
await orders.deleteNamespacedCustomObject({ ...at, name: 'two' });
await told('what is deleted', [DELETE, 'two']);
check('nothing else was told', seen, []);
// Its own end of the watch is an error to it.
informer.off(ERROR, onError);
await informer.stop();

const events = [];
let isOver = false;
const parameters = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true };
const onEvent = (type, found) => events.push([type, found.metadata.name ?? found.metadata.annotations]);
const watch = await new Watch(config).watch(path, parameters, onEvent, () => {
    isOver = true;
});
await until('a streaming list comes to its end', () => events.length === 2);
check('it is what is there, and a bookmark', events, [
    ['ADDED', 'one'],
    ['BOOKMARK', { 'k8s.io/initial-events-end': 'true' }],
]);
await extensions.deleteCustomResourceDefinition({ name });
await until('the watch ends with its definition', () => isOver);
check('and tells of the last object first', events.slice(2), [['DELETED', 'one']]);
watch.abort();
