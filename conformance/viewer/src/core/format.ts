// The lines of a trace file, as docs/trace.md defines them.

export interface Header {
  format: string;
  version: string;
  program?: string;
  title?: string;
  seed?: number;
  command?: string;
  replay?: string;
  versions?: Record<string, string>;
}

export type Role = "server" | "harness" | "client" | "handler" | "controller" | "candidate" | "process";

export interface Actor {
  actor: number;
  name: string;
  role: Role | string;
  /** The actor that this one belongs to. */
  of?: number;
}

export interface ObjectLine {
  object: number;
  kind: string;
  resource: string;
  namespace?: string;
  name: string;
  uid?: string;
  /** The number of the object that owns it. */
  owner?: number;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface PatchStep {
  op: string;
  path: string;
  from?: string;
  value?: Json;
}

/** An event. Which fields it has depends on its kind. */
export interface Event {
  /** Microseconds since the run began. */
  t: number;
  k: string;
  a?: number;
  r?: number;
  o?: number;
  q?: number;
  say?: string;
  from?: number[];
  code?: number;
  verb?: string;
  type?: string;
  how?: string;
  more?: boolean;
  initial?: boolean;
  synced?: boolean;
  was?: number;
  f?: number;
  hits?: number;
  list?: number[];
  set?: number[];
  gone?: number[] | boolean;
  new?: Json;
  merge?: Json;
  patch?: PatchStep[];
  resource?: string;
  namespace?: string;
  selector?: string;
}

export interface Broken {
  broken: string;
  says: string;
  expected?: string;
  /** The number of the event that shows it. */
  at?: number;
  /** The numbers of the events that led there. */
  led?: number[];
  /** True if a fault explains it. */
  excused?: boolean;
}

export const FORMAT = "conformance-trace";
export const MAJOR = 1;
