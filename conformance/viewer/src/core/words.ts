// An event in words. `conformance trace` prints the same: tests/words.test.ts compares them.

import type { Event } from "./format.js";
import { type Run, pairs } from "./run.js";

/** The number of objects of a list that are named. */
const SHOWN = 6;

export function words(run: Run, event: Event): string {
  const name = event.o === undefined ? "" : objectName(run, event.o);
  const said = event.say ?? "";
  switch (event.k) {
    case "operation":
      return `${said}, answered ${event.code ?? "nothing"}`;
    case "change":
      return event.gone === true ? `${name} deleted` : event.new === undefined ? `${name} changed` : `${name} made`;
    case "request":
      return `asks ${event.q}: ${said === "" ? `${event.verb} ${name}`.trim() : said}`;
    case "answer":
      return `answers ${event.q}: ${event.code ?? "nothing"}${said === "" ? "" : `, ${said}`}`;
    case "page":
      return `lists for ${event.q}:${named(run, event.list)}${event.more === true ? ", and there is more" : ""}`;
    case "frame":
      return `sends on ${event.q}: ${event.type} ${name}`;
    case "bookmark":
      return `sends on ${event.q}: BOOKMARK${said === "" ? "" : `, ${said}`}`;
    case "end":
      return `${ENDS[event.how ?? ""] ?? event.how} ${event.q}`;
    case "belief":
      return believed(run, event);
    case "mirror":
      return `mirrors ${event.resource}${event.namespace === undefined ? "" : ` in ${event.namespace}`}${event.selector === undefined ? "" : ` with ${event.selector}`}`;
    case "notified":
      return `is told: ${name} ${event.how}${event.was === undefined ? "" : ` from ${event.was}`}${event.initial === true ? ", initially" : ""}`;
    case "start":
      return said === "" ? "starts" : said;
    case "stop":
      return said === "" ? `stops: ${event.how}` : said;
    case "fault":
      return `fault ${event.f} begins: ${said}`;
    case "heal":
      return `fault ${event.f} ends`;
    case "lead":
      return said === "" ? "leads" : said;
    case "follow":
      return said === "" ? "leads no more" : said;
    default:
      return said;
  }
}

/** Who does it, and to whom if that is another one: the answers of a server belong to the requests of its clients. */
export function whoOf(run: Run, number: number): string {
  const event = run.events[number];
  const who = actorName(run, event?.a);
  const asker = event === undefined ? undefined : run.askedBy(event);
  return asker === undefined || asker === event?.a ? who : `${who} → ${actorName(run, asker)}`;
}

const ENDS: Record<string, string> = {
  clean: "ends",
  broken: "breaks off",
  dropped: "gives up",
  refused: "refuses",
};

export function objectName(run: Run, object: number): string {
  const line = run.objects[object];
  if (line === undefined) return `object ${object}`;
  return `${line.resource} ${line.namespace === undefined ? "" : `${line.namespace}/`}${line.name}`;
}

export function actorName(run: Run, actor: number | undefined): string {
  return actor === undefined ? "run" : (run.actors[actor]?.name ?? `actor ${actor}`);
}

function named(run: Run, list: readonly number[] | undefined): string {
  const members = pairs(list ?? []);
  if (members.length === 0) return " nothing";
  const shown = members.slice(0, SHOWN).map(([object, revision]) => ` ${objectName(run, object)}@${revision}`);
  const more = members.length - shown.length;
  return shown.join("") + (more > 0 ? ` and ${more} more` : "");
}

function believed(run: Run, event: Event): string {
  const gone = Array.isArray(event.gone) ? event.gone : [];
  const parts = [];
  if ((event.set ?? []).length > 0) parts.push(`shows${named(run, event.set)}`);
  if (gone.length > 0) {
    const shown = gone.slice(0, SHOWN).map((object) => ` ${objectName(run, object)}`).join("");
    parts.push(`no longer shows${shown}${gone.length > SHOWN ? ` and ${gone.length - SHOWN} more` : ""}`);
  }
  if (event.synced !== undefined) parts.push(event.synced ? "has synced" : "has not synced");
  return parts.length === 0 ? "shows the same" : parts.join(", ");
}
