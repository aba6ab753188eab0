// A process under test: the informer of npm's `@kubernetes/client-node`, as its examples use it.
//
//     conformance score --against tcp --subject external --command "node conformance/external/javascript/main.js"
//
// conformance/docs/external.md describes the protocol.

import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';

/** The delay of the library's example before an informer that failed is started again. */
const RESTART_MS = 5000;

const LISTS = {
  pods: ['listNamespacedPod', 'listPodForAllNamespaces'],
  configmaps: ['listNamespacedConfigMap', 'listConfigMapForAllNamespaces'],
  nodes: [undefined, 'listNode'],
};

/** The state that the handler of an update was notified of last: the library passes the new object only. */
const known = new Map();

function say(what, fields = {}) {
  process.stdout.write(`${JSON.stringify({ say: what, ...fields })}\n`);
}

function stateOf({ metadata }) {
  const key = metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
  return { key, uid: metadata.uid, resourceVersion: metadata.resourceVersion };
}

function start({ server, resource, namespace, labelSelector }) {
  const config = new KubeConfig();
  // The library refuses plain HTTP otherwise.
  config.loadFromClusterAndUser({ name: 'cluster', server, skipTLSVerify: true }, { name: 'user' });
  const core = config.makeApiClient(CoreV1Api);
  const [inNamespace, everywhere] = LISTS[resource];
  const selector = labelSelector ?? undefined;
  let hasSynced = false;

  // The library does not report that its cache is complete: it is once the first list was processed.
  const list = async () => {
    const found = namespace
      ? await core[inNamespace]({ namespace, labelSelector: selector })
      : await core[everywhere]({ labelSelector: selector });
    if (!hasSynced) {
      hasSynced = true;
      setImmediate(() => say('synced'));
    }
    return found;
  };

  const path = namespace ? `/api/v1/namespaces/${namespace}/${resource}` : `/api/v1/${resource}`;
  const informer = makeInformer(config, path, list, selector);
  informer.on('add', (object) => {
    const state = stateOf(object);
    known.set(state.key, state);
    say('added', { object: state });
  });
  informer.on('update', (object) => {
    const state = stateOf(object);
    say('updated', { old: known.get(state.key), new: state });
    known.set(state.key, state);
  });
  informer.on('delete', (object) => {
    const state = stateOf(object);
    const last = known.get(state.key);
    known.delete(state.key);
    say('deleted', { object: state, isTombstone: last?.resourceVersion === state.resourceVersion });
  });
  informer.on('error', (error) => {
    console.error(error);
    setTimeout(() => informer.start(), RESTART_MS);
  });
  informer.start();
  return informer;
}

// The dependency is pinned.
const { dependencies } = createRequire(import.meta.url)('./package.json');
const version = dependencies['@kubernetes/client-node'];
// Its handlers of updates get the new object only, whatever its uid.
say('hello', { library: '@kubernetes/client-node', version, replacesByUpdate: true });

let informer;
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  if (command.do === 'start') {
    informer = start(command);
  } else if (command.do === 'cache') {
    say('cache', { objects: informer.list().map(stateOf) });
  }
}
// A watch would keep the process alive.
process.exit();
