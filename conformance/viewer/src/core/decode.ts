// Reads the text of a trace file.

import { type Actor, type Broken, type Event, FORMAT, type Header, MAJOR, type ObjectLine } from "./format.js";

export interface Decoded {
  header: Header;
  actors: Actor[];
  objects: ObjectLine[];
  events: Event[];
  broken: Broken[];
  /** False if the run was killed: the file has no last line. */
  isComplete: boolean;
  /** The number of events and lines that only a later version knows. */
  unknownCount: number;
}

const KINDS = new Set([
  "phase", "operation", "change", "request", "answer", "page", "frame", "bookmark", "end", "belief", "mirror",
  "notified", "start", "stop", "fault", "heal", "lead", "follow", "note",
]);

/** Reads a trace. A last line that is cut off is left out, as is what only a later minor version knows. */
export function decode(text: string): Decoded {
  const decoded: Decoded = {
    header: { format: FORMAT, version: "" },
    actors: [],
    objects: [],
    events: [],
    broken: [],
    isComplete: false,
    unknownCount: 0,
  };
  let number = 0;
  let start = 0;
  while (start < text.length) {
    let stop = text.indexOf("\n", start);
    const isCut = stop < 0;
    if (isCut) stop = text.length;
    const line = text.slice(start, stop).trim();
    start = stop + 1;
    number += 1;
    if (line === "") continue;
    const value = parse(line, number, isCut);
    if (value === undefined) break;
    if (number === 1) decoded.header = header(value);
    else take(decoded, value, number);
  }
  if (decoded.header.version === "") throw new Error("the trace is empty: it has no header");
  return decoded;
}

function parse(line: string, number: number, isCut: boolean): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch (error) {
    if (isCut && number > 1) return undefined;
    throw new Error(`line ${number} is no JSON: ${String(error)}`);
  }
}

function header(value: Record<string, unknown>): Header {
  const read = value as unknown as Header;
  if (read.format !== FORMAT) throw new Error(`line 1 is no header of a ${FORMAT}`);
  if (Number.parseInt(read.version, 10) !== MAJOR) {
    throw new Error(`the trace has version ${read.version}; this viewer reads ${MAJOR}.x`);
  }
  return read;
}

function take(decoded: Decoded, value: Record<string, unknown>, number: number): void {
  if (typeof value.t === "number") {
    // An unknown event keeps its number.
    if (!KINDS.has(String(value.k))) decoded.unknownCount += 1;
    decoded.events.push(value as unknown as Event);
  } else if (typeof value.actor === "number") {
    expect(value.actor === decoded.actors.length, number, "actors");
    decoded.actors.push(value as unknown as Actor);
  } else if (typeof value.object === "number") {
    expect(value.object === decoded.objects.length, number, "objects");
    decoded.objects.push(value as unknown as ObjectLine);
  } else if (typeof value.broken === "string") {
    decoded.broken.push(value as unknown as Broken);
  } else if (typeof value.end === "number") {
    decoded.isComplete = true;
  } else {
    decoded.unknownCount += 1;
  }
}

function expect(holds: boolean, number: number, what: string): void {
  if (!holds) throw new Error(`line ${number}: ${what} are numbered from 0 in the order of their lines`);
}
