// The state of the page, and what changes it.

import { Axis, type Scale, type Window } from "./core/axis.js";
import { ALL, type Filter, search, showsEvent, showsLane } from "./core/filter.js";
import type { Broken } from "./core/format.js";
import { type Lane, foldName, laneOf, lanesOf } from "./core/lanes.js";
import { landmarks } from "./core/reference.js";
import type { Run } from "./core/run.js";
import { type Placed, layout } from "./draw/layout.js";

/** An object that is open, in this run or in the reference. */
export interface Opened {
  object: number;
  isReference: boolean;
}

/** What is shown before and after an event, on each scale. */
const AROUND: Record<Scale, number> = { time: 500_000, revision: 2 };

/** The margin around the causes of a broken promise: a number of events, but at least this part of each scale. */
const NEIGHBOURS = 8;
const LEAST: Record<Scale, number> = { time: 20_000, revision: 0.5 };

export class App {
  readonly axis: Axis;
  readonly referenceAxis: Axis | undefined;
  scale: Scale = "time";
  window: Window;
  /** The event at which the page stands. */
  cursor: number;
  filter: Filter = ALL;
  query = "";
  hits: number[] = [];
  opened: Opened | undefined;
  /** The place of the broken promise that is shown. */
  promise = 0;
  placed: Placed[] = [];
  /** Whether the objects of the beginning are shown one by one. */
  isUnfolded = false;
  private readonly lanes: Lane[];
  private readonly places = new Map<Lane, Placed>();
  private readonly listeners: (() => void)[] = [];
  private isDue = false;

  constructor(
    readonly run: Run,
    readonly reference: Run | undefined,
  ) {
    this.axis = new Axis(run);
    this.referenceAxis = reference === undefined
      ? undefined
      : new Axis(reference, { axis: this.axis, landmarks: landmarks(run, reference) });
    this.lanes = lanesOf(run, reference);
    this.window = this.axis.whole(this.scale);
    this.cursor = Math.max(0, run.events.length - 1);
    this.place();
  }

  /** Calls a function with the next frame after each change. */
  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      for (const listener of this.listeners) listener();
    });
  }

  get now(): number {
    return this.run.events[this.cursor]?.t ?? 0;
  }

  /** Moves to an event; `shows` brings it into the window. */
  go(event: number, shows = true): void {
    this.cursor = Math.min(Math.max(event, 0), Math.max(this.run.events.length - 1, 0));
    const place = this.axis.place(this.scale, this.cursor);
    const width = this.window.to - this.window.from;
    const isOutside = place < this.window.from + width * 0.02 || place > this.window.to - width * 0.02;
    if (shows && isOutside) this.window = this.axis.within(this.scale, { from: place - width / 2, to: place + width / 2 });
    this.changed();
  }

  /** Moves to the last event at a time, or before it. */
  goToTime(micros: number): void {
    this.go(this.run.eventAt(micros));
  }

  /** Moves to the next shown event in a direction. */
  step(by: 1 | -1): void {
    let event = this.cursor + by;
    while (event >= 0 && event < this.run.events.length && this.hides(event)) event += by;
    if (event >= 0 && event < this.run.events.length) this.go(event);
  }

  setScale(scale: Scale): void {
    if (scale === this.scale) return;
    this.window = this.axis.convert(this.window, this.scale, scale);
    this.scale = scale;
    this.changed();
  }

  setWindow(window: Window): void {
    this.window = window;
    this.changed();
  }

  /** Whether the whole run is shown. */
  isWhole(): boolean {
    const whole = this.axis.whole(this.scale);
    return this.window.from <= whole.from && this.window.to >= whole.to;
  }

  /** Shows the surroundings of the cursor alone. */
  narrow(): void {
    const place = this.axis.place(this.scale, this.cursor);
    const half = AROUND[this.scale];
    this.setWindow(this.axis.within(this.scale, { from: place - half, to: place + half }));
  }

  zoom(factor: number, around?: number): void {
    const cursor = this.axis.place(this.scale, this.cursor);
    const { from, to } = this.window;
    const isShown = from <= cursor && cursor <= to;
    this.setWindow(this.axis.zoomed(this.scale, this.window, factor, around ?? (isShown ? cursor : (from + to) / 2)));
  }

  pan(part: number): void {
    this.setWindow(this.axis.panned(this.scale, this.window, (this.window.to - this.window.from) * part));
  }

  setFilter(change: Partial<Filter>): void {
    this.filter = { ...this.filter, ...change };
    this.place();
    this.find(this.query);
  }

  find(query: string): void {
    this.query = query;
    this.hits = search(this.run, this.filter, query);
    this.changed();
  }

  /** Moves to the next event that was found, or back to the one before. */
  nextHit(by: 1 | -1): void {
    const next = by === 1
      ? (this.hits.find((hit) => hit > this.cursor) ?? this.hits[0])
      : (this.hits.findLast((hit) => hit < this.cursor) ?? this.hits.at(-1));
    if (next !== undefined) this.go(next);
  }

  open(opened: Opened | undefined): void {
    this.opened = opened === undefined || opened.isReference ? opened : { ...opened, object: this.run.known(opened.object) };
    this.changed();
  }

  /** Shows a broken promise: its event, and those that led there. */
  showPromise(place: number): void {
    const { broken } = this.run;
    if (broken.length === 0) return;
    this.promise = (place + broken.length) % broken.length;
    const shown = broken[this.promise];
    // A promise about the end of the run is seen where it was decided.
    const at = shown?.at ?? shown?.led?.at(-1) ?? this.run.events.length - 1;
    const events = [at, ...(shown?.led ?? [])];
    const [first, last] = [Math.min(...events), Math.max(...events)];
    this.window = this.around(first, last);
    this.cursor = at;
    this.changed();
  }

  /** The events of a broken promise, in order: those that led there, and the one that shows it. */
  eventsOf(broken: Broken): number[] {
    return [...(broken.led ?? []), ...(broken.at === undefined ? [] : [broken.at])];
  }

  /** The window of some events, with a margin in which there are others, if there are any near. */
  private around(first: number, last: number): Window {
    const { axis, scale } = this;
    const [from, to] = [axis.place(scale, first), axis.place(scale, last)];
    const near = [from - axis.place(scale, first - NEIGHBOURS), axis.place(scale, last + NEIGHBOURS) - to];
    const margin = Math.max((to - from) * 0.35, Math.min(...near.filter((distance) => distance > 0), AROUND[scale]), LEAST[scale]);
    return axis.within(scale, { from: from - margin, to: to + margin });
  }

  hides(event: number): boolean {
    return this.filter !== ALL && !showsEvent(this.run, this.filter, event);
  }

  /** The lane of an event, if it is shown. */
  laneOf(event: number): Placed | undefined {
    const line = this.run.events[event];
    const lane = line === undefined ? undefined : this.lanes[laneOf(this.run, this.lanes, line)];
    if (lane === undefined) return undefined;
    return this.places.get(lane) ?? (lane.isFolded === true ? this.placed.find((placed) => placed.lane.kind === "fold") : undefined);
  }

  /** Shows the objects of the beginning one by one, or folds them. */
  fold(isFolded: boolean): void {
    this.isUnfolded = !isFolded;
    this.place();
  }

  private place(): void {
    const lanes = this.lanes.filter((lane) => showsLane(this.run, this.filter, lane));
    const folded = lanes.filter((lane) => lane.isFolded === true).length;
    for (const lane of lanes) if (lane.kind === "fold") lane.name = foldName(folded);
    const shown = lanes.filter((lane) => (lane.kind === "fold" ? folded > 0 : lane.isFolded !== true || this.isUnfolded));
    this.placed = layout(shown);
    this.places.clear();
    for (const placed of this.placed) this.places.set(placed.lane, placed);
    this.changed();
  }
}
