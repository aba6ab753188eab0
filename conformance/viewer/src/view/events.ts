// The events around the cursor, as a list.

import type { App } from "../app.js";
import { seconds } from "../core/axis.js";
import { whoOf } from "../core/names.js";
import { words } from "../core/words.js";
import { button, byId, el, redraw } from "./dom.js";

/** The number of events before and after that at the cursor. */
const BEFORE = 12;
const AFTER = 24;

export class EventsView {
  private readonly list = byId("events");
  private shown = "";

  constructor(private readonly app: App) {
    app.listen(() => this.draw());
  }

  private draw(): void {
    const { app } = this;
    const around = [...this.side(-1, BEFORE).reverse(), app.cursor, ...this.side(1, AFTER)];
    const state = `${around.join()} ${app.query}`;
    if (state === this.shown) return;
    this.shown = state;
    const found = new Set(app.hits);
    redraw(this.list, ...around.map((number) => this.line(number, found.has(number))));
  }

  private side(by: 1 | -1, count: number): number[] {
    const { app } = this;
    const found: number[] = [];
    for (let event = app.cursor + by; event >= 0 && event < app.run.events.length && found.length < count; event += by) {
      if (!app.hides(event)) found.push(event);
    }
    return found;
  }

  private line(number: number, isFound: boolean): HTMLElement {
    const { app } = this;
    const event = app.run.events[number];
    const classes = ["event", number === app.cursor ? "current" : "", isFound ? "found" : ""];
    const go = button("", () => app.go(number), { "class": classes.join(" "), "data-key": `event ${number}` });
    if (number === app.cursor) go.setAttribute("aria-current", "true");
    go.append(
      el("span", { class: "time" }, seconds(event?.t ?? 0)),
      el("span", { class: "who" }, whoOf(app.run, number)),
      el("span", { class: "what" }, event === undefined ? "" : words(app.run, event)),
    );
    return el("li", {}, go);
  }
}
