// The time in which the live page shows 150,000 pods, and in which it is right again after a restart of the server.

import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { launch } from "./browser.js";
import { serve, stop } from "./served.js";

const PODS = ["--nodes", "5000", "--pods", "150000"];
const RESTARTS = 5;
const browser = await launch();
const median = (times: number[]): string => `${(times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN).toFixed(0)} ms`;

let served = await serve("--listen", "127.0.0.1:0", "--page=figures", ...PODS);
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
const shown: number[] = [];
const turned: number[] = [];
for (let time = 0; time < RESTARTS; time += 1) {
  await page.goto("about:blank");
  let start = performance.now();
  await page.goto(served.page);
  await page.locator("#resources button", { hasText: /^pods/ }).click();
  await page.locator("#rows tr").nth(99).waitFor();
  shown.push(performance.now() - start);
  const first = await page.locator("#rows button").first().textContent();
  start = performance.now();
  await page.locator("#on").click();
  await page.waitForFunction((name) => document.querySelector("#rows button")?.textContent !== name, first);
  turned.push(performance.now() - start);
}
await stop(served);

// Another server at the same address has another object; the time is that from its first word.
const again: number[] = [];
const address = served.address;
for (let time = 0; time < RESTARTS; time += 1) {
  served = await serve("--listen", address, "--page=figures", "--nodes", String(10 + time), "--pods", "100");
  const start = performance.now();
  await page.waitForFunction(
    (nodes) => [...document.querySelectorAll("#resources button")].some((button) => button.textContent === `nodes${nodes}`),
    10 + time,
  );
  again.push(performance.now() - start);
  await stop(served);
  await page.locator("#state", { hasText: "disconnected" }).waitFor();
}
await browser.close();

const lines = [
  "The live page of a server, in Chromium without a graphics card (scripts/viewer.sh figures).",
  `${cpus()[0]?.model ?? "a processor"}, ${cpus().length} cores, ${browser.version()}`,
  "",
  `opens and shows the first of 150,000 pods (median of ${RESTARTS})     ${median(shown)}`,
  `shows the next hundred                                    ${median(turned)}`,
  `is right again after the server has restarted             ${median(again)}, at most ${Math.max(...again).toFixed(0)} ms`,
  "",
];
writeFileSync(join(process.env.ROOT ?? "", "benches/results/live-page.txt"), lines.join("\n"));
console.log(lines.join("\n"));
