// The core of the viewer, without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Axis } from "../src/core/axis.js";
import { compare, lag } from "../src/core/belief.js";
import { decode } from "../src/core/decode.js";
import { ALL, search, showsEvent } from "../src/core/filter.js";
import { lanesOf, lanesOfReference } from "../src/core/lanes.js";
import { managersOf } from "../src/core/managers.js";
import { merged, patched } from "../src/core/patch.js";
import { Run } from "../src/core/run.js";
import { landmarks } from "../src/core/reference.js";
import { selector } from "../src/core/selector.js";
import { whoOf } from "../src/core/names.js";
import { words } from "../src/core/words.js";
import { JOIN, diff, folded, toLines } from "../src/core/yaml.js";
import { fitting } from "../src/draw/layout.js";

const folder = process.env.TRACES ?? "";
const text = readFileSync(`${folder}/example.jsonl`, "utf8");
const example = (): Run => new Run(decode(text));

test("every line of the example is read", () => {
  const decoded = decode(text);
  assert.equal(decoded.events.length, 33);
  assert.equal(decoded.unknownCount, 2);
  assert.equal(decoded.isComplete, true);
});

test("a line that is cut off is left out", () => {
  const decoded = decode(text.slice(0, text.indexOf('"r":4')));
  assert.equal(decoded.isComplete, false);
  assert.equal(decoded.events.length, 18);
});

test("another format, another version and a wrong line are refused", () => {
  assert.throws(() => decode('{"format":"else"}\n'), /no header/u);
  assert.throws(() => decode(text.replace('"version":"1.0"', '"version":"2.0"')), /version 2.0/u);
  assert.throws(() => decode(`${text}not json\n`), /line 46 is no JSON/u);
  assert.throws(() => decode(`${text}{"actor":9,"name":"x","role":"client"}\n`), /line 46: actors/u);
});

test("events have the words that the program prints", () => {
  const run = example();
  const lines = readFileSync(`${folder}/example.txt`, "utf8").split("\n").slice(1);
  const printed = lines.filter((line) => /^ +\d/u.test(line)).map((line) => line.slice(35));
  assert.deepEqual(run.events.map((event) => words(run, event)), printed);
});

test("events of a server for a request are shown with the client that asked", () => {
  const run = example();
  const who = (kind: string): string => whoOf(run, run.events.findIndex((event) => event.k === kind));
  assert.equal(who("request"), "informer 0");
  for (const kind of ["answer", "page", "frame", "bookmark"]) assert.equal(who(kind), "server → informer 0");
  assert.equal(who("change"), "server");
});

test("an object's versions follow from its differences", () => {
  const run = example();
  const data = (event: number): unknown => (run.contentAt(0, event) as { data: unknown }).data;
  assert.deepEqual(data(1), { key: "value" });
  assert.deepEqual(data(13), { key: "other", more: "<script>alert(1)</script>" });
  assert.deepEqual(data(18), { key: null });
  assert.equal(run.versionAt(0, 32), undefined);
});

test("merge patches remove what is null, and JSON patches reach into lists", () => {
  assert.deepEqual(merged({ a: 1, b: { c: 2 } }, { a: null, b: { d: 3 } }), { b: { c: 2, d: 3 } });
  assert.deepEqual(
    patched({ list: [1, 2, 3] }, [
      { op: "remove", path: "/list/0" },
      { op: "add", path: "/list/-", value: 4 },
      { op: "replace", path: "/list/0", value: { "a/b": 1 } },
      { op: "add", path: "/list/0/a~1b", value: 5 },
    ]),
    { list: [{ "a/b": 5 }, 3, 4] },
  );
});

test("selectors select", () => {
  const labels = { tier: "web", slot: "3" };
  for (const good of ["", "tier=web", "tier==web,slot", "tier!=db", "!gone", "tier in (web, db)", "tier notin (db),slot in (3)"]) {
    assert.ok(selector(good)(labels), good);
  }
  for (const bad of ["tier=db", "!tier", "gone", "tier notin (web)", "gone in (a)", "tier!=web"]) {
    assert.ok(!selector(bad)(labels), bad);
  }
});

test("a belief that lags is stale, and tells since when", () => {
  const run = example();
  const before = compare(run, 2, 13);
  assert.deepEqual(before.map(({ difference, belief, truth }) => [difference, belief, truth]), [["stale", 2, 3]]);
  const after = compare(run, 2, 18);
  assert.deepEqual(after.map(({ difference, behind, age }) => [difference, behind, age]), [["stale", 1, 0]]);
  assert.deepEqual(compare(run, 2, 28).map((row) => row.difference), ["surplus"]);
  assert.deepEqual(lag(run, 2).map(({ event, wrong }) => [event, wrong]), [[0, 0], [4, 1], [9, 0], [13, 1], [15, 0], [18, 1], [29, 0]]);
});

test("the axis zooms around a place, and its scales agree", () => {
  const axis = new Axis(example());
  const whole = axis.whole("time");
  const near = axis.zoomed("time", whole, 0.25, 5_000);
  assert.ok(near.from > whole.from && near.to < whole.to && near.from < 5_000 && near.to > 5_000);
  const revisions = axis.convert(near, "time", "revision");
  assert.ok(revisions.from < revisions.to);
  assert.equal(axis.nearest("time", 5_010), 16);
  assert.ok(axis.ticks("time", whole, 8).length <= 12);
});

test("lanes have bars for watches, bands for faults, gaps for crashes", () => {
  const lanes = lanesOf(example());
  const looks = (name: string): string[] => (lanes.find((lane) => lane.name === name)?.marks ?? []).map((mark) => mark.look);
  assert.deepEqual(looks("faults"), ["fault"]);
  assert.deepEqual(looks("leadership"), ["lead"]);
  assert.ok(looks("informer 0").includes("watch"));
  assert.ok(looks("informer 0").includes("gap"));
  assert.ok(looks("replica 0").includes("crash"));
  assert.deepEqual(lanes.filter((lane) => lane.kind === "object").map((lane) => [lane.name, lane.depth]), [
    ["configmaps one/a", 0],
    ["secrets one/a", 1],
  ]);
});

test("a pause within a pause is one gap, which a start ends", () => {
  const stop = (t: number): string => `{"t":${t},"a":1,"k":"stop","how":"pause"}\n`;
  const lines = `{"format":"conformance-trace","version":"1.0","program":"p","title":"t"}\n`
    + `{"actor":0,"name":"server","role":"server"}\n{"actor":1,"name":"c","role":"client"}\n`
    + `${stop(1)}${stop(2)}{"t":3,"a":1,"k":"start"}\n{"t":9,"a":1,"k":"note","say":"later"}\n`;
  const run = new Run(decode(lines));
  const gaps = lanesOf(run, undefined).flatMap((lane) => lane.marks.filter((mark) => mark.look === "gap"));
  assert.deepEqual(gaps.map(({ from, to }) => [from, to]), [[0, 2]]);
});

/** A run whose server makes config maps, by name and time, in a run of so long, after `made` of them before the first step. */
function making(maps: [string, number][], length: number, made = 0): Run {
  const lines = [
    { format: "conformance-trace", version: "1.0", program: "p", title: "t" },
    { actor: 0, name: "server", role: "server" },
    { actor: 1, name: "user", role: "harness" },
    { actor: 2, name: "c", role: "client" },
    ...maps.map(([name], object) => ({ object, kind: "ConfigMap", resource: "configmaps", namespace: "one", name })),
    ...maps.map(([name, t], o) => ({ t, a: 0, k: "change", o, r: o + 1, new: { kind: "ConfigMap", metadata: { name } } })),
    { t: length, a: 0, k: "note", say: "the end" },
    { end: maps.length + 1 },
  ];
  lines.splice(4 + maps.length + made, 0, { t: maps[made]?.[1] ?? 0, a: 1, k: "note", say: "step 1" });
  return new Run(decode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
}

test("the objects of the start are folded, but for a few", () => {
  const maps: [string, number][] = [["z", 0], ["y", 0], ["x", 1], ["w", 2], ["late", 9]];
  const folded = (run: Run): (boolean | undefined)[] => lanesOf(run).filter((lane) => lane.kind === "object").map((lane) => lane.isFolded);
  const run = making(maps, 20, 4);
  assert.deepEqual(folded(run), [undefined, true, true, true, true]);
  assert.deepEqual(lanesOf(run).filter((lane) => lane.kind === "fold").map((lane) => lane.name), ["4 objects of the start"]);
  assert.ok(folded(making(maps.slice(1), 20, 3)).every((is) => is === undefined));
  assert.ok(folded(making(maps, 20, 0)).every((is) => is === undefined), "not what was made by a step");
});

test("a reference stands on the clock of the run, by what both did", () => {
  const run = making([["a", 500], ["b", 700], ["c", 9_000]], 20_000);
  const reference = making([["a", 100], ["b", 350], ["only", 360], ["c", 400]], 1_000);
  const found = landmarks(run, reference);
  assert.deepEqual(found, [[1, 1], [2, 2], [4, 3]]);
  const axis = new Axis(reference, { axis: new Axis(run), landmarks: found });
  // The third one follows as soon as it did there, what follows the last one likewise, and both end together.
  assert.deepEqual([1, 2, 3, 4, 5].map((event) => axis.place("time", event)), [500, 700, 710, 9_000, 20_000]);
  // What happened in another order is no landmark.
  assert.deepEqual(landmarks(run, making([["b", 1], ["a", 2], ["c", 3]], 10)), [[2, 1], [3, 3]]);
});

test("what is missing in one of two runs is marked, and so is where objects part", () => {
  const lanes = lanesOfReference(making([["a", 1], ["b", 2]], 9), making([["b", 2], ["c", 3]], 9));
  assert.deepEqual(lanes.map(({ name, isWrong, marks }) => [name, isWrong === true, marks.map(({ look }) => look)]), [
    ["surplus: configmaps one/a", true, ["life"]],
    ["reference: configmaps one/a", false, ["missing"]],
    ["missing: configmaps one/c", true, ["missing"]],
    ["reference: configmaps one/c", false, ["life"]],
  ]);
  const other = new Run(decode(text.replace('{"key":"other"', '{"key":"another"').replace('"path":"/data/key","value":null', '"path":"/data/key","value":1')));
  const mark = lanesOfReference(example(), other)[0]?.marks.find(({ look }) => look === "failed");
  assert.deepEqual([mark?.label, mark?.from], ["differs from here on", example().versions[0]?.[1]?.event]);
});

test("labels do not stand in each other", () => {
  assert.deepEqual(fitting([0, 50, 100, 180].map((left) => ({ left, width: 40 })), 200), [0, 50, 100, 158]);
  assert.deepEqual(fitting([0, 50, 100, 180].map((left) => ({ left, width: 70 })), 200), [0, undefined, 100, undefined]);
});

test("the reference shows the rows that differ", () => {
  const other = new Run(decode(text.replace('{"key":"other"', '{"key":"another"').replace('"path":"/data/key","value":null', '"path":"/data/key","value":1')));
  assert.deepEqual(lanesOfReference(example(), example()), []);
  assert.deepEqual(lanesOfReference(example(), other).map((lane) => lane.name), ["differs: configmaps one/a", "reference: configmaps one/a"]);
});

test("filters and search", () => {
  const run = example();
  assert.ok(!showsEvent(run, { ...ALL, kinds: new Set(["change"]) }, 1));
  assert.ok(showsEvent(run, { ...ALL, actor: 2 }, 10));
  assert.ok(!showsEvent(run, { ...ALL, actor: 4 }, 10));
  // What is sent to a client is its own, as are the changes of objects that it has to do with.
  const kinds = (actor: number): Set<string | undefined> =>
    new Set(run.events.flatMap((event, number) => (event.a === 0 && showsEvent(run, { ...ALL, actor }, number) ? [event.k] : [])));
  for (const kind of ["change", "answer", "page", "frame"]) assert.ok(kinds(2).has(kind), kind);
  assert.ok(!kinds(1).has("frame"));
  // A fault of one client, and its end, are nothing to another one; its handlers are hit with it.
  for (const kind of ["fault", "heal"]) {
    const number = run.events.findIndex((event) => event.k === kind);
    assert.deepEqual([2, 3, 4].map((actor) => showsEvent(run, { ...ALL, actor }, number)), [true, true, false]);
  }
  assert.deepEqual(search(run, ALL, "by-TIER"), [30]);
});

test("YAML is what it was", () => {
  const lines = toLines({ a: [{ b: 1, c: ["x"] }, 2], d: "yes", e: "a: b", f: {}, g: null, "7": "7" });
  assert.deepEqual(lines.map((line) => line.text), [
    '"7": "7"', "a:", "- b: 1", "  c:", "  - x", "- 2", 'd: "yes"', 'e: "a: b"', "f: {}", "g: null",
  ]);
});

test("equal lines are folded, and changed ones stand side by side", () => {
  const object = (value: number): Record<string, number> => Object.fromEntries([...Array(20).keys()].map((key) => [`k${key}`, key === 10 ? value : key]));
  const rows = diff(toLines(object(1)), toLines(object(2)));
  assert.equal(rows.filter((row) => !row.isEqual).length, 1);
  assert.deepEqual(folded(rows).map((fold) => [fold.isFolded, fold.rows.length]), [[true, 8], [false, 5], [true, 7]]);
});

test("fields have their managers", () => {
  const managers = managersOf({
    metadata: { managedFields: [{ manager: "m", subresource: "status", fieldsV1: { "f:spec": { 'k:{"name":"x"}': { ".": {}, "f:image": {} } }, "f:list": { 'v:"b"': {} } } }] },
    spec: [{ name: "w" }, { name: "x", image: "i" }],
    list: ["a", "b"],
  });
  assert.deepEqual(managers.get(["spec", "1", "image"].join(JOIN)), ["m (status)"]);
  assert.deepEqual(managers.get(["list", "1"].join(JOIN)), ["m (status)"]);
});
