// Draws the lanes that are visible, and of these the marks that are.

import type { Axis, Scale, Tick, Window } from "../core/axis.js";
import { type Lane, LOOKS, type Look, type Mark } from "../core/lanes.js";
import { lastWhere } from "../core/run.js";
import { AXIS, type Placed, SIZES, fitting, visible } from "./layout.js";
import type { Theme } from "./theme.js";

const LOOK_COUNT = LOOKS.length;
const LOOK_NUMBERS = Object.fromEntries(LOOKS.map((look, number) => [look, number])) as Record<Look, number>;

/** What is hatched: nothing is there. */
const HATCHED: ReadonlySet<Look> = new Set(["gap", "crash", "missing"]);

/** The width of most letters. */
const LETTER = 6;

/** All that a picture is made of. */
export interface Scene {
  axis: Axis;
  scale: Scale;
  window: Window;
  placed: readonly Placed[];
  scroll: number;
  width: number;
  height: number;
  cursor: number;
  /** The events between which arrows are drawn. */
  arrows: readonly { from: number; to: number }[];
  /** The faults, with the lanes that each hits; all if none is named. */
  bands: readonly { mark: Mark; actor: number | undefined }[];
  /** The events that show broken promises, and the one that is looked at. */
  broken: readonly number[];
  shown: number | undefined;
  hides: ((event: number) => boolean) | undefined;
  /** The axis of the reference run, whose lanes stand beside those of this one. */
  reference: Axis | undefined;
  laneOf: (event: number) => Placed | undefined;
}

export class Chart {
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) throw new Error("the browser has no canvas");
    this.context = context;
  }

  draw(scene: Scene, theme: Theme): void {
    this.resize(scene);
    const { context } = this;
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, scene.width, scene.height);
    context.save();
    context.beginPath();
    context.rect(0, AXIS, scene.width, scene.height - AXIS);
    context.clip();
    const shown = visible(scene.placed, scene.scroll, scene.scroll + scene.height - AXIS);
    shown.forEach((placed, place) => this.stripe(scene, theme, placed, place));
    const ticks = scene.axis.ticks(scene.scale, scene.window, scene.width / 110);
    context.fillStyle = theme.line;
    for (const { place } of ticks) context.fillRect(toX(scene, place), AXIS, 1, scene.height);
    this.bands(scene, theme, shown);
    for (const placed of shown) this.lane(scene, theme, placed);
    this.promises(scene, theme);
    this.arrows(scene, theme);
    context.restore();
    this.scales(scene, theme, ticks);
    this.cursor(scene, theme);
  }

  private resize({ width, height }: Scene): void {
    const ratio = globalThis.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      this.canvas.width = wide;
      this.canvas.height = high;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.font = "11px system-ui, sans-serif";
    this.context.textBaseline = "middle";
  }

  private stripe(scene: Scene, theme: Theme, { top, height, lane }: Placed, place: number): void {
    const y = top - scene.scroll + AXIS;
    this.context.fillStyle = place % 2 === 0 || lane.kind === "object" ? theme.ground : theme.stripe;
    this.context.fillRect(0, y, scene.width, height);
    this.context.fillStyle = theme.line;
    this.context.fillRect(0, y + height - 1, scene.width, 1);
  }

  /** Shades what faults hit, with lines that need no colour. */
  private bands(scene: Scene, theme: Theme, shown: readonly Placed[]): void {
    const { context } = this;
    const spans = scene.bands
      .map(({ mark, actor }) => ({ actor, left: x(scene, mark.from), right: Math.max(x(scene, mark.to), x(scene, mark.from) + 2) }))
      .filter(({ left, right }) => right >= 0 && left <= scene.width);
    context.globalAlpha = 0.08;
    context.fillStyle = theme.looks.fault;
    for (const { lane, top, height } of shown) {
      if (lane.kind === "faults") continue;
      const own = spans.filter(({ actor }) => actor === undefined || lane.actor === actor);
      for (const { left, right } of union(own)) context.fillRect(left, top - scene.scroll + AXIS, right - left, height);
    }
    context.globalAlpha = 1;
    context.strokeStyle = theme.looks.fault;
    context.setLineDash([2, 4]);
    for (const { left, right } of spans) {
      for (const edge of [left, right]) this.line(edge, AXIS, edge, scene.height);
    }
    context.setLineDash([]);
  }

  private lane(scene: Scene, theme: Theme, placed: Placed): void {
    const top = placed.rows - scene.scroll + AXIS;
    if (placed.lane.lags !== undefined) this.strip(scene, theme, placed);
    /** The pixel up to which each row is taken by marks that look the same. */
    const taken = new Float64Array(placed.lane.rows * LOOK_COUNT).fill(-9);
    const { marks } = placed.lane;
    const own = of(scene, placed.lane);
    const last = lastWhere(marks, (mark) => x(own, mark.from) <= scene.width);
    for (let place = 0; place <= last; place += 1) {
      const mark = marks[place] as Mark;
      const right = x(own, mark.to);
      if (right < 0 || (own.hides?.(mark.from) ?? false)) continue;
      const left = mark.from === mark.to ? right : x(own, mark.from);
      const key = mark.row * LOOK_COUNT + LOOK_NUMBERS[mark.look];
      if (right < (taken[key] ?? 0) + 0.8) continue;
      taken[key] = right;
      this.mark(scene, theme, placed.lane, mark, left, right, top + mark.row * SIZES.row);
    }
  }

  /** How far behind a client was: the higher and the darker, the more objects it was wrong about. */
  private strip(scene: Scene, theme: Theme, { lane, top }: Placed): void {
    const lags = lane.lags ?? [];
    const worst = lags.reduce((most, lag) => Math.max(most, lag.wrong), 1);
    const bottom = top - scene.scroll + AXIS + SIZES.padding + SIZES.strip;
    this.context.fillStyle = theme.line;
    this.context.fillRect(0, bottom, scene.width, 1);
    this.context.fillStyle = theme.wrong;
    lags.forEach((lag, place) => {
      if (lag.wrong === 0) return;
      const left = x(scene, lag.event);
      const next = lags[place + 1];
      const right = next === undefined ? x(scene, Number.MAX_SAFE_INTEGER) : x(scene, next.event);
      if (right < 0 || left > scene.width) return;
      const height = 2 + (SIZES.strip - 2) * (lag.wrong / worst);
      this.context.fillRect(left, bottom - height, Math.max(right - left, 1), height);
    });
  }

  private mark(scene: Scene, theme: Theme, lane: Lane, mark: Mark, left: number, right: number, top: number): void {
    const { context } = this;
    const height = SIZES.row - 2;
    context.fillStyle = theme.looks[mark.look];
    if (mark.from === mark.to) {
      if (mark.look === "failed") this.cross(theme.looks.failed, left, top, height);
      else this.point(mark, left, top, height);
      return;
    }
    const from = Math.max(left, -2);
    const width = Math.max(Math.min(right, scene.width + 2) - from, 2);
    if (mark.look === "life") {
      context.fillRect(from, top + 2, Math.max(width - 1, 1), height - 4);
      context.fillStyle = theme.looks.change;
      context.fillRect(left, top, 2, height);
    } else if (HATCHED.has(mark.look)) {
      this.hatch(from, top, width, SIZES.row * lane.rows - 2, theme.looks[mark.look]);
    } else {
      const inset = mark.look === "watch" ? 3 : 0;
      context.fillRect(from, top + inset, width, height - 2 * inset);
      // What was refused or failed has a mark of its own, besides the colour.
      if (mark.look === "refused" || mark.look === "failed") this.cross(theme.text, Math.min(right, from + width), top, height);
    }
    if (width > 44 && mark.look !== "watch") this.label(theme, mark, from, top, width);
  }

  /** Writes as much of a label as there is room for; to clip it would take longer than all else. */
  private label(theme: Theme, mark: Mark, left: number, top: number, width: number): void {
    const isDark = HATCHED.has(mark.look) || mark.look === "life" || mark.look === "open";
    this.context.fillStyle = isDark ? theme.text : theme.ground;
    const shown = mark.label.slice(0, Math.floor((width - 8) / LETTER));
    this.context.fillText(shown, left + 5, top + SIZES.row / 2 - 0.5);
  }

  private point(mark: Mark, left: number, top: number, height: number): void {
    const { context } = this;
    const middle = top + height / 2;
    context.beginPath();
    switch (mark.look) {
      case "page":
        context.rect(left - 3, top + 1, 6, height - 2);
        break;
      case "notified":
        context.moveTo(left - 4, top + 1);
        context.lineTo(left + 4, top + 1);
        context.lineTo(left, top + height - 1);
        break;
      case "operation":
      case "refused":
        context.moveTo(left, top);
        context.lineTo(left + 4, middle);
        context.lineTo(left, top + height);
        context.lineTo(left - 4, middle);
        break;
      case "terminated":
        context.rect(left - 1, top, 3, height);
        context.rect(left - 4, middle - 1, 9, 2);
        break;
      case "note":
        context.arc(left, middle, 2.5, 0, 7);
        break;
      default:
        context.rect(left - 0.75, top, 1.5, height);
    }
    context.fill();
  }

  private hatch(left: number, top: number, width: number, height: number, colour: string): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.strokeStyle = colour;
    for (let place = left - height; place < left + width; place += 6) this.line(place, top + height, place + height, top);
    context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    context.restore();
  }

  private cross(colour: string, right: number, top: number, height: number): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    const [middle, size] = [top + height / 2, 3];
    this.line(right - size, middle - size, right + size, middle + size);
    this.line(right - size, middle + size, right + size, middle - size);
    context.lineWidth = 1;
  }

  /** The broken promises: a flag on the lane of each, and a line over all lanes for the one that is looked at. */
  private promises(scene: Scene, theme: Theme): void {
    const { context } = this;
    context.strokeStyle = theme.wrong;
    for (const event of scene.broken) {
      const place = x(scene, event);
      if (place < -9 || place > scene.width + 9) continue;
      const isShown = event === scene.shown;
      if (isShown) {
        context.lineWidth = 1.5;
        context.setLineDash([6, 3]);
        this.line(place, AXIS, place, scene.height);
        context.setLineDash([]);
        context.lineWidth = 1;
      }
      const lane = scene.laneOf(event);
      if (lane !== undefined) this.flag(theme, place, lane.top + lane.height / 2 - scene.scroll + AXIS, isShown ? 9 : 6);
    }
  }

  private flag(theme: Theme, place: number, middle: number, size: number): void {
    const { context } = this;
    context.fillStyle = theme.wrong;
    context.beginPath();
    context.moveTo(place, middle - size);
    context.lineTo(place + size, middle);
    context.lineTo(place, middle + size);
    context.lineTo(place - size, middle);
    context.fill();
    context.fillStyle = theme.ground;
    context.fillRect(place - 1, middle - size / 2, 2, size / 2 + 0.5);
    context.fillRect(place - 1, middle + size / 4, 2, 2);
  }

  private arrows(scene: Scene, theme: Theme): void {
    const { context } = this;
    context.strokeStyle = theme.text;
    context.fillStyle = theme.text;
    for (const arrow of scene.arrows) {
      const [from, to] = [scene.laneOf(arrow.from), scene.laneOf(arrow.to)];
      if (from === undefined || to === undefined) continue;
      const y = (lane: Placed): number => lane.top + lane.height / 2 - scene.scroll + AXIS;
      const [left, right, start, stop] = [x(scene, arrow.from), x(scene, arrow.to), y(from), y(to)];
      if (left === right && start === stop) continue;
      const bend = (right - left) / 3;
      context.lineWidth = 1.25;
      context.beginPath();
      context.moveTo(left, start);
      // Where there is no room for a bend, it would run backwards.
      const isBent = bend > 16;
      if (isBent) context.bezierCurveTo(left + bend, start, right - bend, stop, right - 3, stop);
      else context.lineTo(right, stop);
      context.stroke();
      this.head(right, stop, isBent ? 0 : Math.atan2(stop - start, right - left));
      context.lineWidth = 1;
    }
  }

  /** The head of an arrow that ends at a point in a direction. */
  private head(left: number, top: number, angle: number): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(left, top);
    for (const side of [-1, 1]) {
      const edge = angle + Math.PI + side * 0.5;
      context.lineTo(left + 8 * Math.cos(edge), top + 8 * Math.sin(edge));
    }
    context.fill();
  }

  /** Both scales: ticks of the chosen one above, and what the other one has at these places below. */
  private scales(scene: Scene, theme: Theme, ticks: readonly Tick[]): void {
    const { context } = this;
    context.fillStyle = theme.stripe;
    context.fillRect(0, 0, scene.width, AXIS);
    context.fillStyle = theme.line;
    context.fillRect(0, AXIS - 1, scene.width, 1);
    for (const { place } of ticks) context.fillRect(toX(scene, place), 0, 1, AXIS);
    const own = ticks.map(({ place, label }) => ({ place, text: scene.scale === "revision" ? `rev ${label}` : label }));
    const others = ticks.map(({ place }) => ({ place, text: this.other(scene, place) }));
    context.fillStyle = theme.text;
    this.labels(scene, own, 10);
    context.fillStyle = theme.faint;
    this.labels(scene, others, 24);
  }

  /** Writes those labels that have room. */
  private labels(scene: Scene, labels: readonly { place: number; text: string }[], y: number): void {
    const { context } = this;
    const boxes = labels.map(({ place, text }) => ({ left: toX(scene, place) + 4, width: context.measureText(text).width }));
    fitting(boxes, scene.width).forEach((left, number) => {
      if (left !== undefined) context.fillText(labels[number]?.text ?? "", left, y);
    });
  }

  private other({ axis, scale }: Scene, place: number): string {
    const event = Math.max(0, axis.eventAt(scale, place));
    return axis.labelAt(scale === "time" ? "revision" : "time", event);
  }

  private cursor(scene: Scene, theme: Theme): void {
    const place = x(scene, scene.cursor);
    this.context.fillStyle = theme.cursor;
    this.context.fillRect(place - 0.75, AXIS - 9, 1.5, scene.height);
    this.context.beginPath();
    this.context.moveTo(place - 6, AXIS - 9);
    this.context.lineTo(place + 6, AXIS - 9);
    this.context.lineTo(place, AXIS);
    this.context.fill();
  }

  private line(fromX: number, fromY: number, toX: number, toY: number): void {
    this.context.beginPath();
    this.context.moveTo(fromX, fromY);
    this.context.lineTo(toX, toY);
    this.context.stroke();
  }
}

/** The scene as the marks of a lane are placed in it. */
function of(scene: Scene, lane: Lane): Scene {
  return lane.isReference === true && scene.reference !== undefined
    ? { ...scene, axis: scene.reference, hides: undefined }
    : scene;
}

function x(scene: Scene, event: number): number {
  return toX(scene, scene.axis.place(scene.scale, event));
}

function toX({ window, width }: Scene, place: number): number {
  return ((place - window.from) / (window.to - window.from)) * width;
}

interface Span {
  left: number;
  right: number;
}

/** What any of these covers, each part once: several that overlap look like one. */
function union(spans: readonly Span[]): Span[] {
  const parts: Span[] = [];
  for (const { left, right } of [...spans].sort((one, other) => one.left - other.left)) {
    const last = parts.at(-1);
    if (last !== undefined && left <= last.right) last.right = Math.max(last.right, right);
    else parts.push({ left, right });
  }
  return parts;
}
