// Create, page, patch, apply and delete.

import { KubernetesObjectApi, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { check, config, configMap, control, core, createNamespace, refused } from './support.mjs';

const namespace = 'objects';
await createNamespace(namespace);

for (const index of ['0', '1', '2', '3', '4']) {
    const made = await core.createNamespacedConfigMap({ namespace, body: configMap(`paged-${index}`, { index }) });
    check(`create answers with the object: paged-${index}`, made.data, { index });
}
const twice = await refused(409, () => core.createNamespacedConfigMap({ namespace, body: configMap('paged-0') }));
check('a second create is refused', JSON.parse(twice.body).reason, 'AlreadyExists');

const pages = [];
let token;
do {
    const page = await core.listNamespacedConfigMap({ namespace, limit: 2, _continue: token });
    pages.push(page.items.map((item) => item.metadata.name));
    token = page.metadata._continue;
} while (token);
check('a list comes in pages', pages, [['paged-0', 'paged-1'], ['paged-2', 'paged-3'], ['paged-4']]);

const first = await core.listNamespacedConfigMap({ namespace, limit: 2 });
await core.createNamespacedConfigMap({ namespace, body: configMap('paged-5') });
await control('compact');
const gone = await refused(410, () =>
    core.listNamespacedConfigMap({ namespace, limit: 2, _continue: first.metadata._continue }),
);
check('a page of a compacted version is gone', JSON.parse(gone.body).reason, 'Expired');

const patched = async (strategy, body) => {
    const options = setHeaderOptions('Content-Type', strategy);
    const made = await core.patchNamespacedConfigMap({ name: 'paged-0', namespace, body }, options);
    return made.data;
};
check(
    'a strategic merge patch',
    await patched(PatchStrategy.StrategicMergePatch, { data: { colour: 'red' } }),
    { index: '0', colour: 'red' },
);
check(
    'a JSON patch',
    await patched(PatchStrategy.JsonPatch, [{ op: 'remove', path: '/data/index' }]),
    { colour: 'red' },
);
check('a merge patch', await patched(PatchStrategy.MergePatch, { data: { size: '9' } }), { colour: 'red', size: '9' });

const objects = KubernetesObjectApi.makeApiClient(config);
const applied = (manager, data, force) => {
    const body = configMap('applied', data);
    body.metadata.namespace = namespace;
    return objects.patch(body, undefined, undefined, manager, force, PatchStrategy.ServerSideApply);
};
check('apply creates', (await applied('first', { colour: 'green' })).data, { colour: 'green' });
const conflict = await refused(409, () => applied('second', { colour: 'red' }));
check('a conflict is refused', JSON.parse(conflict.body).details.causes[0].field, '.data.colour');
check('force takes the field over', (await applied('second', { colour: 'red' }, true)).data, { colour: 'red' });

await objects.delete({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace } });
const missing = await refused(404, () => core.readNamespacedConfigMap({ name: 'applied', namespace }));
check('what was deleted is not found', JSON.parse(missing.body).details.name, 'applied');
