// Two runs side by side: the objects that they leave otherwise.

import type { Json } from "./format.js";
import { withoutManagers } from "./managers.js";
import { isRecord } from "./patch.js";
import { type Run, lastWhere, pushTo } from "./run.js";

/** An object, by what is the same in both runs. */
export interface Pair {
  name: string;
  /** Its number in each run, if there is one. */
  own: number | undefined;
  other: number | undefined;
}

/** The events by which both runs made the same version of an object: one of the reference, and one of this run. */
export type Landmark = [reference: number, own: number];

/** Returns what both runs did, in the order of both. */
export function landmarks(run: Run, reference: Run): Landmark[] {
  const other = byName(reference);
  const found: Landmark[] = [];
  for (const [name, objects] of byName(run)) {
    objects.forEach((object, place) => {
      const theirs = reference.versions[other.get(name)?.[place] ?? -1] ?? [];
      (run.versions[object] ?? []).slice(0, theirs.length).forEach(({ event }, version) => {
        found.push([theirs[version]?.event ?? 0, event]);
      });
    });
  }
  return ascending(found.sort((one, another) => one[0] - another[0] || one[1] - another[1]));
}

/** The longest part of some landmarks in which both numbers ascend: what happened in another order is left out. */
function ascending(sorted: readonly Landmark[]): Landmark[] {
  /** The places of the landmarks with which parts of each length end, and that before each. */
  const ends: number[] = [];
  const before: number[] = [];
  sorted.forEach(([, own], place) => {
    const length = lastWhere(ends, (end) => (sorted[end]?.[1] ?? 0) <= own) + 1;
    before.push(ends[length - 1] ?? -1);
    ends[length] = place;
  });
  const part: Landmark[] = [];
  for (let place = ends.at(-1) ?? -1; place >= 0; place = before[place] ?? -1) part.push(sorted[place] as Landmark);
  return part.reverse();
}

/** The place of the first version of an object in which the runs differ. */
export function firstDifference(run: Run, own: number, reference: Run, other: number): number {
  const said = (from: Run, object: number, place: number): string => {
    const content = lasting(withoutManagers(from.content(object, place)) ?? null, from.objects[object]?.name ?? "");
    return JSON.stringify([from.versions[object]?.[place]?.isGone, content]);
  };
  const count = Math.min(run.versions[own]?.length ?? 0, reference.versions[other]?.length ?? 0);
  let place = 0;
  while (place < count && said(run, own, place) === said(reference, other, place)) place += 1;
  return place;
}

/** The objects whose histories differ: in their number of versions, or in what they say in the end. */
export function differing(run: Run, reference: Run): Pair[] {
  const own = byName(run);
  const other = byName(reference);
  const names = [...new Set([...own.keys(), ...other.keys()])].sort();
  const pairs: Pair[] = [];
  for (const name of names) {
    const [ours, theirs] = [own.get(name) ?? [], other.get(name) ?? []];
    for (let place = 0; place < Math.max(ours.length, theirs.length); place += 1) {
      const pair = { name, own: ours[place], other: theirs[place] };
      if (summary(run, pair.own) !== summary(reference, pair.other)) pairs.push(pair);
    }
  }
  return pairs;
}

function byName(run: Run): Map<string, number[]> {
  const objects = new Map<string, number[]>();
  for (const line of run.objects) {
    const versions = run.versions[line.object] ?? [];
    // The names of events are new in each run.
    if (versions.length === 0 || /^events(\.|$)/u.test(line.resource)) continue;
    const name = `${line.resource} ${line.namespace === undefined ? "" : `${line.namespace}/`}${lastingName(run, line.object)}`;
    pushTo(objects, name, line.object);
  }
  return objects;
}

/** The name of an object; of one that the server completed, the beginning. */
function lastingName(run: Run, object: number): string {
  const content = run.content(object, 0);
  const metadata = isRecord(content) ? content.metadata : undefined;
  const beginning = isRecord(metadata) ? metadata.generateName : undefined;
  return typeof beginning === "string" ? `${beginning}*` : (run.objects[object]?.name ?? "");
}

/** What an object came to, without what is new in every run. */
function summary(run: Run, object: number | undefined): string {
  if (object === undefined) return "";
  const versions = run.versions[object] ?? [];
  const last = versions.at(-1);
  const name = run.objects[object]?.name ?? "";
  const content = withoutManagers(run.content(object, versions.length - 1));
  return JSON.stringify([versions.length, last?.isGone, lasting(content ?? null, name)]);
}

/** Fields that the server sets differently in every run. */
const NEW_IN_EACH_RUN = new Set(["uid", "resourceVersion", "podIP", "podIPs", "hostIP", "hostIPs"]);
const TIME_OR_UID = /^\d{4}-\d\d-\d\dT[\d:.]+Z$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/u;

/** A value without times, uids and the own name. */
function lasting(value: Json, name: string): Json {
  if (Array.isArray(value)) return value.map((item) => lasting(item, name));
  if (isRecord(value)) {
    const fields = Object.entries(value).filter(([key]) => !NEW_IN_EACH_RUN.has(key));
    return Object.fromEntries(fields.map(([key, part]) => [key, lasting(part, name)]));
  }
  return typeof value === "string" && (value === name || TIME_OR_UID.test(value)) ? "" : value;
}
