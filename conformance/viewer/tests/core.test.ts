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
import { selector } from "../src/core/selector.js";
import { words } from "../src/core/words.js";
import { JOIN, diff, folded, toLines } from "../src/core/yaml.js";

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
