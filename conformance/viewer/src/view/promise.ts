// The broken promise: its words, what was expected, and the events that led there.

import type { App } from "../app.js";
import { seconds } from "../core/axis.js";
import type { Run } from "../core/run.js";
import { whoOf } from "../core/names.js";
import { words } from "../core/words.js";
import type { ChartView } from "./chart.js";
import { button, byId, el, redraw } from "./dom.js";

/** What is said of a run without a broken promise, why, and how it looks. */
function verdictOf(run: Run): [string, string, "kept" | "unknown"] {
  if (!run.isComplete) return ["No verdict", "The run was ended before it was judged.", "unknown"];
  if (run.header.program?.startsWith("fakeserver") === true) {
    return ["No promises were checked", "It is the trace of a server, which judges nobody.", "unknown"];
  }
  return ["Every promise was kept", "", "kept"];
}

export class PromiseView {
  private readonly section = byId("promise");
  private shown = "";

  constructor(
    private readonly app: App,
    private readonly chart: ChartView,
  ) {
    app.listen(() => this.draw());
  }

  /** Shows the broken promise this number of places on, and its events. */
  show(place: number): void {
    const { app } = this;
    app.showPromise(place);
    const broken = app.run.broken[app.promise];
    if (broken !== undefined) this.chart.reveal([...app.eventsOf(broken)].reverse());
  }

  private draw(): void {
    const { app } = this;
    const state = `${app.promise} ${app.cursor}`;
    if (state === this.shown) return;
    this.shown = state;
    const { broken } = app.run;
    const promise = broken[app.promise];
    if (promise === undefined) {
      const [verdict, why, look] = verdictOf(app.run);
      this.section.replaceChildren(el("h2", {}, verdict), el("p", { class: "expected" }, why));
      this.section.classList.add(look);
      return;
    }
    const heading = el("h2", {}, el("span", { "class": "wrong", "aria-hidden": "true" }, "✗ "), `Broken: ${promise.broken}`);
    const nav = el("div", { class: "row" });
    if (broken.length > 1) {
      nav.append(
        button("‹", () => this.show(app.promise - 1), { "aria-label": "previous broken promise" }),
        el("span", {}, `${app.promise + 1} of ${broken.length}`),
        button("›", () => this.show(app.promise + 1), { "aria-label": "next broken promise" }),
      );
    }
    const parts: Node[] = [heading, el("p", { class: "says" }, promise.says)];
    if (promise.expected !== undefined) parts.push(el("p", { class: "expected" }, el("b", {}, "Expected: "), promise.expected));
    if (promise.excused === true) parts.push(el("p", { class: "expected" }, "A fault explains it."));
    const events = app.eventsOf(promise);
    if (events.length > 0) {
      const steps = events.map((event) => this.step(event, event === promise.at));
      parts.push(el("h3", {}, "What led there"), el("ol", { class: "led" }, ...steps));
    } else {
      parts.push(el("p", { class: "expected" }, "It is about the end of the run."));
    }
    redraw(this.section, ...parts, nav);
  }

  private step(number: number, isLast: boolean): HTMLElement {
    const { app } = this;
    const event = app.run.events[number];
    const text = event === undefined ? "an event that is not in the file" : words(app.run, event);
    const go = button("", () => app.go(number), {
      "class": number === app.cursor ? "event current" : "event",
      "data-key": `event ${number}`,
    });
    go.append(
      el("span", { class: "time" }, seconds(event?.t ?? 0)),
      el("span", { class: "who" }, whoOf(app.run, number)),
      el("span", { class: isLast ? "what wrong" : "what" }, isLast ? `✗ ${text}` : text),
    );
    return el("li", {}, go);
  }
}
