// A trace, indexed: each object's versions, each client's beliefs, and who mirrored what, by the number of the event.

import type { Decoded } from "./decode.js";
import type { Actor, Event, Json, ObjectLine } from "./format.js";
import { isRecord, merged, patched } from "./patch.js";
import { type Labels, type Matches, selector } from "./selector.js";

/** A version of an object in the server. */
export interface Version {
  event: number;
  revision: number;
  isGone: boolean;
}

/** What a client held of an object from an event on; no revision if it held none. */
export interface Held {
  event: number;
  revision: number | undefined;
}

/** A selection that a client mirrored from an event on. */
interface Mirror {
  event: number;
  /** The event by which it ended. */
  until: number;
  resource: string;
  namespace: string | undefined;
  matches: Matches;
}

export class Run {
  readonly header;
  readonly actors: readonly Actor[];
  readonly objects: readonly ObjectLine[];
  readonly events: readonly Event[];
  readonly broken;
  readonly isComplete: boolean;
  readonly unknownCount: number;
  /** The versions of each object, in order. */
  readonly versions: Version[][];
  /** The beliefs of each client, by object. */
  readonly beliefs = new Map<number, Map<number, Held[]>>();
  /** The revisions of the server, with the events that made them. */
  readonly revisions: { event: number; revision: number }[] = [];
  /** The events of each request. */
  readonly requests = new Map<number, number[]>();
  private readonly mirrors = new Map<number, Mirror[]>();
  /** Whom each fault hits, if not all. */
  private readonly hit = new Map<number, number>();
  /** The revisions up to which a client's knowledge is complete, where events say so. */
  private readonly cacheRevisions = new Map<number, Held[]>();
  private readonly contents: (Json | undefined)[][];

  constructor(decoded: Decoded) {
    this.header = decoded.header;
    this.actors = decoded.actors;
    this.objects = decoded.objects;
    this.events = decoded.events;
    this.broken = decoded.broken;
    this.isComplete = decoded.isComplete;
    this.unknownCount = decoded.unknownCount;
    this.versions = this.objects.map(() => []);
    this.contents = this.objects.map(() => []);
    this.events.forEach((event, number) => this.index(event, number));
  }

  private index(event: Event, number: number): void {
    if (event.q !== undefined) pushTo(this.requests, event.q, number);
    if (event.k === "fault" && event.f !== undefined && event.hits !== undefined) this.hit.set(event.f, event.hits);
    if (event.k === "change" && event.o !== undefined) {
      this.versions[event.o]?.push({ event: number, revision: event.r ?? 0, isGone: event.gone === true });
      this.revisions.push({ event: number, revision: event.r ?? 0 });
    } else if (event.k === "belief" && event.a !== undefined) {
      this.believe(event.a, event, number);
    } else if (event.k === "mirror" && event.a !== undefined) {
      const { resource = "", namespace } = event;
      pushTo(this.mirrors, event.a, {
        event: number,
        until: Number.POSITIVE_INFINITY,
        resource,
        namespace,
        matches: selector(event.selector),
      });
    } else if (event.k === "stop" && event.how === "crash" && event.a !== undefined) {
      this.forget(event.a, number);
    }
  }

  private believe(actor: number, event: Event, number: number): void {
    const held = this.heldBy(actor);
    pairs(event.set ?? []).forEach(([object, revision]) => pushTo(held, object, { event: number, revision }));
    const gone = Array.isArray(event.gone) ? event.gone : [];
    gone.forEach((object) => pushTo(held, object, { event: number, revision: undefined }));
    if (event.r !== undefined) pushTo(this.cacheRevisions, actor, { event: number, revision: event.r });
  }

  /** A process that has crashed knows nothing any more. */
  private forget(actor: number, number: number): void {
    for (const history of this.heldBy(actor).values()) {
      if (history.at(-1)?.revision !== undefined) history.push({ event: number, revision: undefined });
    }
    for (const mirror of this.mirrors.get(actor) ?? []) mirror.until = Math.min(mirror.until, number);
  }

  private heldBy(actor: number): Map<number, Held[]> {
    let held = this.beliefs.get(actor);
    if (held === undefined) this.beliefs.set(actor, (held = new Map()));
    return held;
  }

  /** The number of the last event at this time, or before it; -1 before the first. */
  eventAt(time: number): number {
    return lastWhere(this.events, (event) => event.t <= time);
  }

  /** The last revision of the server by an event. */
  revisionAt(number: number): number {
    return this.revisions[lastWhere(this.revisions, (made) => made.event <= number)]?.revision ?? 0;
  }

  /** The version of an object that the server had after an event; none if there was no such object. */
  versionAt(object: number, number: number): Version | undefined {
    const versions = this.versions[object] ?? [];
    const version = versions[lastWhere(versions, (made) => made.event <= number)];
    return version?.isGone === true ? undefined : version;
  }

  /** The actor that the fault of an event hits; none if it is no fault, or hits all. */
  hitBy(event: Event): number | undefined {
    return event.k === "fault" || event.k === "heal" ? this.hit.get(event.f ?? -1) : undefined;
  }

  /** The actor to whose request an event belongs, if it belongs to one. */
  askedBy(event: Event): number | undefined {
    const request = event.q === undefined ? undefined : this.events[this.requests.get(event.q)?.[0] ?? -1];
    return request?.k === "request" ? request.a : undefined;
  }

  /** The revision at which a client held an object after an event. */
  heldAt(actor: number, object: number, number: number): number | undefined {
    const history = this.beliefs.get(actor)?.get(object) ?? [];
    return history[lastWhere(history, (held) => held.event <= number)]?.revision;
  }

  /** The version that a client's cache stated of itself. */
  cacheRevisionAt(actor: number, number: number): number | undefined {
    const history = this.cacheRevisions.get(actor) ?? [];
    return history[lastWhere(history, (held) => held.event <= number)]?.revision;
  }

  /** The clients that stated beliefs, in order. */
  believers(): number[] {
    return [...new Set([...this.beliefs.keys(), ...this.mirrors.keys()])].sort((one, other) => one - other);
  }

  /** The object itself, or if nothing is known of it, another one of its name that the server had. */
  known(object: number): number {
    if ((this.versions[object] ?? []).length > 0) return object;
    const line = this.objects[object];
    const namesake = this.objects.findLast((other) =>
      other.resource === line?.resource && other.namespace === line.namespace && other.name === line.name
      && (this.versions[other.object] ?? []).length > 0,
    );
    return namesake?.object ?? object;
  }

  /** Whether a client mirrored an object, as the server had it, by an event. */
  isMirrored(actor: number, object: number, number: number): boolean {
    return this.mirroredSince(actor, object, number) !== undefined;
  }

  /** The event since which a client mirrored an object, as the server had it by an event. */
  mirroredSince(actor: number, object: number, number: number): number | undefined {
    const line = this.objects[object];
    if (line === undefined) return undefined;
    return (this.mirrors.get(actor) ?? []).find((mirror) =>
      mirror.event <= number && number < mirror.until
      && mirror.resource === line.resource
      && (mirror.namespace === undefined || mirror.namespace === line.namespace)
      && mirror.matches(this.labels(object, number)),
    )?.event;
  }

  private labels(object: number, number: number): Labels {
    const content = this.contentAt(object, number);
    const metadata = isRecord(content) ? content.metadata : undefined;
    const labels = isRecord(metadata) ? metadata.labels : undefined;
    return isRecord(labels) ? (labels as Labels) : {};
  }

  /** The content of an object after an event, or, if it was gone by then, its last one. */
  contentAt(object: number, number: number): Json | undefined {
    const versions = this.versions[object] ?? [];
    return this.content(object, lastWhere(versions, (made) => made.event <= number));
  }

  /** The content of an object's version, by its place among them. */
  content(object: number, place: number): Json | undefined {
    const contents = this.contents[object];
    if (contents === undefined || place < 0) return undefined;
    for (let next = contents.length; next <= place; next += 1) {
      contents.push(this.next(object, next, contents[next - 1]));
    }
    return contents[place];
  }

  private next(object: number, place: number, before: Json | undefined): Json | undefined {
    const event = this.events[this.versions[object]?.[place]?.event ?? -1];
    if (event === undefined || event.gone === true) return before;
    if (event.new !== undefined) return event.new;
    const after = event.merge === undefined ? patched(before ?? null, event.patch ?? []) : merged(before, event.merge);
    return merged(after, { metadata: { resourceVersion: String(event.r ?? "") } });
  }
}

/** The place of the last item for which a condition holds, which holds for a beginning of the list; -1 if for none. */
export function lastWhere<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(list[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** A list of pairs that is written flat. */
export function pairs(flat: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (let place = 0; place + 1 < flat.length; place += 2) found.push([flat[place] as number, flat[place + 1] as number]);
  return found;
}

export function pushTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
