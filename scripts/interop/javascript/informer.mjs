// The client's own informer, through a disconnect and an expired version.

import { ADD, CONNECT, DELETE, ERROR, makeInformer, UPDATE } from '@kubernetes/client-node';
import { check, config, configMap, control, core, createNamespace, requests, until } from './support.mjs';

const [namespace, elsewhere] = ['informed', 'elsewhere'];
await createNamespace(namespace);
await createNamespace(elsewhere);
const create = (name, data) => core.createNamespacedConfigMap({ namespace, body: configMap(name, data) });
await create('one', { step: '1' });

const list = () => core.listNamespacedConfigMap({ namespace });
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
const seen = [];
let connects = 0;
for (const verb of [ADD, UPDATE, DELETE]) {
    informer.on(verb, (found) => seen.push([verb, found.metadata.name, found.data?.step]));
}
informer.on(CONNECT, () => {
    connects += 1;
});
const onError = (error) => check('no error is told', String(error), 'none');
informer.on(ERROR, onError);

// Waits for the next thing that a handler is told.
async function told(what, wanted) {
    await until(`${what}: it is told`, () => seen.length > 0);
    check(what, seen.shift(), wanted);
}

await informer.start();
await told('what is there', [ADD, 'one', '1']);
check('it connects once', connects, 1);
const replaceOne = (step) =>
    core.replaceNamespacedConfigMap({ name: 'one', namespace, body: configMap('one', { step }) });
await replaceOne('2');
await told('a change', [UPDATE, 'one', '2']);
check('the cache has it', informer.get('one', namespace).data, { step: '2' });

const lists = await requests('list');
await control('disconnect');
await until('it connects again after a disconnect', () => connects === 2);
await create('two');
await told('a change after the disconnect', [ADD, 'two', undefined]);
check('without another list', await requests('list'), lists);

// Its version gets old by what happens elsewhere; then it may not watch from there any more.
await core.createNamespacedConfigMap({ namespace: elsewhere, body: configMap('other') });
await control('expire');
await control('disconnect');
await until('it lists again after 410', async () => (await requests('list')) > lists);
await until('it watches again', async () => (await control('stats', 'GET')).watchers === 1);
await replaceOne('3');
await told('a change after 410', [UPDATE, 'one', '3']);
await core.deleteNamespacedConfigMap({ name: 'one', namespace });
await told('a deletion', [DELETE, 'one', '3']);
check('the cache is right', informer.list(namespace).map((found) => found.metadata.name), ['two']);
check('nothing else was told', seen, []);
// Its own end of the watch is an error to it.
informer.off(ERROR, onError);
await informer.stop();
