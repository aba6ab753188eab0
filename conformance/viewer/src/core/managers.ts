// The managers of an object's fields, from `metadata.managedFields`.

import type { Json } from "./format.js";
import { isRecord } from "./patch.js";
import { JOIN } from "./yaml.js";

/** Returns the managers of each path of an object. */
export function managersOf(object: Json | undefined): Map<string, string[]> {
  const managers = new Map<string, string[]>();
  const metadata = isRecord(object) ? object.metadata : undefined;
  const entries = isRecord(metadata) && Array.isArray(metadata.managedFields) ? metadata.managedFields : [];
  for (const entry of entries) {
    if (!isRecord(entry) || !isRecord(entry.fieldsV1)) continue;
    const subresource = typeof entry.subresource === "string" ? ` (${entry.subresource})` : "";
    walk(managers, `${String(entry.manager)}${subresource}`, entry.fieldsV1, object, []);
  }
  return managers;
}

/** Returns the object without what the colours tell. */
export function withoutManagers(object: Json | undefined): Json | undefined {
  if (!isRecord(object) || !isRecord(object.metadata)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function walk(
  managers: Map<string, string[]>,
  manager: string,
  fields: { [key: string]: Json },
  value: Json | undefined,
  path: readonly string[],
): void {
  const inner = Object.entries(fields).filter(([key]) => key !== ".");
  if (inner.length === 0 || "." in fields) {
    const known = managers.get(path.join(JOIN)) ?? [];
    if (!known.includes(manager)) managers.set(path.join(JOIN), [...known, manager]);
  }
  for (const [key, part] of inner) {
    const step = place(key, value);
    if (step === undefined || !isRecord(part)) continue;
    const next = Array.isArray(value) ? value[Number(step)] : isRecord(value) ? value[step] : undefined;
    walk(managers, manager, part, next, [...path, step]);
  }
}

/** The key, or the place in a list, that a segment of `fieldsV1` names. */
function place(segment: string, value: Json | undefined): string | undefined {
  const [kind, text] = [segment.slice(0, 2), segment.slice(2)];
  if (kind === "f:") return text;
  if (kind === "i:") return text;
  if (!Array.isArray(value)) return undefined;
  const wanted = JSON.parse(text) as Json;
  const found = value.findIndex((item) =>
    kind === "v:"
      ? JSON.stringify(item) === JSON.stringify(wanted)
      : isRecord(item) && isRecord(wanted) && Object.entries(wanted).every(([key, part]) => item[key] === part),
  );
  return found < 0 ? undefined : String(found);
}
