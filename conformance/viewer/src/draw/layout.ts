// The vertical places of lanes.

import type { Lane } from "../core/lanes.js";
import { lastWhere } from "../core/run.js";

export const AXIS = 40;
const ROW = 13;
const STRIP = 6;
const PADDING = 4;

export interface Placed {
  lane: Lane;
  top: number;
  height: number;
  /** The top of the first row, below the strip. */
  rows: number;
}

export function layout(lanes: readonly Lane[]): Placed[] {
  let top = 0;
  return lanes.map((lane) => {
    const strip = lane.lags === undefined ? 0 : STRIP + 2;
    const height = lane.rows * ROW + strip + 2 * PADDING;
    const placed = { lane, top, height, rows: top + PADDING + strip };
    top += height;
    return placed;
  });
}

export function totalHeight(placed: readonly Placed[]): number {
  const last = placed.at(-1);
  return last === undefined ? 0 : last.top + last.height;
}

/** The lanes that a part of the page shows. */
export function visible(placed: readonly Placed[], from: number, to: number): Placed[] {
  const first = Math.max(0, lastWhere(placed, (lane) => lane.top <= from));
  const last = lastWhere(placed, (lane) => lane.top < to);
  return placed.slice(first, last + 1);
}

export const SIZES = { row: ROW, strip: STRIP, padding: PADDING };

/** The distance that texts keep. */
const APART = 6;

/** The left ends of texts beside each other: within a width, and none for those that would stand in the one before. */
export function fitting(boxes: readonly { left: number; width: number }[], width: number): (number | undefined)[] {
  let taken = Number.NEGATIVE_INFINITY;
  return boxes.map((box) => {
    const left = Math.min(box.left, width - box.width - 2);
    if (left < taken + APART) return undefined;
    taken = left + box.width;
    return left;
  });
}
