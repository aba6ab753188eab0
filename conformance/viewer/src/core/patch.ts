// Applies the differences of objects: JSON merge patches (RFC 7386) and JSON patches (RFC 6902). Values are never changed
// in place.

import type { Json, PatchStep } from "./format.js";

export function isRecord(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function merged(value: Json | undefined, patch: Json): Json {
  if (!isRecord(patch)) return patch;
  const result: { [key: string]: Json } = isRecord(value) ? { ...value } : {};
  for (const [key, part] of Object.entries(patch)) {
    if (part === null) delete result[key];
    else result[key] = merged(result[key], part);
  }
  return result;
}

export function patched(value: Json, steps: readonly PatchStep[]): Json {
  let result = value;
  for (const step of steps) {
    const path = segments(step.path);
    if (step.op === "remove") result = changed(result, path, remove);
    else if (step.op === "replace") result = changed(result, path, (parent, key) => put(parent, key, step.value ?? null, false));
    else if (step.op === "add") result = changed(result, path, (parent, key) => put(parent, key, step.value ?? null, true));
    else if (step.op === "move" || step.op === "copy") {
      const from = segments(step.from ?? "");
      const moved = at(result, from);
      if (step.op === "move") result = changed(result, from, remove);
      result = changed(result, path, (parent, key) => put(parent, key, moved, true));
    } else if (step.op !== "test") throw new Error(`a JSON patch has no operation ${step.op}`);
  }
  return result;
}

function segments(path: string): string[] {
  return path === "" ? [] : path.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(value: Json, path: readonly string[]): Json {
  let found: Json | undefined = value;
  for (const key of path) found = Array.isArray(found) ? found[Number(key)] : isRecord(found) ? found[key] : undefined;
  return found ?? null;
}

type Change = (parent: Json, key: string) => Json;

function changed(value: Json, path: readonly string[], change: Change): Json {
  const [key, ...rest] = path;
  // The root is the only member of its parent.
  if (key === undefined) return at(change({ "": value }, ""), [""]);
  if (rest.length === 0) return change(value, key);
  if (Array.isArray(value)) {
    return value.map((item, place) => (place === Number(key) ? changed(item, rest, change) : item));
  }
  if (!isRecord(value)) throw new Error(`a JSON patch names a field of what has none: ${key}`);
  return { ...value, [key]: changed(value[key] ?? null, rest, change) };
}

function remove(parent: Json, key: string): Json {
  if (Array.isArray(parent)) return parent.filter((_, place) => place !== Number(key));
  const result = isRecord(parent) ? { ...parent } : {};
  delete result[key];
  return result;
}

function put(parent: Json, key: string, value: Json, isInsert: boolean): Json {
  if (Array.isArray(parent)) {
    const place = key === "-" ? parent.length : Number(key);
    const result = [...parent];
    result.splice(place, isInsert ? 0 : 1, value);
    return result;
  }
  return { ...(isRecord(parent) ? parent : {}), [key]: value };
}
