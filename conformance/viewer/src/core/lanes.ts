// The lanes of the chart, and the marks on them.

import type { Event } from "./format.js";
import { type Lag, lag } from "./belief.js";
import { differing, firstDifference } from "./reference.js";
import { type Run, pushTo } from "./run.js";
import { actorName, objectName } from "./names.js";

/** What a mark looks like; `theme.ts` has the colours. */
export const LOOKS = [
  "change", "life", "terminated", "operation", "ok", "refused", "failed", "open", "watch", "page", "frame", "notified",
  "note", "fault", "gap", "crash", "lead", "missing",
] as const;
export type Look = (typeof LOOKS)[number];

/** From an event to another, or at one event. */
export interface Mark {
  from: number;
  to: number;
  look: Look;
  label: string;
  /** The row within the lane. */
  row: number;
}

export type LaneKind = "revisions" | "faults" | "leaders" | "actor" | "object" | "fold";

export interface Lane {
  kind: LaneKind;
  id: string;
  name: string;
  /** The whole name, if that is longer. */
  title?: string;
  depth: number;
  rows: number;
  actor?: number;
  object?: number;
  /** In the order of their beginnings. */
  marks: Mark[];
  /** True if the marks are events of the reference run. */
  isReference?: boolean;
  /** True if the lane shows what differs from the reference. */
  isWrong?: boolean;
  /** True if the lane is one of those that stand for an object of the beginning, which are shown together or not at all. */
  isFolded?: boolean;
  /** How far behind the client of the lane was. */
  lags?: Lag[];
}

/** The lanes of a run; with a reference, the rows that differ stand before the objects. */
export function lanesOf(run: Run, reference?: Run): Lane[] {
  const differing = reference === undefined ? [] : lanesOfReference(run, reference);
  const lanes = [revisions(run), ...faults(run), ...leaders(run), ...actors(run), ...differing, ...objects(run)];
  for (const lane of lanes) lane.marks.sort((one, other) => one.from - other.from);
  return lanes;
}

/** The lanes of objects that two runs leave otherwise: that of the reference below that of this run. */
export function lanesOfReference(run: Run, reference: Run): Lane[] {
  return differing(run, reference).flatMap(({ name, own, other }, place): Lane[] => {
    const lane = { kind: "object", rows: 1 } as const;
    const differs = { ...lane, id: `differs ${place}`, depth: 0, isWrong: true };
    const counterpart = { ...lane, id: `reference ${place}`, name: `reference: ${name}`, depth: 1 };
    // An object that is in one run only is missing in the other one from the moment on at which it was made.
    if (own === undefined) {
      const missing = [absent(reference, other, "missing in this run")];
      const theirs = other === undefined ? [] : life(reference, other);
      return [
        { ...differs, name: `missing: ${name}`, isReference: true, marks: missing },
        { ...counterpart, isReference: true, marks: theirs, ...(other === undefined ? {} : { object: other }) },
      ];
    }
    const ours = life(run, own);
    if (other === undefined) {
      return [
        { ...differs, name: `surplus: ${name}`, isReference: false, object: own, marks: ours },
        { ...counterpart, isReference: false, marks: [absent(run, own, "missing in the reference")] },
      ];
    }
    const first = run.versions[own]?.[firstDifference(run, own, reference, other)];
    const mark = point(first?.event ?? run.events.length - 1, "failed", first === undefined ? "the reference goes on" : "differs from here on");
    return [
      { ...differs, name: `differs: ${name}`, isReference: false, object: own, marks: [...ours, mark] },
      { ...counterpart, isReference: true, object: other, marks: life(reference, other) },
    ];
  });
}

/** The time from which on an object was in a run, and is missing in the other one. */
function absent(run: Run, object: number | undefined, label: string): Mark {
  const from = run.versions[object ?? -1]?.[0]?.event ?? 0;
  return { from, to: run.events.length - 1, look: "missing", label, row: 0 };
}

/** The lane on which an event is a mark. */
export function laneOf(run: Run, lanes: readonly Lane[], event: Event): number {
  const is = (holds: (lane: Lane) => boolean): number => lanes.findIndex(holds);
  if (event.k === "change") return is((lane) => lane.kind === "object" && lane.isReference === undefined && lane.object === event.o);
  if (event.k === "fault" || event.k === "heal") return is((lane) => lane.kind === "faults");
  // What the server sends is a mark of the request that it answers.
  const actor = run.askedBy(event) ?? event.a;
  const own = is((lane) => lane.kind === "actor" && lane.actor === actor);
  return own < 0 ? 0 : own;
}

function revisions(run: Run): Lane {
  const marks = run.revisions.map(({ event, revision }) => point(event, "change", `revision ${revision}`));
  return { kind: "revisions", id: "revisions", name: "revisions", depth: 0, rows: 1, marks };
}

/** The faults as marks, which are bands as well: a row for each of those that overlap. */
function faults(run: Run): Lane[] {
  const marks: Mark[] = [];
  const open = new Map<number, Mark>();
  run.events.forEach((event, number) => {
    if (event.k === "fault") {
      const row = firstFree([...open.values()].map((mark) => mark.row));
      const mark = { from: number, to: run.events.length - 1, look: "fault" as const, label: event.say ?? "fault", row };
      marks.push(mark);
      open.set(event.f ?? -1, mark);
    } else if (event.k === "heal") {
      const mark = open.get(event.f ?? -1);
      if (mark !== undefined) mark.to = number;
      open.delete(event.f ?? -1);
    }
  });
  const rows = Math.max(1, ...marks.map((mark) => mark.row + 1));
  return marks.length === 0 ? [] : [{ kind: "faults", id: "faults", name: "faults", depth: 0, rows, marks }];
}

function firstFree(taken: readonly number[]): number {
  let row = 0;
  while (taken.includes(row)) row += 1;
  return row;
}

function leaders(run: Run): Lane[] {
  const marks: Mark[] = [];
  const open = new Map<number, Mark>();
  run.events.forEach((event, number) => {
    if (event.a === undefined) return;
    if (event.k === "lead") {
      if (open.has(event.a)) return;
      const row = firstFree([...open.values()].map((mark) => mark.row));
      const label = `${actorName(run, event.a)} leads`;
      const mark = { from: number, to: run.events.length - 1, look: "lead" as const, label, row };
      marks.push(mark);
      open.set(event.a, mark);
    } else if (event.k === "follow" || event.k === "stop") {
      const mark = open.get(event.a);
      if (mark !== undefined) mark.to = number;
      open.delete(event.a);
    }
  });
  const rows = Math.max(1, ...marks.map((mark) => mark.row + 1));
  return marks.length === 0 ? [] : [{ kind: "leaders", id: "leaders", name: "leadership", depth: 0, rows, marks }];
}

/** Rows of an actor's lane. */
const [REQUESTS, WATCHES, EVENTS] = [0, 1, 2];

function actors(run: Run): Lane[] {
  const believers = new Set(run.believers());
  const marks = new Map<number, Mark[]>();
  for (const [request, events] of run.requests) askedFor(run, request, events, marks);
  const stopped = new Map<number, Mark>();
  run.events.forEach((event, number) => {
    if (event.a === undefined) return;
    for (const mark of momentary(run, event, number)) pushTo(marks, event.a, mark);
    if (event.k === "stop") {
      const before = stopped.get(event.a);
      // A pause within a pause is the same one; a crash ends it.
      if (before !== undefined && event.how === "pause") return;
      if (before !== undefined) before.to = number;
      const mark: Mark = {
        from: number,
        to: run.events.length - 1,
        look: event.how === "crash" ? "crash" : "gap",
        label: event.say ?? event.how ?? "stops",
        row: REQUESTS,
      };
      stopped.set(event.a, mark);
      pushTo(marks, event.a, mark);
    } else if (event.k === "start") {
      const mark = stopped.get(event.a);
      if (mark !== undefined) mark.to = number;
      stopped.delete(event.a);
    }
  });
  const lanes: Lane[] = [];
  const add = (actor: number, depth: number): void => {
    const own = marks.get(actor) ?? [];
    if (own.length > 0 || believers.has(actor)) {
      const asks = own.some((mark) => mark.row === WATCHES || ["ok", "refused", "failed", "open"].includes(mark.look));
      const lane: Lane = {
        kind: "actor",
        id: `actor ${actor}`,
        name: actorName(run, actor),
        depth,
        rows: asks ? 3 : 1,
        actor,
        marks: own,
      };
      if (lane.rows === 1) for (const mark of own) mark.row = 0;
      if (believers.has(actor)) lane.lags = lag(run, actor);
      lanes.push(lane);
    }
    for (const other of run.actors) if (other.of === actor) add(other.actor, depth + 1);
  };
  for (const actor of run.actors) if (actor.of === undefined) add(actor.actor, 0);
  return lanes;
}

/** A request: a bar until its answer, and, if it is a watch, until its end. */
function askedFor(run: Run, request: number, events: readonly number[], marks: Map<number, Mark[]>): void {
  const first = run.events[events[0] ?? -1];
  if (first?.k !== "request" || first.a === undefined || events[0] === undefined) return;
  const rest = events.slice(1).map((number) => ({ number, event: run.events[number] as Event }));
  const answer = rest.find(({ event }) => event.k === "answer");
  const end = rest.find(({ event }) => event.k === "end");
  const last = rest.at(-1)?.number ?? run.events.length - 1;
  const isWatch = first.verb === "watch";
  const code = answer?.event.code ?? (end?.event.how === "refused" ? undefined : 200);
  const isAnswered = answer !== undefined || rest.length > 0;
  const isBroken = end?.event.how === "broken";
  const look: Look = !isAnswered ? "open" : code === undefined || (isBroken && !isWatch) ? "failed" : code >= 400 ? "refused" : "ok";
  const label = `${first.verb} ${request}: ${first.say ?? (first.o === undefined ? "" : objectName(run, first.o))} ${answer?.event.code ?? ""}`;
  pushTo(marks, first.a, {
    from: events[0],
    to: isWatch ? (answer?.number ?? rest[0]?.number ?? last) : last,
    look,
    label,
    row: REQUESTS,
  });
  if (isWatch && look === "ok") {
    const to = end?.number ?? run.events.length - 1;
    pushTo(marks, first.a, { from: events[0], to, look: "watch", label, row: WATCHES });
    if (isBroken) pushTo(marks, first.a, point(to, "failed", `${label} broke off`, WATCHES));
  }
  for (const { number, event } of rest) {
    if (event.k === "page") pushTo(marks, first.a, point(number, "page", `page of ${request}`, REQUESTS));
    if (["frame", "bookmark"].includes(event.k)) {
      pushTo(marks, first.a, point(number, "frame", event.type ?? "BOOKMARK", WATCHES));
    }
  }
}

/** The marks of what an actor did at one moment. */
function momentary(run: Run, event: Event, number: number): Mark[] {
  const name = event.o === undefined ? "" : objectName(run, event.o);
  switch (event.k) {
    case "operation":
      return [point(number, (event.code ?? 500) < 400 ? "operation" : "refused", event.say ?? "", EVENTS)];
    case "notified":
      return [point(number, "notified", `${name} ${event.how}`, EVENTS)];
    case "note":
    case "phase":
      return [point(number, "note", event.say ?? "", EVENTS)];
    default:
      return [];
  }
}

function point(event: number, look: Look, label: string, row = 0): Mark {
  return { from: event, to: event, look, label, row };
}

/** So many objects of the beginning, to which nothing happened, are shown one by one. */
const UNFOLDED = 3;

/** The objects, each after its owner. What was made before the run and has no part in it is folded. */
function objects(run: Run): Lane[] {
  const owned = new Map<number, number[]>();
  for (const line of run.objects) if (line.owner !== undefined) pushTo(owned, line.owner, line.object);
  const lanes: Lane[] = [];
  const add = (object: number, depth: number, isFolded: boolean): void => {
    lanes.push({
      kind: "object",
      ...(isFolded ? { isFolded } : {}),
      id: `object ${object}`,
      // Groups take the room that names need.
      name: objectName(run, object).replace(/^(\w+)\.\S+/, "$1"),
      title: objectName(run, object),
      depth,
      rows: 1,
      object,
      marks: life(run, object),
    });
    for (const other of owned.get(object) ?? []) add(other, depth + 1, isFolded);
  };
  const roots = run.objects.filter((line) => line.owner === undefined).map((line) => line.object);
  const key = (object: number): string => {
    const line = run.objects[object];
    return `${line?.namespace ?? ""}\u0000${line?.resource}\u0000${line?.name}`;
  };
  // What clients did something to comes first, and what nothing happened to comes last.
  const asked = new Set(run.events.flatMap((event) => (event.o === undefined || run.actors[event.a ?? -1]?.role === "server" ? [] : [event.o])));
  const isAsked = (object: number): boolean => asked.has(object) || (owned.get(object) ?? []).some(isAsked);
  const start = startOf(run);
  const isAlive = (object: number): boolean => isLively(run, object, start) || (owned.get(object) ?? []).some(isAlive);
  const ranks = new Map(roots.map((object) => [object, isAsked(object) ? 0 : isAlive(object) ? 1 : 2]));
  const rank = (object: number): number => ranks.get(object) ?? 0;
  roots.sort((one, other) => rank(one) - rank(other) || (key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : one - other));
  const shown = roots.filter((root) => (run.versions[root] ?? []).length > 0 || owned.has(root));
  const folds = shown.filter((root) => rank(root) === 2).length > UNFOLDED;
  for (const root of shown) add(root, 0, folds && rank(root) === 2);
  return folds ? withFold(run, lanes) : lanes;
}

/** Puts a lane that stands for the folded ones before them. */
function withFold(run: Run, lanes: Lane[]): Lane[] {
  const first = lanes.findIndex((lane) => lane.isFolded === true);
  const folded = lanes.slice(first);
  const from = Math.min(...folded.map((lane) => lane.marks[0]?.from ?? run.events.length - 1));
  const mark: Mark = { from, to: run.events.length - 1, look: "life", label: "since the start", row: 0 };
  const fold: Lane = { kind: "fold", id: "fold", name: foldName(folded.length), depth: 0, rows: 1, marks: [mark] };
  return [...lanes.slice(0, first), fold, ...folded];
}

/** The name of the lane that stands for a number of others. */
export function foldName(count: number): string {
  return `${count} objects of the start`;
}

/** The event with which a run begins, after what was made for it: the first one of the harness, if it has one. */
function startOf(run: Run): number {
  return run.events.findIndex((event) => run.actors[event.a ?? -1]?.role === "harness" && event.k !== "start");
}

/** Whether an object was changed after the beginning, or a client held it. */
function isLively(run: Run, object: number, start: number): boolean {
  const versions = run.versions[object] ?? [];
  const isOfStart = (versions.at(-1)?.event ?? 0) < start;
  const isChanged = versions.length > 1 || (run.events[versions[0]?.event ?? 0]?.t ?? 0) > 0;
  return (isChanged && !isOfStart) || [...run.beliefs.values()].some((held) => held.has(object));
}

/** The versions of an object: bars from each to the next. */
function life(run: Run, object: number): Mark[] {
  const versions = run.versions[object] ?? [];
  return versions.flatMap((version, place): Mark[] => {
    const { event, revision, isGone } = version;
    if (isGone) return [point(event, "terminated", `deleted at ${revision}`)];
    const to = versions[place + 1]?.event ?? run.events.length - 1;
    return [{ from: event, to, look: "life", label: `version ${revision}`, row: 0 }];
  });
}
