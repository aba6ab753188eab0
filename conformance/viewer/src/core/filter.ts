// What is shown: by kind of event, namespace and actor; and what is found.

import type { Event } from "./format.js";
import type { Lane } from "./lanes.js";
import { type Run, pairs } from "./run.js";
import { objectName, whoOf } from "./names.js";
import { words } from "./words.js";

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
  if (filter.actor !== undefined && !concerns(run, event, filter.actor)) return false;
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

/** Whether an event is one of an actor, or of what answers it, or changes an object that it has to do with. */
function concerns(run: Run, event: Event, actor: number): boolean {
  const hit = run.hitBy(event);
  if (hit !== undefined) return isOf(run, hit, actor) || isOf(run, actor, hit);
  if (event.a === undefined || isOf(run, event.a, actor) || isOf(run, run.askedBy(event) ?? event.a, actor)) return true;
  return event.k === "change" && event.o !== undefined && isTouched(run, event.o, actor);
}

/** Whether an actor asked for an object, was sent it, or believed something of it. */
function isTouched(run: Run, object: number, actor: number): boolean {
  return touchedBy(run, actor).has(object);
}

/** The objects that actors have to do with, once they were looked for. */
const TOUCHED = new WeakMap<Run, Map<number, ReadonlySet<number>>>();

function touchedBy(run: Run, actor: number): ReadonlySet<number> {
  const known = TOUCHED.get(run) ?? new Map<number, ReadonlySet<number>>();
  TOUCHED.set(run, known);
  const found = known.get(actor);
  if (found !== undefined) return found;
  const touched = new Set<number>();
  for (const event of run.events) {
    const asker = run.askedBy(event) ?? event.a;
    if (asker === undefined || !isOf(run, asker, actor)) continue;
    if (event.o !== undefined) touched.add(event.o);
    for (const [object] of pairs([...(event.set ?? []), ...(event.list ?? [])])) touched.add(object);
  }
  known.set(actor, touched);
  return touched;
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
    const line = `${event.k} ${whoOf(run, number)} ${event.r ?? ""} ${words(run, event)} ${object}`;
    if (line.toLowerCase().includes(wanted)) found.push(number);
  });
  return found;
}
