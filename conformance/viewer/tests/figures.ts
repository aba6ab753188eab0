// The time in which a large trace opens, and the frames a second while it is zoomed, panned and scrolled.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open, settled } from "./browser.js";
import { large } from "./large.js";

const folder = mkdtempSync(join(tmpdir(), "figures-"));
const [trace, html] = [join(folder, "large.jsonl"), join(folder, "large.html")];
writeFileSync(trace, large(50_000));
execFileSync(process.env.CONFORMANCE ?? "", ["trace", trace, "--html", html]);

const browser = await launch();
const opened: number[] = [];
for (let time = 0; time < 5; time += 1) {
  const { page } = await open(browser, html);
  opened.push(await page.evaluate(() => performance.getEntriesByName("shown")[0]?.startTime ?? Number.NaN));
  await page.context().close();
}
const { page } = await open(browser, html);
const frames = async (act: string): Promise<number> => {
  await settled(page);
  return page.evaluate(async (what) => {
    const lanes = document.getElementById("lanes") as HTMLElement;
    const press = (key: string, shiftKey = false): boolean =>
      document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
    const canvas = document.getElementById("chart") as HTMLElement;
    let count = 0;
    const start = performance.now();
    while (performance.now() - start < 2_000) {
      if (what === "scroll") lanes.scrollTop += 12;
      else if (what === "pan") canvas.dispatchEvent(new WheelEvent("wheel", { deltaX: count % 120 < 60 ? 20 : -20, cancelable: true }));
      else canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: count % 120 < 60 ? -20 : 20, ctrlKey: true, cancelable: true }));
      await new Promise((done) => requestAnimationFrame(done));
      count += 1;
    }
    void press;
    return count / ((performance.now() - start) / 1_000);
  }, act);
};
await page.keyboard.press("0");
const rates = { scroll: await frames("scroll"), pan: await frames("pan"), zoom: await frames("zoom") };
await browser.close();

const median = opened.sort((one, other) => one - other)[2] ?? Number.NaN;
const asset = statSync(join(process.env.ROOT ?? "", "conformance/viewer/dist/viewer.html")).size;
const lines = [
  "The viewer of traces, in Chromium without a graphics card (scripts/viewer.sh figures).",
  `${cpus()[0]?.model ?? "a processor"}, ${cpus().length} cores, ${browser.version()}`,
  "",
  `size of the viewer                      ${asset} bytes`,
  `trace of 50,000 events                  ${readFileSync(trace).length} bytes`,
  `opens in (median of 5)                  ${median.toFixed(0)} ms`,
  ...Object.entries(rates).map(([act, rate]) => `${act.padEnd(6)} the whole run                    ${rate.toFixed(1)} frames/s`),
  "",
];
const target = join(process.env.ROOT ?? "", "benches/results/viewer.txt");
writeFileSync(target, lines.join("\n"));
console.log(lines.join("\n"));
