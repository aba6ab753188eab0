// A large trace, as a cluster of pods makes it: three clients and their handlers are notified of each change.

export function large(count: number): string {
  const lines: object[] = [
    { format: "conformance-trace", version: "1.0", program: "viewer", title: "50,000 events", seed: 1 },
    { actor: 0, name: "server", role: "server" },
    ...[0, 1, 2].flatMap((client) => [
      { actor: 1 + 2 * client, name: `informer ${client}`, role: "client" },
      { actor: 2 + 2 * client, name: `handler ${client}.0`, role: "handler", of: 1 + 2 * client },
    ]),
    ...[0, 1, 2].flatMap((client) => [
      { t: 0, a: 1 + 2 * client, k: "mirror", resource: "pods" },
      { t: 0, a: 1 + 2 * client, k: "request", q: client, verb: "watch", say: 'watch from "1"' },
      { t: 0, a: 0, k: "answer", q: client, code: 200 },
    ]),
  ];
  const known = new Set<number>();
  let events = 9;
  for (let revision = 2; events < count; revision += 1) {
    const object = revision % 400;
    const t = revision * 1_250;
    // The objects are numbered in the order in which they come.
    const number = (object + 398) % 400;
    if (!known.has(number)) {
      known.add(number);
      const [namespace, name] = [`namespace-${number % 7}`, `web-${number}`];
      lines.push({ object: number, kind: "Pod", resource: "pods", namespace, name, uid: `uid-${number}` });
      lines.push({ t, a: 0, k: "change", o: number, r: revision, new: { metadata: { name, namespace, labels: { app: "web" } }, status: { phase: "Pending" } } });
    } else {
      lines.push({ t, a: 0, k: "change", o: number, r: revision, merge: { status: { phase: revision % 2 === 0 ? "Running" : "Pending", restarts: revision } } });
    }
    events += 1;
    for (let client = 0; client < 3; client += 1) {
      const late = t + 300 + client * 200;
      lines.push({ t: late, a: 0, k: "frame", q: client, type: "MODIFIED", o: number, r: revision });
      lines.push({ t: late, a: 1 + 2 * client, k: "belief", r: revision, set: [number, revision] });
      lines.push({ t: late, a: 2 + 2 * client, k: "notified", o: number, r: revision, how: "updated", was: Math.max(1, revision - 400) });
      events += 3;
    }
  }
  lines.push({ broken: "snapshots", says: "cache 0 is not the state at its version", expected: "a cache holds exactly the state at its version", at: Math.floor(events / 2), led: [Math.floor(events / 2) - 3] });
  lines.push({ end: events });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}
