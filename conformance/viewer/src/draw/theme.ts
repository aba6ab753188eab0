// The colours of the canvas, from the style sheet, so that light, dark and print are defined in one place.

import type { Look } from "../core/lanes.js";

export interface Theme {
  ground: string;
  stripe: string;
  line: string;
  text: string;
  faint: string;
  cursor: string;
  wrong: string;
  looks: Record<Look, string>;
}

const LOOKS: Record<Look, string> = {
  change: "change", life: "life", terminated: "wrong", operation: "change", ok: "ok", refused: "refused", failed: "wrong",
  open: "faint", watch: "watch", page: "page", frame: "frame", notified: "notified", note: "faint",
  fault: "fault", gap: "gap", crash: "wrong", lead: "lead", missing: "wrong",
};

export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const looks = Object.fromEntries(Object.entries(LOOKS).map(([look, name]) => [look, colour(name)]));
  return {
    ground: colour("ground"),
    stripe: colour("stripe"),
    line: colour("line"),
    text: colour("text"),
    faint: colour("faint"),
    cursor: colour("cursor"),
    wrong: colour("wrong"),
    looks: looks as Record<Look, string>,
  };
}
