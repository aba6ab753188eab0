// The page in a browser: what it shows, and every way to work with it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, open, settled } from "./browser.js";

const BUG = "tombstones-dropped";
const folder = mkdtempSync(join(tmpdir(), "viewer-"));
const file = join(folder, `${BUG}.html`);
const trace = join(folder, `${BUG}.jsonl`);
const example = join(process.env.TRACES ?? "", "example.jsonl");

const conformance = (...words: string[]): string =>
  execFileSync(process.env.CONFORMANCE ?? "", words, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 28 });

let browser: Browser;
before(async () => {
  conformance("bugs", "--bug", BUG, "--html", folder, "--trace", folder);
  browser = await launch();
});
after(() => browser.close());

/** Opens the failing run, does something, and expects that nothing went wrong. */
async function on(act: (page: Page) => Promise<void>, shown = file, fragment = ""): Promise<void> {
  const { page, complaints } = await open(browser, shown, fragment);
  await act(page);
  assert.deepEqual(complaints, []);
  await page.context().close();
}

/** Writes the page of a trace of these lines, beside that of a reference run. */
function written(name: string, lines: readonly object[], reference?: readonly object[]): string {
  const [source, other, target] = [join(folder, `${name}.jsonl`), join(folder, `${name}-other.jsonl`), join(folder, `${name}.html`)];
  const text = (all: readonly object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("");
  writeFileSync(source, text(lines));
  if (reference !== undefined) writeFileSync(other, text(reference));
  conformance("trace", source, "--html", target, ...(reference === undefined ? [] : ["--reference", other]));
  return target;
}

/** A run in which a client asks 60 times, at a distance in microseconds, three broken promises of it, and their causes. */
const asking = (step: number): object[] => [
  { format: "conformance-trace", version: "1.0", program: "a test", title: "three promises" },
  { actor: 0, name: "server", role: "server" },
  { actor: 1, name: "client", role: "client" },
  ...[...Array(60).keys()].flatMap((q) => [
    { t: q * step, k: "request", a: 1, q, verb: "get", say: `get number ${q}` },
    { t: q * step + 200, k: "answer", a: 0, q, code: 200 },
  ]),
  { broken: "first", says: "the end is wrong", led: [40, 41] },
  { broken: "second", says: "an answer is wrong", at: 21, led: [20] },
  { broken: "third", says: "another answer is wrong", at: 31 },
  { end: 120 },
];

async function inView(page: Page, selector: string): Promise<boolean> {
  const box = await page.locator(selector).first().boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= 900 && box.x >= 0 && box.x + box.width <= 1440;
}

const width = async (page: Page): Promise<number> => {
  const { from, to } = await part(page);
  return to - from;
};

async function part(page: Page): Promise<{ from: number; to: number }> {
  await settled(page);
  const data = await page.locator("#chart").evaluate((chart) => ({ ...(chart as HTMLElement).dataset }));
  return { from: Number(data.from), to: Number(data.to) };
}

const now = async (page: Page): Promise<string> => {
  await settled(page);
  return (await page.locator("#now .at").textContent()) ?? "";
};

test("the first broken promise is in view, with what was expected and what led there", () =>
  on(async (page) => {
    const first = readFileSync(trace, "utf8").split("\n").find((line) => line.startsWith('{"broken"')) ?? "";
    const broken = JSON.parse(first) as { broken: string; says: string; expected: string; led: number[] };
    assert.ok(await inView(page, "#promise h2"));
    assert.ok(await inView(page, "#promise .says"));
    assert.equal(await page.locator("#promise .says").textContent(), broken.says);
    assert.match((await page.locator("#promise").textContent()) ?? "", new RegExp(broken.expected.slice(0, 30), "u"));
    assert.equal(await page.locator("#promise ol .event").count(), broken.led.length + 1);
    assert.ok(broken.led.length > 0);
    assert.ok(await inView(page, "#promise ol .event.current"));
  }));

test("belief and truth are those of the trace at ten instants", () =>
  on(async (page) => {
    const last = Math.max(...[...readFileSync(trace, "utf8").matchAll(/^\{"t":(\d+)/gmu)].map((match) => Number(match[1])));
    for (let draw = 1; draw <= 10; draw += 1) {
      // The same instants in each run of the test, spread like random ones, more of them early.
      const seconds = ((last / 1e6) * ((draw * 0.618) % 1) ** 3).toFixed(6);
      await page.evaluate((to) => (location.hash = `#t=${to}`), seconds);
      await settled(page);
      await settled(page);
      const more = page.locator("#beliefs button", { hasText: "more" });
      while ((await more.count()) > 0) {
        await more.first().evaluate((button) => (button as HTMLElement).click());
        await settled(page);
      }
      const told = JSON.parse(conformance("trace", trace, "--at", seconds, "--json")) as {
        clients: { actor: string; objects: { object: number; believed: number | null; true: number | null }[] }[];
      };
      const wanted = told.clients.map(({ actor, objects }) => [
        actor,
        objects.map((row) => [row.object, row.believed ?? "absent", row.true ?? "absent"].join(" ")).sort(),
      ]);
      const shown = await page.locator("#beliefs details").evaluateAll((tables) =>
        tables.map((table) => [
          table.querySelector("summary b")?.textContent,
          [...table.querySelectorAll("tbody tr")]
            .map((row) => {
              const cells = [...row.querySelectorAll("td")].map((cell) => cell.textContent);
              return [(row as HTMLElement).dataset.object, cells[1], cells[3]].join(" ");
            })
            .sort(),
        ]),
      );
      assert.deepEqual(shown, wanted, `at ${seconds} s`);
    }
  }));

test("differences have a sign besides their colour, and an age", () =>
  on(async (page) => {
    await page.keyboard.press("Home");
    for (let step = 0; step < 400 && (await page.locator("#beliefs tr.wrong").count()) === 0; step += 1) {
      await page.keyboard.press("ArrowRight");
      await settled(page);
    }
    const row = page.locator("#beliefs tr.wrong").first();
    assert.match((await row.locator("td.sign").textContent()) ?? "", /[≠−+!]/u);
    assert.match((await row.locator("td").last().textContent()) ?? "", /\d+ rev, [\d.]+ s/u);
    assert.ok((await page.locator("#names .count").count()) > 0);
  }));

test("wheel, mouse and keyboard zoom and pan", () =>
  on(async (page) => {
    const box = await page.locator("#chart").boundingBox();
    assert.ok(box);
    const [x, y] = [box.x + box.width / 2, box.y + 200];
    const begin = await width(page);
    await page.keyboard.press("0");
    const whole = await width(page);
    assert.ok(whole > begin);
    await page.keyboard.press("+");
    assert.ok((await width(page)) < whole);
    await page.mouse.move(x, y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await page.waitForTimeout(50);
    assert.ok((await width(page)) < whole / 2);
    const before = await part(page);
    await page.mouse.down();
    await page.mouse.move(x - 150, y, { steps: 4 });
    await page.mouse.up();
    const dragged = await part(page);
    assert.ok(dragged.from > before.from);
    await page.keyboard.press("Shift+ArrowLeft");
    assert.ok((await part(page)).from < dragged.from);
    await page.mouse.wheel(120, 0);
    await page.waitForTimeout(50);
    await page.locator("#zoom-out").click();
    await page.locator("#whole").click();
    assert.equal(await width(page), whole);
  }));

test("arrows step through events, Home and End go to their ends, and the address follows", () =>
  on(async (page) => {
    await page.keyboard.press("Home");
    assert.match(await now(page), /event 0 of/u);
    await page.keyboard.press("ArrowRight");
    assert.match(await now(page), /event 1 of/u);
    assert.match(page.url(), /#t=0\.\d+&e=1$/u);
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    const [, place, count] = /event (\d+) of (\d+)/u.exec(await now(page)) ?? [];
    assert.equal(Number(place), Number(count) - 2);
    await page.keyboard.press("b");
    const broken = await now(page);
    const address = page.url();
    await page.keyboard.press("Home");
    await settled(page);
    await page.goto(address);
    await page.reload();
    assert.equal(await now(page), broken);
  }));

test("the scale is time or revision", () =>
  on(async (page) => {
    const time = await width(page);
    await page.keyboard.press("s");
    await settled(page);
    assert.match((await page.locator("#scale").textContent()) ?? "", /revision/u);
    assert.notEqual(await width(page), time);
    await page.locator("#scale").click();
    await settled(page);
    assert.match((await page.locator("#scale").textContent()) ?? "", /time/u);
  }));

test("search finds, and goes from one to the next", () =>
  on(async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("DELETED");
    await settled(page);
    const count = Number.parseInt((await page.locator("#found").textContent()) ?? "", 10);
    assert.ok(count > 0);
    await page.keyboard.press("Enter");
    const first = await now(page);
    await page.locator("#hit-after").click();
    if (count > 1) assert.notEqual(await now(page), first);
    await page.locator("#hit-before").click();
    assert.equal(await now(page), first);
    assert.match((await page.locator("#now .says").textContent()) ?? "", /deleted/iu);
    // Escape ends the search, in its field and elsewhere.
    for (const field of [true, false]) {
      if (field) await page.keyboard.press("/");
      await page.keyboard.press("Escape");
      await settled(page);
      assert.equal(await page.locator("#search").inputValue(), "");
      assert.equal(await page.locator("#found").textContent(), "");
      await page.keyboard.press("n");
      assert.equal(await now(page), first);
      await page.locator("#search").fill("DELETED");
      await page.locator("#whole").focus();
    }
  }));

test("kinds, namespaces and actors are filtered", () =>
  on(async (page) => {
    const lanes = (): Promise<string | null> => page.locator("#names li").first().getAttribute("aria-setsize");
    const all = Number(await lanes());
    await page.locator("#namespace").selectOption("one");
    await settled(page);
    assert.ok(Number(await lanes()) < all);
    await page.locator("#namespace").selectOption("");
    await page.locator("#actor").selectOption({ label: "informer 0" });
    await settled(page);
    assert.ok(Number(await lanes()) < all);
    assert.ok((await page.locator("#beliefs details").count()) <= 1);
    await page.locator("#actor").selectOption("");
    await page.locator("#kind-filter summary").click();
    for (const kind of ["change", "frame"]) await page.locator(`#kinds input[data-kind=${kind}]`).uncheck();
    await page.keyboard.press("Escape");
    assert.ok(!(await page.locator("#kinds").isVisible()));
    await page.locator("#kind-filter summary").click();
    await page.locator("#chart").click({ position: { x: 300, y: 10 } });
    assert.ok(!(await page.locator("#kinds").isVisible()));
    await page.locator("#kind-filter summary").focus();
    await page.keyboard.press("Enter");
    await page.locator("#theme").focus();
    assert.ok(!(await page.locator("#kinds").isVisible()));
    await settled(page);
    const words = await page.locator("#events").textContent();
    assert.doesNotMatch(words ?? "", /sends on \d+: (ADDED|MODIFIED)/u);
  }));

test("only what an actor has to do with is shown, with its versions", () =>
  on(async (page) => {
    await page.locator("#actor").selectOption({ label: "informer 1" });
    await page.locator("#whole").click();
    await settled(page);
    const objects = await page.locator("#names .lane.object").evaluateAll((lanes) => lanes.map((lane) => lane.getAttribute("aria-label") ?? ""));
    assert.ok(objects.length > 0 && objects.every((label) => !/, 0 marks/u.test(label)));
    const who = await page.locator("#events .who").allTextContents();
    assert.ok(who.includes("server → informer 1"), who.join());
    assert.ok(!who.some((name) => /informer [02]/u.test(name)), who.join());
  }));

test("the objects of the start are one row, which opens", () =>
  on(async (page) => {
    const count = async (): Promise<number> => Number(await page.locator("#names li").first().getAttribute("aria-setsize"));
    const fold = page.locator("#names .lane.fold");
    assert.equal(await fold.textContent(), "8 objects of the start");
    const folded = await count();
    await fold.focus();
    for (const [isOpen, lanes] of [["true", folded + 8], ["false", folded]] as const) {
      await page.keyboard.press("Enter");
      await settled(page);
      assert.equal(await fold.getAttribute("aria-expanded"), isOpen);
      assert.equal(await count(), lanes);
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-lane")), "fold");
    }
    // An object whose lane was folded since it was opened gives the focus to the lanes.
    await page.keyboard.press("Enter");
    await page.locator("#names .lane.object", { hasText: "map-7" }).focus();
    await page.keyboard.press("Enter");
    await settled(page);
    await fold.click();
    await page.locator("#object .close").click();
    await settled(page);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "lanes");
    // What is opened from elsewhere can be looked at, though its lane is folded.
    await page.keyboard.press("Home");
    await page.keyboard.press("o");
    await settled(page);
    assert.match((await page.locator("#object h2").textContent()) ?? "", /kube-system\/map-0/u);
  }, written("start", [
    { format: "conformance-trace", version: "1.0", program: "a test", title: "with a start" },
    { actor: 0, name: "server", role: "server" },
    { actor: 1, name: "user", role: "harness" },
    ...[...Array(9).keys()].map((object) => ({ object, kind: "ConfigMap", resource: "configmaps", namespace: object < 8 ? "kube-system" : "one", name: `map-${object}` })),
    ...[...Array(8).keys()].map((o) => ({ t: o, a: 0, k: "change", o, r: o + 1, new: { metadata: { name: `map-${o}` } } })),
    { t: 10, a: 1, k: "note", say: "step 1" },
    { t: 20, a: 0, k: "change", o: 8, r: 9, new: { metadata: { name: "map-8" } } },
    { end: 10 },
  ])));

test("a link to a moment has the window, the scale and the object that is open", () =>
  on(async (page) => {
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text: string) => void (document.title = text) } });
    });
    await page.locator("#scale").click();
    await page.locator("#names .lane.object").first().click();
    await page.locator("#zoom-in").click();
    const shown = await part(page);
    const object = await page.locator("#object h2").textContent();
    await page.locator("#copies button", { hasText: "link to this moment" }).click();
    await page.waitForFunction(() => document.title.startsWith("file:"));
    const { page: other, complaints } = await open(browser, file, new URL(await page.title()).hash);
    const found = await part(other);
    assert.ok(Math.abs(found.from - shown.from) < 0.01 && Math.abs(found.to - shown.to) < 0.01);
    assert.match((await other.locator("#scale").textContent()) ?? "", /revision/u);
    assert.equal(await other.locator("#object h2").textContent(), object);
    assert.deepEqual(complaints, []);
    await other.context().close();
  }));

test("an object opens as YAML, before and after, with managers, and folds what is equal", () =>
  on(async (page) => {
    const lane = page.locator("#names .lane.object", { hasText: /pod-|configmap-|node-/u }).first();
    await lane.click();
    await settled(page);
    assert.ok(await page.locator("#object").isVisible());
    await page.keyboard.press("End");
    await settled(page);
    const titles = await page.locator("#object .title").allTextContents();
    assert.match(titles.join(" "), /before: .*after: /u);
    // Managers have a number and a name, besides their colour.
    const managers = await page.locator("#object .legend li").allTextContents();
    assert.ok(managers.length > 0 && managers.every((text, place) => text.startsWith(`${place + 1} `)));
    const [name] = managers.map((text) => text.slice(2));
    const managed = page.locator("#object [role=row] [role=cell] .manager", { hasText: /^1/u }).first();
    assert.equal(await managed.textContent(), `1, of ${name}`);
    assert.equal(await page.locator("#object [role=table] [role=columnheader]").count(), 2);
    assert.ok((await page.locator("#object .cell.added, #object .cell.removed").count()) > 0);
    const fold = page.locator("#object .fold");
    if ((await fold.count()) > 0) {
      const cells = await page.locator("#object .cell").count();
      await fold.first().click();
      await settled(page);
      assert.ok((await page.locator("#object .cell").count()) > cells);
    }
    await page.keyboard.press("Escape");
    await settled(page);
    assert.ok(!(await page.locator("#object").isVisible()));
  }));

test("lanes have names, and the keyboard alone reaches them", () =>
  on(async (page) => {
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    const name = await page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    assert.match(name ?? "", /\d+ marks?/u);
    const names = await page.locator("#names .lane").evaluateAll((lanes) => lanes.map((lane) => lane.getAttribute("aria-label") ?? ""));
    assert.ok(names.every((label) => label.length > 0));
    assert.ok(names.some((label) => /equal to the server|wrong about/u.test(label)));
    for (let press = 0; press < 200; press += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.ok(await page.locator("#object").isVisible());
    const lane = (): Promise<string | null | undefined> => page.evaluate(() => document.activeElement?.getAttribute("data-lane"));
    await page.keyboard.press("Escape");
    await settled(page);
    assert.match((await lane()) ?? "", /^object/u);
    const roles = await page.locator("[role=toolbar], [role=status], [role=region], [role=complementary]").count();
    assert.ok(roles >= 5);
  }));

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent}`);

test("the focus stays where something was pressed when elements are created again", () =>
  on(async (page) => {
    const event = page.locator("#events .event").nth(5);
    await event.focus();
    const pressed = await focused(page);
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await focused(page), pressed);
    await page.locator("#promise ol .event").first().focus();
    const led = await focused(page);
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await focused(page), led);
    const summary = page.locator("#beliefs summary").nth(1);
    const client = await summary.locator("b").textContent();
    const isOpen = await summary.evaluate((it) => (it.parentElement as HTMLDetailsElement).open);
    await summary.focus();
    await page.keyboard.press("Enter");
    for (const key of ["ArrowRight", "ArrowLeft", "ArrowLeft"]) {
      await page.keyboard.press(key);
      await settled(page);
      assert.ok((await focused(page)).startsWith(`SUMMARY ${client}`));
      assert.equal(await summary.evaluate((it) => (it.parentElement as HTMLDetailsElement).open), !isOpen, "it stays as it was left");
    }
    // An object that is opened from the panel gives the focus back.
    await page.evaluate(() => (location.hash = "#t=0&e=0"));
    await settled(page);
    for (let step = 0; step < 400 && (await page.locator("#now button", { hasText: /^open / }).count()) === 0; step += 1) {
      await page.keyboard.press("ArrowRight");
      await settled(page);
    }
    await page.locator("#now button", { hasText: /^open / }).focus();
    const opener = await focused(page);
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await focused(page), "BUTTON close");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(await focused(page), opener);
    // A row of a table does so, too, and what is pressed in the object stays in it.
    await page.locator("#whole").focus();
    await page.keyboard.press("End");
    await settled(page);
    const table = page.locator("#beliefs details:has(button.link)").first();
    if ((await table.getAttribute("open")) === null) await table.locator("summary").click();
    const row = table.locator("button.link").first();
    await row.focus();
    const named = await focused(page);
    await page.keyboard.press("Enter");
    await settled(page);
    const before = page.locator("#object [aria-label='previous version']");
    await before.focus();
    for (let press = 0; press < 300 && (await before.isEnabled()); press += 1) {
      await page.keyboard.press("Enter");
      await settled(page);
    }
    assert.equal(await page.evaluate(() => document.activeElement?.closest("#object") !== null), true);
    await page.keyboard.press("End");
    await page.keyboard.press("Escape");
    await settled(page);
    assert.equal(await focused(page), named);
  }));

test("the focus goes to the section when what was pressed has no successor", () =>
  on(async (page) => {
    const opener = page.locator("#now button");
    await page.keyboard.press("Home");
    for (let step = 0; step < 400 && (await opener.count()) === 0; step += 1) {
      await page.keyboard.press("ArrowRight");
      await settled(page);
    }
    await opener.first().focus();
    for (let step = 0; step < 400 && (await opener.count()) > 0; step += 1) {
      await page.keyboard.press("ArrowRight");
      await settled(page);
    }
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "at the cursor");
  }));

test("one broken promise after the other is shown by the same button", () =>
  on(async (page) => {
    const next = page.locator("#promise [aria-label='next broken promise']");
    await next.focus();
    for (const place of [2, 3]) {
      await page.keyboard.press("Enter");
      await settled(page);
      assert.match((await page.locator("#promise").textContent()) ?? "", new RegExp(`${place} of `, "u"));
      assert.equal(await focused(page), "BUTTON next broken promise");
    }
  }, written("promises", asking(5_000_000))));

test("the help is a dialog that takes the focus and gives it back, by mouse and by keyboard", () =>
  on(async (page) => {
    const help = page.locator("#help");
    await page.locator("#help-button").click();
    assert.equal(await focused(page), "DIV keys");
    await page.keyboard.press("Escape");
    assert.ok(!(await help.isVisible()));
    assert.equal(await focused(page), "BUTTON keys");
    await page.locator("#whole").focus();
    await page.keyboard.press("?");
    assert.ok(await help.isVisible());
    assert.equal(await page.locator("#help-button").getAttribute("aria-expanded"), "true");
    await page.locator("#help-close").click();
    assert.ok(!(await help.isVisible()));
    assert.equal(await focused(page), "BUTTON whole run");
  }));

test("a promise about the end opens at what led there, as near as its neighbours are", async () => {
  for (const [step, widest] of [[5_000_000, 1_200_000], [1_000, 41_000]] as const) {
    await on(async (page) => {
      const { from, to } = await part(page);
      assert.ok(from < 20 * step && to > 20 * step + 200 && to - from <= widest, `${step}: ${from} ${to}`);
      assert.match(await now(page), /event 41 of/u);
    }, written(`near-${step}`, asking(step)));
  }
});

test("an address with a moment opens its surroundings", () =>
  on(async (page) => {
    const { from, to } = await part(page);
    assert.ok(from <= 1_000_000 && to >= 1_000_000 && to - from < 2_000_000, `${from} ${to}`);
  }, file, "#t=1.000000"));

test("seed, replay line and the moment are copied", async () => {
  const { page } = await open(browser, file);
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text: string) => void (document.title = text) } });
  });
  const copied = async (label: string): Promise<string> => {
    await page.locator("#copies button", { hasText: label }).click();
    return page.title();
  };
  assert.match(await copied("copy seed"), /^\d+$/u);
  assert.match(await copied("copy replay line"), new RegExp(`bugs --bug ${BUG} --seed \\d+`, "u"));
  const link = await copied("link to this moment");
  assert.match(link, /^file:.*#t=[\d.]+&e=\d+&s=time&w=-?[\d.]+,[\d.]+$/u);
  const shown = await part(page);
  await page.goto(link);
  await page.reload();
  const again = await part(page);
  assert.ok(Math.abs(again.from - shown.from) < 1 && Math.abs(again.to - shown.to) < 1);
  await page.context().close();
});

test("light and dark differ, and what is printed has no tools", () =>
  on(async (page) => {
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.locator("#theme").click();
    assert.notEqual(await ground(), light);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.equal(await ground(), "rgb(255, 255, 255)");
    assert.ok(!(await page.locator(".tools").isVisible()));
    assert.ok(await page.locator("#promise").isVisible());
    const top = async (selector: string): Promise<number> => (await page.locator(selector).boundingBox())?.y ?? 0;
    assert.ok((await top("#promise")) < (await top("#now")), "the verdict comes first");
    assert.ok((await top("#now")) < (await top("#lanes")) && (await top("#lanes")) < (await top("#events")));
    // All lanes are on paper, not those that a screen has room for.
    const [shown, whole] = await page.locator("#chart, #lanes-inner").evaluateAll((parts) => parts.map((it) => it.clientHeight));
    assert.equal(shown, whole);
  }));

test("the broken promise is in view on a narrow screen, too", () =>
  on(async (page) => {
    for (const size of [{ width: 900, height: 700 }, { width: 400, height: 800 }]) {
      await page.setViewportSize(size);
      const box = await page.locator("#promise .says").boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y + box.height <= size.height, JSON.stringify([size, box]));
    }
  }));

test("nothing of a trace is HTML or script, and nothing is asked of the network", async () => {
  const evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028'\"&lt;";
  const lines = readFileSync(example, "utf8").replaceAll('"name":"a"', `"name":${JSON.stringify(evil)}`)
    .replaceAll('"tier":"web"', `"tier":"web",${JSON.stringify(evil)}:${JSON.stringify(evil)}`)
    .replaceAll("every kind of line", JSON.stringify(evil).slice(1, -1))
    .replaceAll('"name":"replica 0"', `"name":${JSON.stringify(evil)}`);
  const [source, target] = [join(folder, "evil.jsonl"), join(folder, "evil.html")];
  writeFileSync(source, lines);
  conformance("trace", source, "--html", target);
  await on(async (page) => {
    for (const key of ["End", "o", "Home", "ArrowRight", "o", "s", "b", "B"]) await page.keyboard.press(key);
    await settled(page);
    assert.equal(await page.locator("h1").textContent(), evil);
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("script").count(), 3);
  }, target);
  // The browser itself tells of the refusal.
  const { page, complaints } = await open(browser, target);
  const answer = await page.evaluate(() => fetch("https://example.com/").then(() => "reached", () => "refused"));
  assert.equal(answer, "refused");
  assert.match(complaints.join(), /Content Security Policy/u);
  await page.context().close();
});

test("a reference run stands below, with the rows that differ", async () => {
  const [other, target] = [join(folder, "other.jsonl"), join(folder, "pair.html")];
  writeFileSync(other, readFileSync(example, "utf8").replace('{"data":{"key":"other"', '{"data":{"key":"another"').replace('"/data/key","value":null', '"/data/key","value":1'));
  conformance("trace", example, "--html", target, "--reference", other);
  await on(async (page) => {
    const rows = page.locator("#names .lane", { hasText: /differs:|reference:/u });
    assert.deepEqual(await rows.allTextContents(), ["differs: configmaps one/a", "reference: configmaps one/a"]);
    await rows.last().click();
    await settled(page);
    assert.ok(await page.locator("#object").isVisible());
  }, target);
});

test("the file of a killed run is shown as far as it goes", async () => {
  const [cut, target] = [join(folder, "cut.jsonl"), join(folder, "cut.html")];
  const text = readFileSync(trace, "utf8");
  writeFileSync(cut, text.slice(0, text.length / 2));
  conformance("trace", cut, "--html", target);
  await on(async (page) => {
    assert.match((await page.locator("#notes").textContent()) ?? "", /ended before its trace was complete/u);
    assert.match(await now(page), /event \d+ of/u);
    assert.equal(await page.locator("#promise h2").textContent(), "No verdict");
  }, target);
});
