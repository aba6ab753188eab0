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
    // A server that is away is told by the browser itself.
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

const focus = (page: Page): Promise<string | undefined> => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || undefined);

test("the focus goes to an object and back, and Escape closes it", () =>
  on(["--page"], async (page, served) => {
    for (const name of ["one", "two"]) await api(served, "POST", CONFIG_MAPS, configMap(name));
    await choose(page, "configmaps");
    const row = page.locator("#rows button", { hasText: /^one$/ });
    for (const key of ["Enter", "Escape"]) {
      await row.focus();
      await page.keyboard.press("Enter");
      await page.locator("#one").waitFor();
      assert.equal(await focus(page), "close");
      await page.keyboard.press(key);
      assert.ok(await page.locator("#one").isHidden());
      assert.equal(await focus(page), "one");
    }
    await row.focus();
    await page.keyboard.press("Enter");
    await page.locator("#one").waitFor();
    await api(served, "DELETE", `${CONFIG_MAPS}/one`);
    await row.waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    assert.ok(["two", "kube-root-ca.crt"].includes((await focus(page)) ?? ""), await focus(page));
    await page.evaluate(() => (window.confirm = () => false));
    await page.locator("#controls button", { hasText: "reset" }).click();
    await page.locator("#answer", { hasText: "nothing was reset" }).waitFor();
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
    assert.equal(await page.locator("#faults td").first().textContent(), "throttle, retryAfterSeconds 7, for resource configmaps, times 1");
    const refused = await fetch(`http://${served.address}${CONFIG_MAPS}`);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "7");
    await page.locator("#faults td:nth-child(2)", { hasText: /^1$/ }).waitFor();
    await page.locator("#faults button").focus();
    await page.keyboard.press("Enter");
    await page.locator("#faults tr").waitFor({ state: "detached" });
    assert.equal(await focus(page), "fault");
    await page.locator("#of-times").fill("none");
    await page.locator("#install button").click();
    await page.locator("#answer.bad", { hasText: "times" }).waitFor();
  }));

test("what is shown equals the server through 410, disconnects and a reset", () =>
  on(["--page"], async (page, served) => {
    await choose(page, "configmaps");
    for (const [control, did] of [["compact", /compacted at revision \d+/], ["expire", /expired at revision \d+/], ["disconnect", /\d+ watch(es)? ended/]] as const) {
      await page.locator("#controls button", { hasText: control }).click();
      await page.locator("#answer", { hasText: did }).waitFor();
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
