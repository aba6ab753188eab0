// The live page of `fakeserver serve --page` in a browser: what it shows is what the server has, whatever happens to either.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch } from "./browser.js";
import { type Served, serve, stop } from "./served.js";

const TOKEN = "token-of-the-tests";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** The longest wait for the page. How long it takes is measured by `live-figures.ts`. */
const PATIENCE_MS = 10_000;
const MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>";

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** Opens the page of a server, does something, and expects that nothing was loaded, run or asked but what is the page's. */
async function on(words: string[], act: (page: Page, served: Served) => Promise<Served | void>): Promise<void> {
  let served = await serve("--listen", "127.0.0.1:0", ...words);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // The browser itself reports a missing server.
    if (message.type() === "error" && !/WebSocket connection/.test(message.text())) complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== `http://${served.address}/_control/page`) complaints.push(`asked for ${request.url()}`);
  });
  page.on("dialog", (dialog) => {
    if (dialog.type() !== "confirm") complaints.push(`dialog: ${dialog.message()}`);
    void dialog.accept();
  });
  try {
    await page.goto(served.page);
    await state(page, "connected");
    served = (await act(page, served)) ?? served;
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
    await stop(served);
  }
}

const state = (page: Page, text: string, timeout = 10_000): Promise<void> => page.locator("#state", { hasText: new RegExp(`^${text}$`) }).waitFor({ timeout });

async function api(served: Served, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`http://${served.address}${path}`, { method, headers: { "content-type": "application/json", ...headers }, ...sent });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? undefined : answer.json();
}

const configMap = (name: string): unknown => ({
  metadata: { name, annotations: { markup: MARKUP }, labels: { name } },
  data: { key: MARKUP },
});

const choose = async (page: Page, resource: string): Promise<void> => {
  await page.locator("#resources button", { has: page.locator("span", { hasText: new RegExp(`^${resource}$`) }) }).click();
  await page.locator("#of-objects", { hasText: resource }).waitFor();
};

/** Waits until the table is that of the server, without ages. */
async function equal(page: Page, served: Served, path: string, timeout: number): Promise<void> {
  const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const table = (await api(served, "GET", `${path}?limit=100`, undefined, { accept })) as {
    columnDefinitions: { name: string; priority: number }[];
    rows: { cells: unknown[]; object: { metadata: { namespace?: string } } }[];
  };
  const isShown = table.columnDefinitions.map((column) => column.priority === 0 && column.name !== "Age");
  const expected = table.rows.map((row) => {
    const cells = row.cells.filter((_, index) => isShown[index]).map(String);
    return row.object.metadata.namespace === undefined ? cells : [row.object.metadata.namespace, ...cells];
  });
  const shown = (wanted: string): boolean => {
    const heads = [...document.querySelectorAll("#columns th")].map((head) => head.textContent);
    const rows = [...document.querySelectorAll("#rows tr")].map((row) =>
      [...row.querySelectorAll("td")].filter((_, index) => heads[index] !== "Age").map((cell) => cell.textContent),
    );
    return JSON.stringify(rows) === wanted;
  };
  await page.waitForFunction(shown, JSON.stringify(expected), { timeout });
}

test("the table and the YAML of an object are those of the server", () =>
  on(["--page"], async (page, served) => {
    await api(served, "POST", CONFIG_MAPS, configMap("one"));
    await choose(page, "configmaps");
    await equal(page, served, "/api/v1/configmaps", 5_000);
    await api(served, "POST", CONFIG_MAPS, configMap("two"));
    await equal(page, served, "/api/v1/configmaps", 5_000);
    await page.locator("#rows button", { hasText: /^one$/ }).click();
    await page.locator("#yaml", { hasText: "name: one" }).waitFor();
    await page.locator("#managers summary", { hasText: "Update" }).first().click();
    assert.match((await page.locator("#managers pre").first().textContent()) ?? "", /^\.data/);
    await api(served, "PATCH", `${CONFIG_MAPS}/one`, { data: { key: "changed" } }, { "content-type": "application/merge-patch+json" });
    await page.locator("#yaml", { hasText: "key: changed" }).waitFor();
    await api(served, "DELETE", `${CONFIG_MAPS}/one`);
    await page.locator("#yaml", { hasText: "no such object" }).waitFor();
    await page.locator("#close").click();
    assert.ok(await page.locator("#one").isHidden());
  }));

/** What has the focus: its id, or its text. */
const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || "");

test("the focus goes into an object, and back to its row or a neighbour", () =>
  on(["--page"], async (page, served) => {
    for (const name of ["a", "b", "c"]) await api(served, "POST", CONFIG_MAPS, configMap(name));
    await choose(page, "configmaps");
    await page.locator("#namespace").fill("default");
    await page.keyboard.press("Enter");
    await page.locator("#hint", { hasText: "3 objects shown" }).waitFor();
    const row = (name: string) => page.locator("#rows button", { hasText: new RegExp(`^${name}$`) });
    const open = async (name: string): Promise<void> => {
      await row(name).focus();
      await page.keyboard.press("Enter");
      assert.equal(await focused(page), "of-object");
      assert.match((await page.locator("#of-object").textContent()) ?? "", new RegExp(`configmaps default/${name}$`));
      await page.locator("#yaml", { hasText: `name: ${name}` }).waitFor();
    };
    await open("b");
    await page.keyboard.press("Escape");
    assert.equal(await focused(page), "b");
    assert.ok(await page.locator("#one").isHidden());
    // An object that is changed while its managers have the focus.
    await open("b");
    await page.locator("#managers summary").first().focus();
    await api(served, "PATCH", `${CONFIG_MAPS}/b`, { data: { key: "changed" } }, { "content-type": "application/merge-patch+json" });
    await page.locator("#yaml", { hasText: "key: changed" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.localName), "summary");
    // One that is deleted while it is open, and at last the only ones there are.
    await api(served, "DELETE", `${CONFIG_MAPS}/b`);
    await row("b").waitFor({ state: "detached" });
    await page.locator("#close").focus();
    await page.keyboard.press("Enter");
    assert.equal(await focused(page), "c");
    await api(served, "DELETE", `${CONFIG_MAPS}/c`);
    await row("c").waitFor({ state: "detached" });
    assert.equal(await focused(page), "a");
    // Escape in a field is the field's.
    await open("a");
    await page.locator("#start").focus();
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#one").isVisible());
  }));

test("where nothing is found there is a way on", () =>
  on(["--page"], async (page, served) => {
    await api(served, "POST", CONFIG_MAPS, configMap("one"));
    await choose(page, "configmaps");
    await row(page, "one");
    const total = Number(/; (\d+) in all/.exec((await page.locator("#hint").textContent()) ?? "")?.[1]);
    await page.locator("#start").fill("zzz");
    await page.keyboard.press("Enter");
    await page.locator("#hint", { hasText: `There are no configmaps from zzz on; ${total} in all namespaces.` }).waitFor();
    await page.locator("#beginning").click();
    await row(page, "one");
    assert.ok(await page.locator("#beginning").isHidden());
    await page.locator("#namespace").fill("nowhere");
    await page.keyboard.press("Enter");
    await page.locator("#hint", { hasText: `no configmaps in namespace nowhere; ${total} in` }).waitFor();
    await page.locator("#everywhere").click();
    await row(page, "one");
    await page.locator("#namespace").fill("default");
    await page.locator("#start").fill("default/one");
    await page.keyboard.press("Enter");
    await page.locator("#hint", { hasText: "1 object shown from default/one on" }).waitFor();
  }));

const row = (page: Page, name: string): Promise<void> => page.locator("#rows button", { hasText: new RegExp(`^${name}$`) }).waitFor();

test("controls say in words what they did", () =>
  on(["--page"], async (page, served) => {
    const press = (name: string): Promise<void> => page.locator("#controls button", { hasText: name }).click();
    const said = (text: RegExp): Promise<void> => page.locator("#answer", { hasText: text }).waitFor();
    const leave = new AbortController();
    const watch = await fetch(`http://${served.address}/api/v1/pods?watch=1`, { signal: leave.signal });
    assert.ok(watch.ok);
    await page.locator("#counts div", { hasText: /^1 open watch$/ }).waitFor();
    const revision = await page.locator("#counts dd").first().textContent();
    await press("compact");
    await said(new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d compacted at revision ${revision}$`));
    const first = await page.locator("#answer").textContent();
    await page.waitForTimeout(150);
    await press("compact");
    await page.waitForFunction((text) => document.querySelector("#answer")?.textContent !== text, first);
    await press("disconnect");
    await said(/disconnected: 1 watch ended$/);
    await page.locator("#counts div", { hasText: /^0 open watches$/ }).waitFor();
    await press("expire");
    await said(/expired: the history at revision \d+ is forgotten/);
    page.removeAllListeners("dialog");
    page.once("dialog", (dialog) => void dialog.dismiss());
    await press("reset");
    await said(/reset was cancelled: nothing was done$/);
    page.once("dialog", (dialog) => void dialog.accept());
    await press("reset");
    await said(/reset: the server is as it was when it began/);
    await press("write snapshot");
    await said(/409: .*--data/);
    assert.equal(await page.locator("#answer").getAttribute("class"), "bad");
    leave.abort();
  }));

test("HTML and script in objects, clients and faults stay text", () =>
  on(["--page"], async (page, served) => {
    await api(served, "POST", CONFIG_MAPS, configMap("one"));
    await api(served, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: "marks.example.com" },
      spec: {
        group: "example.com", scope: "Namespaced", names: { plural: "marks", kind: "Mark" },
        versions: [{
          name: "v1", served: true, storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { text: { type: "string" } } } },
          additionalPrinterColumns: [{ name: MARKUP, type: "string", jsonPath: ".text", description: MARKUP }],
        }],
      },
    });
    const marks = "/apis/example.com/v1/namespaces/default/marks";
    await api(served, "POST", marks, { apiVersion: "example.com/v1", kind: "Mark", metadata: { name: "m" }, text: MARKUP });
    await choose(page, "marks.example.com");
    await equal(page, served, "/apis/example.com/v1/marks", 5_000);
    assert.equal(await page.locator("#columns th").nth(2).textContent(), MARKUP);
    await choose(page, "configmaps");
    await page.locator("#rows button", { hasText: /^one$/ }).click();
    await page.locator("#yaml", { hasText: MARKUP }).waitFor();

    const leave = new AbortController();
    const headers = { "user-agent": MARKUP };
    const watch = await fetch(`http://${served.address}/api/v1/pods?watch=1`, { headers, signal: leave.signal });
    assert.ok(watch.ok);
    await page.locator("#watches td", { hasText: "<img" }).waitFor();
    await page.locator("#of-client").fill(MARKUP);
    await page.locator("#install button").click();
    await page.locator("#faults td", { hasText: "<img" }).first().waitFor();
    assert.equal(await page.locator("img, main script").count(), 0);
    leave.abort();
  }));

test("a fault is installed with its parameters, tells what it did, and is removed", () =>
  on(["--page"], async (page, served) => {
    await page.locator("#fault").selectOption("throttle");
    await page.locator("#parameters input[name=retryAfterSeconds]").fill("7");
    await page.locator("#of-resource").fill("configmaps");
    await page.locator("#of-times").fill("1");
    const spec = { fault: "throttle", retryAfterSeconds: 7, match: { resource: "configmaps" }, when: { times: 1 } };
    assert.deepEqual(JSON.parse((await page.locator("#spec").textContent()) ?? ""), spec);
    await page.locator("#install button").click();
    await page.locator("#faults tr").waitFor();
    const refused = await fetch(`http://${served.address}${CONFIG_MAPS}`);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "7");
    await page.locator("#faults td:nth-child(4)", { hasText: /^1$/ }).waitFor();
    const words = await page.locator("#faults td").allTextContents();
    assert.deepEqual(words.slice(0, 4), ["throttle: retryAfterSeconds 7", "resource configmaps", "once", "1"]);
    await page.locator("#answer", { hasText: "installed: throttle: retryAfterSeconds 7, resource configmaps, once" }).waitFor();
    await page.locator("#faults button").focus();
    await page.keyboard.press("Enter");
    await page.locator("#faults tr").waitFor({ state: "detached" });
    await page.locator("#answer", { hasText: "removed: throttle" }).waitFor();
    assert.match((await page.locator("#answer").textContent()) ?? "", /it had fired 1 time$/);
    assert.equal(await focused(page), "of-faults");
    assert.ok(await page.locator("#no-faults").isVisible());
    await page.locator("#of-times").fill("none");
    await page.locator("#install button").click();
    await page.locator("#answer.bad", { hasText: "times" }).waitFor();
  }));

test("what is shown equals the server through 410, disconnects and a reset", () =>
  on(["--page"], async (page, served) => {
    await choose(page, "configmaps");
    for (const control of ["compact", "expire", "disconnect"]) {
      await page.locator("#controls button", { hasText: control }).click();
      await page.locator("#answer", { hasText: ` ${control}` }).waitFor();
      await api(served, "POST", CONFIG_MAPS, configMap(`after-${control}`));
      await equal(page, served, "/api/v1/configmaps", PATIENCE_MS);
    }
    await page.locator("#controls button", { hasText: "reset" }).click();
    await page.locator("#rows button", { hasText: "after-" }).first().waitFor({ state: "detached" });
    await equal(page, served, "/api/v1/configmaps", PATIENCE_MS);
  }));

test("what is shown equals the server again after its restart", () =>
  on([`--page=${TOKEN}`], async (page, served) => {
    await api(served, "POST", CONFIG_MAPS, configMap("one"));
    await choose(page, "configmaps");
    await page.locator("#rows button", { hasText: /^one$/ }).click();
    await page.locator("#yaml", { hasText: "name: one" }).waitFor();
    await stop(served);
    await state(page, "disconnected");
    const again = await serve("--listen", served.address, `--page=${TOKEN}`);
    try {
      await state(page, "connected", PATIENCE_MS);
      await equal(page, again, "/api/v1/configmaps", PATIENCE_MS);
      await page.locator("#yaml", { hasText: "no such object" }).waitFor();
      await stop(again);
    } catch (error) {
      await stop(again);
      throw error;
    }
    // Another token: the page says so, and takes the new one.
    const other = await serve("--listen", served.address, "--page");
    await state(page, "not admitted");
    await page.locator("#token").fill(other.page.split("token=")[1] ?? "");
    await page.keyboard.press("Enter");
    await state(page, "connected");
    await equal(page, other, "/api/v1/configmaps", PATIENCE_MS);
    return other;
  }));

test("the page is usable with very many pods", () => {
  const pods = process.env.LIVE_PODS ?? "20000";
  return on(["--page", "--nodes", "100", "--pods", pods], async (page, served) => {
    await choose(page, "pods");
    await equal(page, served, "/api/v1/pods", 10_000);
    const first = await page.locator("#rows button").first().textContent();
    await page.locator("#on").click();
    await page.locator("#hint", { hasText: `${pods}` }).waitFor();
    await page.waitForFunction((name) => document.querySelector("#rows button")?.textContent !== name, first);
    await page.locator("#back").click();
    await equal(page, served, "/api/v1/pods", 10_000);
  });
});
