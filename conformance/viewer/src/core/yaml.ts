// Objects as lines of YAML, each with its path, and the difference of two of them.

import type { Json } from "./format.js";
import { isRecord } from "./patch.js";

export interface Line {
  /** The path of the field, as keys joined by a character that no key has. */
  path: string;
  text: string;
}

export const JOIN = "\u0000";

/** Formats a value. Fields are in the order of the object. */
export function toLines(value: Json | undefined): Line[] {
  const lines: Line[] = [];
  if (value !== undefined) write(lines, value, "", [], "");
  return lines;
}

function write(lines: Line[], value: Json, indent: string, path: readonly string[], lead: string): void {
  const isItem = lead.endsWith("- ");
  if (Array.isArray(value) && value.length > 0) {
    if (lead !== "") lines.push({ path: path.join(JOIN), text: lead.trimEnd() });
    value.forEach((item, place) => write(lines, item, `${indent}  `, [...path, String(place)], `${indent}- `));
  } else if (isRecord(value) && Object.keys(value).length > 0) {
    if (lead !== "" && !isItem) lines.push({ path: path.join(JOIN), text: lead.trimEnd() });
    const inner = lead === "" ? indent : `${indent}${isItem ? "" : "  "}`;
    Object.entries(value).forEach(([key, part], place) => {
      const start = isItem && place === 0 ? lead : isItem ? `${indent}` : inner;
      write(lines, part, isItem ? indent : inner, [...path, key], `${start}${plain(key)}: `);
    });
  } else {
    lines.push({ path: path.join(JOIN), text: lead + scalar(value) });
  }
}

function scalar(value: Json): string {
  if (Array.isArray(value)) return "[]";
  if (isRecord(value)) return "{}";
  return typeof value === "string" ? plain(value) : String(value);
}

/** Quotes text that YAML would read as something else. */
function plain(text: string): string {
  const isPlain = /^[A-Za-z_/.][\w ./:@+-]*$/u.test(text) && !/(^|\s)#|: |:$|\s$/u.test(text);
  return isPlain && !/^(true|false|null|yes|no|on|off|~)$/iu.test(text) && !/^\.?\d/u.test(text) ? text : JSON.stringify(text);
}

/** A row of two versions side by side. */
export interface DiffRow {
  before: Line | undefined;
  after: Line | undefined;
  isEqual: boolean;
}

/** Compares lines by the longest common subsequence; lines that were replaced stand side by side. */
export function diff(before: readonly Line[], after: readonly Line[]): DiffRow[] {
  const isSame = (one: Line | undefined, other: Line | undefined): boolean =>
    one !== undefined && other !== undefined && one.text === other.text && one.path === other.path;
  let start = 0;
  while (start < before.length && isSame(before[start], after[start])) start += 1;
  let tail = 0;
  while (tail < Math.min(before.length, after.length) - start && isSame(before.at(-1 - tail), after.at(-1 - tail))) tail += 1;
  const left = before.slice(start, before.length - tail);
  const right = after.slice(start, after.length - tail);
  const rows = before.slice(0, start).map((line, place) => equal(line, after[place]));
  rows.push(...aligned(changes(left, right, isSame)));
  rows.push(...before.slice(before.length - tail).map((line, place) => equal(line, after[after.length - tail + place])));
  return rows;
}

function equal(before: Line, after: Line | undefined): DiffRow {
  return { before, after, isEqual: true };
}

function changes(left: Line[], right: Line[], isSame: (one?: Line, other?: Line) => boolean): DiffRow[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] = isSame(left[row], right[column])
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const rows: DiffRow[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    if (row < left.length && isSame(left[row], right[column])) {
      rows.push(equal(left[row++] as Line, right[column++]));
    } else if (row < left.length && (column === right.length || at(row + 1, column) >= at(row, column + 1))) {
      rows.push({ before: left[row++], after: undefined, isEqual: false });
    } else {
      rows.push({ before: undefined, after: right[column++], isEqual: false });
    }
  }
  return rows;
}

/** Puts the lines of one field side by side. */
function aligned(rows: readonly DiffRow[]): DiffRow[] {
  const result: DiffRow[] = [];
  for (const row of rows) {
    const partner = row.after === undefined || row.isEqual
      ? undefined
      : result.findLast((other) => !other.isEqual && other.after === undefined && other.before?.path === row.after?.path);
    if (partner === undefined) result.push({ ...row });
    else partner.after = row.after;
  }
  return result;
}

/** Rows that are shown, or a number of equal ones that are folded. */
export type Fold = { rows: DiffRow[]; isFolded: boolean };

/** Folds equal rows, apart from some beside each change. */
export function folded(rows: readonly DiffRow[], context = 2): Fold[] {
  const isShown = rows.map((_, place) =>
    rows.slice(Math.max(0, place - context), place + context + 1).some((row) => !row.isEqual),
  );
  const folds: Fold[] = [];
  rows.forEach((row, place) => {
    const isFolded = isShown[place] !== true;
    const last = folds.at(-1);
    if (last !== undefined && last.isFolded === isFolded) last.rows.push(row);
    else folds.push({ rows: [row], isFolded });
  });
  // A line that says that one line is hidden takes as much room as that line.
  for (const fold of folds) if (fold.rows.length < 3) fold.isFolded = false;
  return folds;
}
