// The names of actors and objects, and the parts of events in words.

import type { Event } from "./format.js";
import { type Run, pairs } from "./run.js";

/** Who does it, and to whom if that is another one: the answers of a server belong to the requests of its clients. */
export function whoOf(run: Run, number: number): string {
  const event = run.events[number];
  const who = actorName(run, event?.a);
  const asker = event === undefined ? undefined : run.askedBy(event);
  return asker === undefined || asker === event?.a ? who : `${who} → ${actorName(run, asker)}`;
}

export function objectName(run: Run, object: number): string {
  const line = run.objects[object];
  if (line === undefined) return `object ${object}`;
  return `${line.resource} ${line.namespace === undefined ? "" : `${line.namespace}/`}${line.name}`;
}

export function actorName(run: Run, actor: number | undefined): string {
  return actor === undefined ? "run" : (run.actors[actor]?.name ?? `actor ${actor}`);
}

/** The objects of a flat list with their versions, each after a space; empty if there is none. */
export function versions(run: Run, list: readonly number[] | undefined, most: number): string {
  const members = pairs(list ?? []);
  return shortened(members.map(([object, revision]) => `${objectName(run, object)}@${revision}`), most);
}

export function titles(run: Run, objects: Event["gone"], most: number): string {
  return Array.isArray(objects) ? shortened(objects.map((object) => objectName(run, object)), most) : "";
}

/** The kind of a change. */
export function stateOf(event: Event): string {
  return event.gone === true ? "gone" : event.new === undefined ? "changed" : "new";
}

/** The word for a value; the value itself if there is none. */
export function choice(value: string | boolean | undefined, words: Readonly<Record<string, string>>): string {
  const name = String(value ?? "");
  return words[name] ?? name;
}

export function joined(clauses: readonly string[], otherwise: string): string {
  return clauses.filter((clause) => clause !== "").join(", ") || otherwise;
}

function shortened(items: readonly string[], most: number): string {
  const named = items.slice(0, most).map((item) => ` ${item}`).join("");
  return items.length > most ? `${named} and ${items.length - most} more` : named;
}
