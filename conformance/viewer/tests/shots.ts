// Takes the screenshots of the docs.

import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, settled } from "./browser.js";

const program = process.env.CONFORMANCE ?? "";
const target = process.env.SHOTS ?? join(process.env.ROOT ?? "", "docs/src/reference/conformance/viewer");
const folder = mkdtempSync(join(tmpdir(), "shots-"));
const bug = "tombstones-dropped";

execFileSync(program, ["bugs", "--bug", bug, "--html", folder], { stdio: "ignore" });
const file = join(folder, `${bug}.html`);
const browser = await launch();
const shot = async (name: string, scheme: "light" | "dark", act: (page: Awaited<ReturnType<typeof open>>["page"]) => Promise<void>): Promise<void> => {
  const { page } = await open(browser, file, "", scheme);
  await act(page);
  await settled(page);
  await page.screenshot({ path: join(target, `${name}.png`) });
};
await shot("promise", "light", async () => {});
await shot("dark", "dark", async (page) => page.keyboard.press("0"));
await shot("belief", "light", async (page) => {
  await page.keyboard.press("0");
  // While the server is away, everybody is behind.
  await page.evaluate(() => (location.hash = "#t=42.5"));
  await settled(page);
  await page.locator("#beliefs").evaluate((table) => table.closest("section")?.scrollIntoView());
});
await shot("object", "light", async (page) => {
  await page.locator("#names .lane.object", { hasText: "two/pod-1" }).first().click();
  await page.evaluate(() => (location.hash = "#t=42.5"));
});
await shot("search", "light", async (page) => {
  await page.keyboard.press("s");
  await page.keyboard.press("0");
  await page.keyboard.press("/");
  await page.keyboard.type("DELETED");
  await page.keyboard.press("Enter");
});
await browser.close();
