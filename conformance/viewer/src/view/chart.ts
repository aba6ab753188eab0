// The chart with its names of lanes: draws, and follows mouse and wheel.

import type { App } from "../app.js";
import { compare } from "../core/belief.js";
import { seconds } from "../core/axis.js";
import { lastWhere } from "../core/run.js";
import type { Lane, Mark } from "../core/lanes.js";
import { Chart } from "../draw/chart.js";
import { AXIS, type Placed, SIZES, totalHeight, visible } from "../draw/layout.js";
import { type Theme, themeOf } from "../draw/theme.js";
import { byId, el } from "./dom.js";

/** A mark is hit by a click this near. */
const NEAR = 6;

export class ChartView {
  private readonly scroller = byId("lanes");
  private readonly inner = byId("lanes-inner");
  private readonly names = byId("names");
  private readonly canvas = byId("chart") as HTMLCanvasElement;
  private readonly tip = byId("tip");
  private readonly chart = new Chart(this.canvas);
  private theme: Theme = themeOf(document.documentElement);
  private dragged: { x: number; y: number; scroll: number; hasMoved: boolean } | undefined;
  private named = "";
  private made = "";
  private readonly items = new Map<Lane, HTMLElement>();

  constructor(private readonly app: App) {
    this.scroller.addEventListener("scroll", () => app.changed());
    new ResizeObserver(() => app.changed()).observe(this.scroller);
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => this.release(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("dblclick", (event) => app.zoom(0.4, this.placeAt(event.offsetX)));
    app.listen(() => this.draw());
  }

  /** Reads the colours again, and draws at once: a printer does not wait. */
  restyle(): void {
    this.theme = themeOf(document.documentElement);
    this.draw();
  }

  /** Scrolls to the lanes of events, if they are not in view. */
  reveal(events: readonly number[]): void {
    const lanes = events.flatMap((event) => this.app.laneOf(event) ?? []);
    if (lanes.length === 0) return;
    const top = Math.min(...lanes.map((lane) => lane.top));
    const bottom = Math.max(...lanes.map((lane) => lane.top + lane.height));
    const room = this.scroller.clientHeight - AXIS;
    const { scrollTop } = this.scroller;
    if (top >= scrollTop && bottom <= scrollTop + room) return;
    // What does not fit begins at its end: the first event is the one that matters.
    const first = lanes[0] as Placed;
    this.scroller.scrollTop = bottom - top <= room ? (top + bottom - room) / 2 : first.top + first.height / 2 - room / 2;
  }

  private get width(): number {
    return Math.max(50, this.scroller.clientWidth - this.names.offsetWidth);
  }

  draw(): void {
    const { app } = this;
    this.inner.style.height = `${totalHeight(app.placed) + AXIS}px`;
    this.chart.draw(
      {
        axis: app.axis,
        scale: app.scale,
        window: app.window,
        placed: app.placed,
        scroll: this.scroller.scrollTop,
        width: this.width,
        height: this.scroller.clientHeight,
        cursor: app.cursor,
        arrows: arrows(app),
        bands: bands(app),
        broken: app.run.broken.flatMap(({ at }) => (at === undefined || app.hides(at) ? [] : at)),
        shown: app.run.broken[app.promise]?.at,
        hides: (event) => app.hides(event),
        reference: app.referenceAxis,
        laneOf: (event) => app.laneOf(event),
      },
      this.theme,
    );
    this.describe();
    this.name();
  }

  /** Says in words which part of the run is shown. */
  private describe(): void {
    const { app, canvas } = this;
    const [from, to] = [app.axis.nearest(app.scale, app.window.from), app.axis.nearest(app.scale, app.window.to)];
    const part = `${app.axis.labelAt(app.scale, from)} to ${app.axis.labelAt(app.scale, to)}`;
    canvas.setAttribute("aria-label", `chart of the run, ${part}; the lanes and the panel say the same in words`);
    canvas.dataset.from = String(app.window.from);
    canvas.dataset.to = String(app.window.to);
  }

  /** Writes the names of the visible lanes, which are what a screen reader reads. */
  private name(): void {
    const { app } = this;
    const { scrollTop, clientHeight } = this.scroller;
    const shown = visible(app.placed, scrollTop - 200, scrollTop + clientHeight + 200);
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.lane : undefined;
    // A name that has the focus is there also where it is scrolled away.
    const away = app.placed.find(({ lane }) => lane.id === focused);
    if (away !== undefined && !shown.includes(away)) shown.push(away);
    // Names are made once for each state, and shown again while lanes are scrolled.
    const { namespace, actor } = app.filter;
    const made = `${app.placed.length} ${namespace} ${actor} ${app.cursor} ${app.opened?.object}`;
    if (made !== this.made) this.items.clear();
    this.made = made;
    const state = `${shown[0]?.lane.id} ${shown.length} ${made}`;
    if (state === this.named) return;
    this.named = state;
    this.names.replaceChildren(...shown.map((placed) => {
      const item = this.items.get(placed.lane) ?? this.nameOf(placed);
      this.items.set(placed.lane, item);
      return item;
    }));
    if (focused !== undefined && document.activeElement?.getAttribute("data-lane") !== focused) this.focus(focused);
  }

  private nameOf({ lane, top, height }: Placed): HTMLElement {
    const { app } = this;
    const name = el("button", {
      "type": "button",
      "class": `lane ${lane.kind}${lane.isWrong === true ? " wrong" : ""}`,
      "data-lane": lane.id,
      "aria-label": described(app, lane),
      "title": lane.title ?? lane.name,
    });
    const isOpen = lane.object !== undefined && app.opened?.object === lane.object;
    if (isOpen) name.setAttribute("aria-expanded", "true");
    if (lane.kind === "fold") name.setAttribute("aria-expanded", String(app.isUnfolded));
    name.style.top = `${top}px`;
    name.style.height = `${height}px`;
    name.style.paddingLeft = `${8 + lane.depth * 12}px`;
    name.append(el("span", { class: "lane-name" }, lane.name));
    const wrong = wrongAt(lane, app.cursor);
    if (wrong > 0) name.append(el("span", { class: "wrong count" }, `≠ ${wrong}`));
    name.addEventListener("click", () => this.choose(lane));
    const item = el("li", {}, name);
    item.setAttribute("aria-posinset", String(app.placed.findIndex((placed) => placed.lane === lane) + 1));
    item.setAttribute("aria-setsize", String(app.placed.length));
    return item;
  }

  private choose(lane: Lane): void {
    if (lane.kind === "fold") this.app.fold(this.app.isUnfolded);
    else if (lane.object !== undefined) this.app.open({ object: lane.object, isReference: lane.isReference === true });
    else if (lane.actor !== undefined) document.getElementById(`belief-${lane.actor}`)?.scrollIntoView({ block: "nearest" });
  }

  /** Moves the focus among the names of lanes. */
  moveFocus(by: number): void {
    const { placed } = this.app;
    const current = (document.activeElement as HTMLElement | null)?.dataset.lane;
    const place = placed.findIndex(({ lane }) => lane.id === current);
    const next = placed[place < 0 ? 0 : Math.min(Math.max(place + by, 0), placed.length - 1)];
    if (next !== undefined) this.focusOn(next);
  }

  /** Focuses the name of a lane, or, if it is not shown, all of them. */
  focusLane(id: string): void {
    const placed = this.app.placed.find(({ lane }) => lane.id === id);
    if (placed === undefined) this.scroller.focus({ preventScroll: true });
    else this.focusOn(placed);
  }

  private focusOn(next: Placed): void {
    const room = this.scroller.clientHeight - AXIS;
    if (next.top < this.scroller.scrollTop) this.scroller.scrollTop = next.top;
    if (next.top + next.height > this.scroller.scrollTop + room) this.scroller.scrollTop = next.top + next.height - room;
    this.name();
    this.focus(next.lane.id);
  }

  private focus(lane: string): void {
    const names = [...this.names.querySelectorAll<HTMLElement>("[data-lane]")];
    names.find((name) => name.dataset.lane === lane)?.focus({ preventScroll: true });
  }

  private placeAt(x: number): number {
    const { from, to } = this.app.window;
    return from + (x / this.width) * (to - from);
  }

  private wheel(event: WheelEvent): void {
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      this.app.zoom(1.0015 ** Math.max(-300, Math.min(300, event.deltaY)), this.placeAt(event.offsetX));
    } else if (isSideways) {
      event.preventDefault();
      this.app.pan((event.deltaX === 0 ? event.deltaY : event.deltaX) / this.width);
    }
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.dragged = { x: event.clientX, y: event.clientY, scroll: this.scroller.scrollTop, hasMoved: false };
  }

  private move(event: PointerEvent): void {
    const { dragged, app } = this;
    if (dragged === undefined) {
      this.hover(event);
      return;
    }
    const moved = event.clientX - dragged.x;
    if (!dragged.hasMoved && Math.hypot(moved, event.clientY - dragged.y) < 4) return;
    dragged.hasMoved = true;
    dragged.x = event.clientX;
    this.scroller.scrollTop = dragged.scroll - (event.clientY - dragged.y);
    app.pan(-moved / this.width);
  }

  private release(event: PointerEvent): void {
    const { dragged, app } = this;
    this.dragged = undefined;
    if (dragged === undefined || dragged.hasMoved) return;
    const hit = this.hit(event.offsetX, event.offsetY);
    if (hit === undefined || hit.mark === undefined) {
      app.go(app.axis.nearest(app.scale, this.placeAt(event.offsetX)), false);
      if (hit?.lane.object !== undefined) this.choose(hit.lane);
    } else if (hit.lane.isReference === true || hit.lane.kind === "fold") {
      this.choose(hit.lane);
    } else {
      app.go(hit.mark.from, false);
      if (hit.lane.object !== undefined) this.choose(hit.lane);
    }
  }

  private hover(event: PointerEvent): void {
    const hit = this.hit(event.offsetX, event.offsetY);
    this.canvas.classList.toggle("on-mark", hit?.mark !== undefined);
    this.tip.hidden = hit?.mark === undefined;
    if (hit?.mark === undefined) return;
    const run = hit.lane.isReference === true ? this.app.reference : this.app.run;
    this.tip.textContent = `${hit.mark.label} · ${seconds(run?.events[hit.mark.from]?.t ?? 0)}${run === this.app.run ? "" : " of the reference"}`;
    const left = Math.min(event.clientX + 12, innerWidth - this.tip.offsetWidth - 8);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${event.clientY + 14}px`;
  }

  /** The lane at a point, and the mark that is nearest to it there. */
  private hit(x: number, y: number): { lane: Lane; mark: Mark | undefined } | undefined {
    const { app } = this;
    if (y < AXIS) return undefined;
    const inPage = y - AXIS + this.scroller.scrollTop;
    const placed = app.placed[lastWhere(app.placed, (candidate) => candidate.top <= inPage)];
    if (placed === undefined || inPage >= placed.top + placed.height) return undefined;
    const row = Math.floor((inPage - placed.rows) / SIZES.row);
    const axis = placed.lane.isReference === true ? (app.referenceAxis ?? app.axis) : app.axis;
    const { from, to } = app.window;
    const toX = (event: number): number => ((axis.place(app.scale, event) - from) / (to - from)) * this.width;
    let best: Mark | undefined;
    let least = NEAR;
    for (const mark of placed.lane.marks) {
      if (mark.row !== row && placed.lane.rows > 1) continue;
      const [left, right] = [toX(mark.from), toX(mark.to)];
      // Marks at one moment win over the bar below them.
      const distance = left <= x && x <= right && mark.from !== mark.to ? NEAR - 1 : Math.abs(left - x);
      if (distance <= least && !app.hides(mark.from)) [best, least] = [mark, distance];
    }
    return { lane: placed.lane, mark: best };
  }
}

function wrongAt(lane: Lane, event: number): number {
  const lags = lane.lags ?? [];
  return lags[lastWhere(lags, (lag) => lag.event <= event)]?.wrong ?? 0;
}

/** A lane in words. */
function described(app: App, lane: Lane): string {
  if (lane.kind === "fold") return `${lane.name}, which nobody asked for or changed`;
  const parts = [lane.name, `${lane.marks.length} ${lane.marks.length === 1 ? "mark" : "marks"}`];
  if (lane.actor !== undefined && lane.lags !== undefined) {
    const wrong = compare(app.run, lane.actor, app.cursor).filter((row) => row.difference !== "equal").length;
    parts.push(wrong === 0 ? "equal to the server at the cursor" : `wrong about ${wrong} objects at the cursor`);
  }
  if (lane.object !== undefined) {
    const run = lane.isReference === true ? app.reference : app.run;
    const version = run?.versionAt(lane.object, lane.isReference === true ? run.events.length - 1 : app.cursor);
    parts.push(version === undefined ? "absent at the cursor" : `version ${version.revision} at the cursor`);
  }
  return parts.join(", ");
}

/** The arrows of the broken promise that is shown, and of what the event at the cursor was decided on. */
function arrows(app: App): { from: number; to: number }[] {
  const shown = app.run.broken[app.promise];
  const found = [];
  if (shown !== undefined) {
    const chain = [...(shown.led ?? []), ...(shown.at === undefined ? [] : [shown.at])];
    for (let place = 0; place + 1 < chain.length; place += 1) {
      found.push({ from: chain[place] as number, to: chain[place + 1] as number });
    }
  }
  for (const from of app.run.events[app.cursor]?.from ?? []) found.push({ from, to: app.cursor });
  return found;
}

function bands(app: App): { mark: Mark; actor: number | undefined }[] {
  const lane = app.placed.find((placed) => placed.lane.kind === "faults")?.lane;
  const shown = (lane?.marks ?? []).filter((mark) => !app.hides(mark.from));
  return shown.map((mark) => ({ mark, actor: app.run.events[mark.from]?.hits }));
}
