// The horizontal axis: time or revision, zoomed and panned.

import type { Landmark } from "./reference.js";
import { type Run, lastWhere } from "./run.js";

export type Scale = "time" | "revision";

/** The part of the axis that is shown, in units of the scale. */
export interface Window {
  from: number;
  to: number;
}

/** A labelled place. */
export interface Tick {
  place: number;
  label: string;
}

export class Axis {
  /** The place of each event on each scale. */
  private readonly places: Record<Scale, Float64Array>;
  readonly ends: Record<Scale, Window>;

  /** The axis of a run; that of a reference stands on the axis of another run, by what both of them did. */
  constructor(
    private readonly run: Run,
    other?: { axis: Axis; landmarks: readonly Landmark[] },
  ) {
    const own: Record<Scale, Float64Array> = { time: byTime(run), revision: byRevision(run) };
    const on = (scale: Scale): Float64Array =>
      other === undefined ? own[scale] : aligned(own[scale], other.axis.places[scale], other.landmarks);
    this.places = { time: on("time"), revision: on("revision") };
    const end = (scale: Scale): Window => ({ from: 0, to: Math.max(this.places[scale].at(-1) ?? 0, 1) });
    this.ends = { time: end("time"), revision: end("revision") };
  }

  place(scale: Scale, event: number): number {
    const places = this.places[scale];
    return places[Math.min(Math.max(event, 0), places.length - 1)] ?? 0;
  }

  /** The last event at a place, or before it. */
  eventAt(scale: Scale, place: number): number {
    const places = this.places[scale];
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((places[middle] ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The event that is nearest to a place. */
  nearest(scale: Scale, place: number): number {
    const before = Math.max(0, this.eventAt(scale, place));
    const after = Math.min(before + 1, this.places[scale].length - 1);
    const distance = (event: number): number => Math.abs(this.place(scale, event) - place);
    return distance(after) < distance(before) ? after : before;
  }

  /** The same part of the run on the other scale. */
  convert(window: Window, from: Scale, to: Scale): Window {
    const first = this.nearest(from, window.from);
    const last = this.nearest(from, window.to);
    return this.within(to, { from: this.place(to, first), to: this.place(to, Math.max(last, first + 1)) });
  }

  /** Keeps a window within the run, and wide enough to distinguish events. */
  within(scale: Scale, window: Window): Window {
    const { from: start, to: end } = this.ends[scale];
    const margin = (end - start) * 0.02;
    const least = scale === "time" ? 50 : 0.5;
    const width = Math.min(Math.max(window.to - window.from, least), end - start + 2 * margin);
    const middle = (window.from + window.to) / 2;
    const from = Math.min(Math.max(middle - width / 2, start - margin), end + margin - width);
    return { from, to: from + width };
  }

  /** The whole run. */
  whole(scale: Scale): Window {
    const { from, to } = this.ends[scale];
    const margin = (to - from) * 0.02;
    return { from: from - margin, to: to + margin };
  }

  zoomed(scale: Scale, window: Window, factor: number, around: number): Window {
    return this.within(scale, {
      from: around - (around - window.from) * factor,
      to: around + (window.to - around) * factor,
    });
  }

  panned(scale: Scale, window: Window, by: number): Window {
    return this.within(scale, { from: window.from + by, to: window.to + by });
  }

  /** The labelled places of a window, up to a number. */
  ticks(scale: Scale, window: Window, count: number): Tick[] {
    const step = niceStep((window.to - window.from) / Math.max(count, 1), scale === "revision" ? 1 : 0);
    const ticks: Tick[] = [];
    for (let place = Math.ceil(Math.max(window.from, 0) / step) * step; place <= window.to; place += step) {
      ticks.push({ place, label: scale === "time" ? seconds(place, step) : this.revision(place) });
    }
    return ticks;
  }

  /** The place of an event on a scale, in words. */
  labelAt(scale: Scale, event: number): string {
    return scale === "time" ? seconds(this.run.events[event]?.t ?? 0) : `rev ${this.run.revisionAt(event)}`;
  }

  private revision(place: number): string {
    const { revisions } = this.run;
    const made = revisions[Math.min(Math.max(Math.round(place) - 1, 0), revisions.length - 1)];
    return made === undefined ? "" : `${made.revision}`;
  }
}

function byTime(run: Run): Float64Array {
  return Float64Array.from(run.events, (event) => event.t);
}

/** Changes are at whole numbers; the events between two of them stand at equal distances. */
function byRevision(run: Run): Float64Array {
  const places = new Float64Array(run.events.length);
  const changes = run.revisions.map((made) => made.event);
  run.events.forEach((_, event) => {
    const before = lastWhere(changes, (change) => change <= event);
    const start = before < 0 ? -1 : (changes[before] ?? 0);
    const stop = changes[before + 1] ?? run.events.length;
    places[event] = before + 1 + (event - start) / Math.max(stop - start, 1);
    if (start === event) places[event] = before + 1;
  });
  return places;
}

/** The places of a reference's events on the axis of a run: its last event is at the run's end. */
function aligned(places: Float64Array, on: Float64Array, landmarks: readonly Landmark[]): Float64Array {
  const end = on.at(-1) ?? 0;
  return places.map((place, event) => {
    if (event === places.length - 1) return end;
    const before = lastWhere(landmarks, ([theirs]) => theirs <= event);
    const [from, after] = [landmarks[before], landmarks[before + 1]];
    const [left, start] = from === undefined ? [0, 0] : [places[from[0]] ?? 0, on[from[1]] ?? 0];
    // After a common event, time passes as in the other run, but not beyond the next common event.
    return Math.min(start + place - left, after === undefined ? end : (on[after[1]] ?? end));
  });
}

function niceStep(least: number, minimum: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-9)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= least) ?? power * 10;
  return Math.max(step, minimum === 0 ? 1 : Math.ceil(Math.max(step, minimum)));
}

/** A time in seconds, with as many digits as a step needs. */
export function seconds(micros: number, step = 1_000): string {
  const digits = step >= 1_000_000 ? 0 : step >= 100_000 ? 1 : step >= 10_000 ? 2 : step >= 1_000 ? 3 : 6;
  return `${(micros / 1_000_000).toFixed(digits)} s`;
}
