// Events in words, written by `REWRITE=1 cargo test -p tracefile words` of the table in tracefile/src/words/mod.rs.

import type { Event } from "./format.js";
import { choice, joined, objectName, stateOf, titles, versions } from "./names.js";
import type { Run } from "./run.js";

/** The number of objects of a list that are named. */
const NAMED_MAX = 6;

export function words(run: Run, event: Event): string {
  const name = event.o === undefined ? "" : objectName(run, event.o);
  const say = event.say ?? "";
  switch (event.k) {
    case "operation":
      return `${say}, answered ${event.code}`;
    case "change":
      return `${name} ${choice(stateOf(event), { new: "made", gone: "deleted", changed: "changed" })}`;
    case "request":
      return `asks ${event.q}: ${say !== "" ? say : `${event.verb}${name !== "" ? ` ${name}` : ""}`}`;
    case "answer":
      return `answers ${event.q}: ${event.code !== undefined ? event.code : `nothing`}${say !== "" ? `, ${say}` : ""}`;
    case "page":
      return `lists for ${event.q}:${versions(run, event.list, NAMED_MAX) !== "" ? versions(run, event.list, NAMED_MAX) : ` nothing`}${event.more === true ? `, and there is more` : ""}`;
    case "frame":
      return `sends on ${event.q}: ${event.type} ${name}`;
    case "bookmark":
      return `sends on ${event.q}: BOOKMARK${say !== "" ? `, ${say}` : ""}`;
    case "end":
      return `${choice(event.how, { clean: "ends", broken: "breaks off", dropped: "gives up", refused: "refuses" })} ${event.q}`;
    case "belief":
      return `${joined([`${versions(run, event.set, NAMED_MAX) !== "" ? `shows${versions(run, event.set, NAMED_MAX)}` : ""}`, `${titles(run, event.gone, NAMED_MAX) !== "" ? `no longer shows${titles(run, event.gone, NAMED_MAX)}` : ""}`, `${event.synced !== undefined ? `${choice(event.synced, { true: "has synced", false: "has not synced" })}` : ""}`], "shows the same")}`;
    case "mirror":
      return `mirrors ${event.resource}${event.namespace !== undefined ? ` in ${event.namespace}` : ""}${event.selector !== undefined ? ` with ${event.selector}` : ""}`;
    case "notified":
      return `is told: ${name} ${event.how}${event.was !== undefined ? ` from ${event.was}` : ""}${event.initial === true ? `, initially` : ""}`;
    case "start":
      return `${say !== "" ? say : `starts`}`;
    case "stop":
      return `${say !== "" ? say : `stops: ${event.how}`}`;
    case "fault":
      return `fault ${event.f} begins: ${say}`;
    case "heal":
      return `fault ${event.f} ends`;
    case "lead":
      return `${say !== "" ? say : `leads`}`;
    case "follow":
      return `${say !== "" ? say : `leads no more`}`;
    default:
      return say;
  }
}
