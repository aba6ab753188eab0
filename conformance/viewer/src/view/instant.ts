// The instant at the cursor: its event, and each client's belief beside the truth.

import type { App } from "../app.js";
import { seconds } from "../core/axis.js";
import { type Row, SIGNS, compare } from "../core/belief.js";
import { actorName, objectName, whoOf } from "../core/names.js";
import { words } from "../core/words.js";
import { button, byId, el, redraw } from "./dom.js";

/** The number of rows of a client that are shown at once. */
const ROWS = 40;

export class InstantView {
  private readonly now = byId("now");
  private readonly beliefs = byId("beliefs");
  private readonly live = byId("live");
  private readonly whole = new Set<number>();
  /** The tables that were opened or closed; the others are open while a client is wrong. */
  private readonly chosen = new Map<number, boolean>();
  private shown = "";

  constructor(private readonly app: App) {
    app.listen(() => this.draw());
  }

  private draw(): void {
    const { app } = this;
    const state = `${app.cursor} ${app.opened?.object} ${app.filter.namespace} ${app.filter.actor} ${[...this.whole].join()}`;
    if (state === this.shown) return;
    this.shown = state;
    const event = app.run.events[app.cursor];
    if (event === undefined) {
      this.now.replaceChildren(el("p", {}, "The trace has no events."));
      return;
    }
    const at = `${seconds(event.t)}, revision ${app.run.revisionAt(app.cursor)}`;
    const who = whoOf(app.run, app.cursor);
    const said = words(app.run, event);
    const parts: Node[] = [
      el("p", { class: "at" }, `${at} · event ${app.cursor} of ${app.run.events.length}`),
      el("p", { class: "says" }, el("b", {}, `${who} `), said),
    ];
    if (event.o !== undefined) {
      const { o } = event;
      const open = (): void => app.open({ object: o, isReference: false });
      parts.push(button(`open ${objectName(app.run, o)}`, open, { "data-key": "open" }));
    }
    for (const from of event.from ?? []) {
      const read = app.run.events[from];
      const text = read === undefined ? `event ${from}` : `${seconds(read.t)} ${whoOf(app.run, from)} ${words(app.run, read)}`;
      parts.push(button(`← decided on: ${text}`, () => app.go(from)));
    }
    redraw(this.now, ...parts);
    this.live.textContent = `${at}: ${who} ${said}`;
    redraw(this.beliefs, ...this.tables());
  }

  private tables(): Node[] {
    const { app } = this;
    const shown = app.run.believers().filter((actor) => app.filter.actor === undefined || app.filter.actor === actor);
    return shown.map((actor) => this.table(actor, compare(app.run, actor, app.cursor).filter((row) => this.isShown(row))));
  }

  private isShown(row: Row): boolean {
    const { namespace } = this.app.filter;
    return namespace === undefined || this.app.run.objects[row.object]?.namespace === namespace;
  }

  private table(actor: number, rows: Row[]): HTMLElement {
    const { app } = this;
    const wrong = rows.filter((row) => row.difference !== "equal").length;
    const revision = app.run.cacheRevisionAt(actor, app.cursor);
    const summary = el(
      "summary",
      { "data-key": `belief ${actor}` },
      el("b", {}, actorName(app.run, actor)),
      revision === undefined ? "" : ` at ${revision}`,
      wrong === 0
        ? el("span", { class: "good" }, ` = equal to the server (${rows.length})`)
        : el("span", { class: "wrong" }, ` ≠ wrong about ${wrong} of ${rows.length}`),
    );
    const head = ["object", "believed", "", "true", "wrong since"].map((title) => el("th", { role: "columnheader" }, title));
    const isWhole = this.whole.has(actor);
    const shown = isWhole ? rows : rows.slice(0, ROWS);
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...shown.map((row) => this.row(actor, row))));
    const details = el("details", { id: `belief-${actor}`, class: "belief" }, summary, table);
    details.open = this.chosen.get(actor) ?? wrong > 0;
    summary.addEventListener("click", () => this.chosen.set(actor, !details.open));
    if (shown.length < rows.length) {
      details.append(button(`show ${rows.length - shown.length} more`, () => {
        this.whole.add(actor);
        app.changed();
      }));
    }
    return details;
  }

  private row(actor: number, row: Row): HTMLElement {
    const { app } = this;
    const isWrong = row.difference !== "equal";
    const open = (): void => app.open({ object: row.object, isReference: false });
    const name = button(objectName(app.run, row.object), open, { "class": "link", "data-key": `belief ${actor} ${row.object}` });
    const age = isWrong ? `${row.behind} rev, ${seconds(row.age)}` : "";
    const line = el(
      "tr",
      { "class": isWrong ? "wrong" : "", "data-object": String(row.object) },
      el("td", {}, name),
      el("td", { class: "number" }, row.belief === undefined ? "absent" : String(row.belief)),
      el("td", { "class": "sign", "title": row.difference, "aria-label": row.difference }, SIGNS[row.difference]),
      el("td", { class: "number" }, row.truth === undefined ? "absent" : String(row.truth)),
      el("td", { class: "number" }, age),
    );
    return line;
  }
}
