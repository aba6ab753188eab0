// Takes the screenshots of the live page for the docs.

import { join } from "node:path";
import { launch } from "./browser.js";
import { serve, stop } from "./served.js";

const target = process.env.SHOTS ?? join(process.env.ROOT ?? "", "docs/src/reference/fakeserver/page");
const served = await serve("--listen", "127.0.0.1:0", "--page", "--nodes", "20", "--pods", "2000", "--churn", "40");
const server = `http://${served.address}`;
const leave = new AbortController();
// Answers that nothing refers to are ended.
const watches: Response[] = [];
for (const [agent, resource] of [["kube-scheduler/1.36", "pods"], ["kubelet/1.36", "pods"], ["kubelet/1.36", "nodes"], ["my-operator/0.1", "apps/v1/deployments"]]) {
  const path = resource?.includes("/") ? `apis/${resource}` : `api/v1/${resource}`;
  watches.push(await fetch(`${server}/${path}?watch=1`, { headers: { "user-agent": agent ?? "" }, signal: leave.signal }));
}

const browser = await launch();
const shot = async (name: string, colorScheme: "light" | "dark", act: (page: Awaited<ReturnType<typeof browser.newPage>>) => Promise<void>): Promise<void> => {
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 }, colorScheme });
  await page.goto(served.page);
  await page.locator("#resources button", { hasText: /^pods/ }).click();
  await page.locator("#rows tr").nth(99).waitFor();
  await act(page);
  await page.screenshot({ path: join(target, `${name}.png`) });
  await page.close();
};
await shot("objects", "light", async () => {});
await shot("object", "dark", async (page) => {
  await page.locator("#rows button").nth(2).click();
  await page.locator("#managers summary").first().click();
  await page.locator("#one").evaluate((section) => section.scrollIntoView());
});
await shot("faults", "light", async (page) => {
  await page.locator("#fault").selectOption("throttle");
  await page.locator("#parameters input").first().fill("2");
  await page.locator("#of-client").fill("my-operator");
  await page.locator("#install button").click();
  await page.locator("#faults tr").waitFor();
  await fetch(`${server}/api/v1/pods?limit=1`, { headers: { "user-agent": "my-operator/0.1" } });
  await page.locator("#faults td", { hasText: /^1$/ }).waitFor();
  await page.locator("#watches tr").first().waitFor();
  await page.locator("#of-controls").evaluate((title) => title.closest("section")?.scrollIntoView());
});
await browser.close();
console.log(`${watches.length} watches were open`);
leave.abort();
await stop(served);
