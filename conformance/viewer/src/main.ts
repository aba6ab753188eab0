// Reads the traces that the page holds, and shows them.

import { App } from "./app.js";
import { decode } from "./core/decode.js";
import { Run } from "./core/run.js";
import { listenToKeys } from "./keys.js";
import { fragment, goToMoment } from "./moment.js";
import { ChartView } from "./view/chart.js";
import { byId, el } from "./view/dom.js";
import { EventsView } from "./view/events.js";
import { InstantView } from "./view/instant.js";
import { ObjectView } from "./view/object.js";
import { PromiseView } from "./view/promise.js";
import { Toolbar } from "./view/toolbar.js";

function read(id: string): Run | undefined {
  const text = document.getElementById(id)?.textContent ?? "";
  return text.trim() === "" ? undefined : new Run(decode(text));
}

function start(): void {
  const run = read("trace");
  if (run === undefined) throw new Error("the page holds no trace");
  const app = new App(run, read("reference"));
  const chart = new ChartView(app);
  const promise = new PromiseView(app, chart);
  const toolbar = new Toolbar(app, () => chart.restyle());
  new InstantView(app);
  new ObjectView(app, (lane) => chart.focusLane(lane));
  new EventsView(app);
  listenToKeys({ app, chart, promise, toolbar });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.restyle());
  matchMedia("print").addEventListener("change", () => chart.restyle());
  addEventListener("hashchange", () => goToMoment(app));
  describe(run);
  if (!goToMoment(app)) promise.show(0);
  // Not before the first picture: an address without a moment stays one until the page moves.
  let known = app.cursor;
  app.listen(() => {
    if (app.cursor === known) return;
    known = app.cursor;
    history.replaceState(null, "", `#${fragment(app)}`);
  });
  app.changed();
}

function describe(run: Run): void {
  const { header } = run;
  const title = header.title ?? header.command ?? "a run";
  document.title = `${title} · trace`;
  byId("title").textContent = title;
  const versions = Object.entries(header.versions ?? {}).map(([name, version]) => `${name} ${version}`);
  byId("about").textContent = [header.program ?? "", ...versions].filter((part) => part !== "").join(" · ");
  const notes = [];
  if (!run.isComplete) notes.push("The run was ended before its trace was complete.");
  if (run.unknownCount > 0) notes.push(`${run.unknownCount} lines are of a later version of the format, and are not shown.`);
  byId("notes").textContent = notes.join(" ");
}

try {
  start();
  performance.mark("shown");
} catch (error) {
  byId("notes").textContent = error instanceof Error ? error.message : String(error);
  document.body.classList.add("failed");
  byId("main").replaceChildren(el("p", { class: "failure" }, `The trace cannot be shown: ${String(error)}`));
}
