// Belief against truth: what a client held beside what the server had, and how far behind it was.

import type { Event } from "./format.js";
import { type Run, pairs } from "./run.js";

/** How a client's belief about an object differs from the truth. */
export type Difference = "equal" | "stale" | "missing" | "surplus" | "ahead";

/** The sign of each difference, which needs no colour. */
export const SIGNS: Record<Difference, string> = { equal: "=", stale: "≠", missing: "−", surplus: "+", ahead: "!" };

export interface Row {
  object: number;
  truth: number | undefined;
  belief: number | undefined;
  difference: Difference;
  /** For a difference: how many revisions of the server, and how many microseconds ago, the belief ceased to be true. */
  behind: number;
  age: number;
}

/** A client's belief about each object that it held, or mirrors, after an event; differences first. */
export function compare(run: Run, actor: number, event: number): Row[] {
  const rows: Row[] = [];
  const now = run.events[event]?.t ?? 0;
  for (let object = 0; object < run.objects.length; object += 1) {
    const belief = run.heldAt(actor, object, event);
    const version = run.versionAt(object, event);
    const truth = version !== undefined && run.isMirrored(actor, object, event) ? version.revision : undefined;
    if (truth === undefined && belief === undefined) continue;
    const difference = differ(truth, belief);
    const changed = difference === "equal" ? undefined : ceasedToBeTrue(run, object, belief, event);
    const since = changed === undefined ? undefined : notBefore(run, changed, run.mirroredSince(actor, object, event));
    rows.push({
      object,
      truth,
      belief,
      difference,
      behind: since === undefined ? 0 : Math.max(0, run.revisionAt(event) - since.revision + 1),
      age: since === undefined ? 0 : now - (run.events[since.event]?.t ?? now),
    });
  }
  const rank = (row: Row): number => (row.difference === "equal" ? 1 : 0);
  return rows.sort((one, other) => rank(one) - rank(other) || other.age - one.age);
}

function differ(truth: number | undefined, belief: number | undefined): Difference {
  if (truth === belief) return "equal";
  if (belief === undefined) return "missing";
  if (truth === undefined) return "surplus";
  return belief < truth ? "stale" : "ahead";
}

/** The change of the object by which a belief ceased to be true: the first one after the believed version. */
function ceasedToBeTrue(
  run: Run,
  object: number,
  belief: number | undefined,
  event: number,
): { event: number; revision: number } | undefined {
  const versions = (run.versions[object] ?? []).filter((version) => version.event <= event);
  if (belief !== undefined) return versions.find((version) => version.revision > belief) ?? versions.at(-1);
  // It has been there, unknown, since it was made: since the first version after it was last gone.
  let since = versions.at(-1);
  for (const version of [...versions].reverse()) {
    if (version.isGone) break;
    since = version;
  }
  return since;
}

/** The later of a change and the beginning of a mirror: before that, a client could not be wrong. */
function notBefore(
  run: Run,
  change: { event: number; revision: number },
  mirror: number | undefined,
): { event: number; revision: number } {
  if (mirror === undefined || mirror <= change.event) return change;
  return { event: mirror, revision: run.revisionAt(mirror) };
}

/** From an event on, a client was so far behind. */
export interface Lag {
  event: number;
  /** The number of objects about which it was wrong. */
  wrong: number;
}

/**
 * How many objects a client was wrong about, all along: a step at each event that changed it. Objects that enter a
 * selection are found with the change of their labels.
 */
export function lag(run: Run, actor: number): Lag[] {
  const held = new Map<number, number>();
  const wrong = new Set<number>();
  const lags: Lag[] = [{ event: 0, wrong: 0 }];
  run.events.forEach((event, number) => {
    const touched = touchedBy(run, actor, event, held);
    for (const object of touched) {
      const version = run.versionAt(object, number);
      const truth = version !== undefined && run.isMirrored(actor, object, number) ? version.revision : undefined;
      if (truth === held.get(object)) wrong.delete(object);
      else wrong.add(object);
    }
    if (wrong.size !== lags.at(-1)?.wrong) lags.push({ event: number, wrong: wrong.size });
  });
  return lags;
}

/** Applies an event to what a client holds, and returns the objects about which it may be wrong, or right, by now. */
function touchedBy(run: Run, actor: number, event: Event, held: Map<number, number>): Iterable<number> {
  if (event.k === "change") return event.o === undefined ? [] : [event.o];
  if (event.a !== actor) return [];
  if (event.k === "belief") {
    const set = pairs(event.set ?? []);
    const gone = Array.isArray(event.gone) ? event.gone : [];
    set.forEach(([object, revision]) => held.set(object, revision));
    gone.forEach((object) => held.delete(object));
    return [...set.map(([object]) => object), ...gone];
  }
  const isCrash = event.k === "stop" && event.how === "crash";
  if (isCrash) held.clear();
  // Another selection concerns all objects.
  return isCrash || event.k === "mirror" ? run.objects.keys() : [];
}
