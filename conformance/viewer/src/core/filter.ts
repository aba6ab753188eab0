// What is shown: by kind of event, namespace and actor; and what is found.

import type { Lane } from "./lanes.js";
import type { Run } from "./run.js";
import { actorName, objectName, words } from "./words.js";

export interface Filter {
  kinds: ReadonlySet<string>;
  namespace: string | undefined;
  actor: number | undefined;
}

export const ALL: Filter = { kinds: new Set(), namespace: undefined, actor: undefined };

/** Whether an event is shown. `kinds` are those that are left out. */
export function showsEvent(run: Run, filter: Filter, number: number): boolean {
  const event = run.events[number];
  if (event === undefined || filter.kinds.has(event.k)) return false;
  if (filter.actor !== undefined && event.a !== undefined && !isOf(run, event.a, filter.actor)) return false;
  const namespace = event.o === undefined ? undefined : run.objects[event.o]?.namespace;
  return filter.namespace === undefined || event.o === undefined || namespace === filter.namespace;
}

export function showsLane(run: Run, filter: Filter, lane: Lane): boolean {
  if (lane.object !== undefined) {
    if (filter.actor !== undefined && lane.isReference !== true && !isTouched(run, lane.object, filter.actor)) return false;
    return filter.namespace === undefined || run.objects[lane.object]?.namespace === filter.namespace;
  }
  return lane.actor === undefined || filter.actor === undefined || isOf(run, lane.actor, filter.actor);
}

/** Whether an actor changed an object, asked for it, or believed something of it. */
function isTouched(run: Run, object: number, actor: number): boolean {
  if (run.versionsHeld(actor, object) > 0) return true;
  return run.events.some((event) => event.o === object && event.a !== undefined && isOf(run, event.a, actor));
}

function isOf(run: Run, actor: number, wanted: number): boolean {
  return actor === wanted || run.actors[actor]?.of === wanted;
}

/** The kinds of events that a run has, in order of their number. */
export function kindsOf(run: Run): [string, number][] {
  const counts = new Map<string, number>();
  for (const event of run.events) counts.set(event.k, (counts.get(event.k) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

export function namespacesOf(run: Run): string[] {
  return [...new Set(run.objects.flatMap((line) => line.namespace ?? []))].sort();
}

/** The events whose words contain a text, in order, among those that are shown. */
export function search(run: Run, filter: Filter, text: string): number[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const found: number[] = [];
  run.events.forEach((event, number) => {
    if (!showsEvent(run, filter, number)) return;
    const object = event.o === undefined ? "" : objectName(run, event.o);
    const line = `${event.k} ${actorName(run, event.a)} ${event.r ?? ""} ${words(run, event)} ${object}`;
    if (line.toLowerCase().includes(wanted)) found.push(number);
  });
  return found;
}
