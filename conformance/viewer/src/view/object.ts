// An object as YAML, before and after a change, with the managers of its fields.

import type { App, Opened } from "../app.js";
import { seconds } from "../core/axis.js";
import type { Json } from "../core/format.js";
import { managersOf, withoutManagers } from "../core/managers.js";
import { type Run, lastWhere } from "../core/run.js";
import { objectName } from "../core/names.js";
import { type DiffRow, JOIN, type Line, diff, folded, toLines } from "../core/yaml.js";
import { type FocusPlace, button, byId, el, focusAt, focusPlace, redraw } from "./dom.js";

/** The number of colours of managers; more of them share colours, and have their names. */
const COLOURS = 8;

interface Side {
  title: string;
  content: Json | undefined;
}

export class ObjectView {
  private readonly drawer = byId("object");
  private readonly unfolded = new Set<string>();
  private shown = "";
  private known: Opened | undefined;
  private returnTo: Element | null = null;
  private returnPlace: FocusPlace | undefined;

  constructor(
    private readonly app: App,
    private readonly focusLane: (lane: string) => void,
  ) {
    app.listen(() => this.draw());
  }

  private draw(): void {
    const { app } = this;
    const { opened } = app;
    const state = opened === undefined ? "" : `${opened.object} ${opened.isReference} ${app.cursor} ${this.unfolded.size}`;
    if (state === this.shown) return;
    this.shown = state;
    const isOther = opened?.object !== this.known?.object || opened?.isReference !== this.known?.isReference;
    this.known = opened;
    this.drawer.hidden = opened === undefined;
    if (opened === undefined) {
      this.giveFocusBack();
      return;
    }
    const isFromOutside = isOther && !this.drawer.contains(document.activeElement);
    if (isFromOutside) {
      this.returnTo = document.activeElement;
      this.returnPlace = focusPlace(byId("panel"));
    }
    const run = opened.isReference ? app.reference : app.run;
    if (run === undefined) return;
    const event = opened.isReference ? run.events.length - 1 : app.cursor;
    const versions = run.versions[opened.object] ?? [];
    const place = Math.max(0, lastWhere(versions, (version) => version.event <= event));
    const sides = this.sides(run, opened.object, place);
    const names = [...new Set(sides.flatMap((side) => [...managersOf(side.content).values()].flat()))];
    const close = button("close", () => app.open(undefined), { class: "close" });
    const bar = el("header", { class: "row" }, el("h2", {}, objectName(run, opened.object)), ...this.steps(run, opened.object, place), legend(names), close);
    redraw(this.drawer, bar, this.comparison(sides, names));
    if (isFromOutside) close.focus();
  }

  /** Focuses the element that had the focus before the object was opened; it may have been created again since. */
  private giveFocusBack(): void {
    const before = this.returnTo;
    if (before instanceof HTMLElement && before.dataset.lane !== undefined) this.focusLane(before.dataset.lane);
    else if (this.returnPlace !== undefined) focusAt(this.returnPlace);
    else if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
    else byId("lanes").focus({ preventScroll: true });
  }

  private sides(run: Run, object: number, place: number): [Side, Side] {
    const versions = run.versions[object] ?? [];
    const title = (at: number): string => {
      const version = versions[at];
      if (version === undefined) return "absent";
      return `${version.isGone ? "deleted at" : "version"} ${version.revision}, ${seconds(run.events[version.event]?.t ?? 0)}`;
    };
    const content = (at: number): Json | undefined => (versions[at]?.isGone === true ? undefined : run.content(object, at));
    return [
      { title: `before: ${title(place - 1)}`, content: content(place - 1) },
      { title: `after: ${title(place)}`, content: content(place) },
    ];
  }

  /** Buttons to the neighbouring versions, which move the cursor. */
  private steps(run: Run, object: number, place: number): Node[] {
    if (this.app.opened?.isReference === true) return [];
    const versions = run.versions[object] ?? [];
    const to = (at: number, text: string, name: string): HTMLButtonElement => {
      const step = button(text, () => this.app.go(versions[at]?.event ?? 0), { "aria-label": name });
      step.disabled = versions[at] === undefined;
      return step;
    };
    return [
      to(place - 1, "‹", "previous version"),
      el("span", {}, `${place + 1} of ${versions.length}`),
      to(place + 1, "›", "next version"),
    ];
  }

  private comparison([before, after]: [Side, Side], names: string[]): HTMLElement {
    const [old, young] = [before, after].map((side) => ({
      lines: toLines(withoutManagers(side.content)),
      managers: managersOf(side.content),
    })) as [Told, Told];
    const table = el("div", { "class": "yaml", "role": "table", "aria-label": "before and after", "tabindex": "0" });
    const titles = [before, after].map(({ title }) => el("div", { class: "title", role: "columnheader" }, title));
    table.append(el("div", { class: "line", role: "row" }, ...titles));
    folded(diff(old.lines, young.lines)).forEach((fold, number) => {
      const key = `${this.app.opened?.object} ${after.title} ${number}`;
      if (fold.isFolded && !this.unfolded.has(key)) {
        const unfold = button(`… ${fold.rows.length} equal lines`, () => {
          this.unfolded.add(key);
          this.app.changed();
        }, { class: "fold" });
        table.append(el("div", { class: "line", role: "row" }, el("div", { class: "folded", role: "cell" }, unfold)));
        return;
      }
      for (const row of fold.rows) table.append(el("div", { class: "line", role: "row" }, ...cells(row, old, young, names)));
    });
    return table;
  }
}

interface Told {
  lines: Line[];
  managers: Map<string, string[]>;
}

function cells(row: DiffRow, before: Told, after: Told, names: string[]): Node[] {
  const cell = (line: Line | undefined, side: Told, sign: string): HTMLElement => {
    const changed = row.isEqual || line === undefined ? "" : sign === "−" ? " removed" : " added";
    const owners = line === undefined ? [] : managing(side.managers, line.path);
    const place = names.indexOf(owners[0] ?? "");
    const shade = place < 0 ? "" : ` manager-${place % COLOURS}`;
    const text = el("span", { class: "text" }, line?.text ?? "");
    // The number is that of the legend; screen readers read the name.
    const managed = el("span", { "aria-hidden": "true" }, owners.map((owner) => names.indexOf(owner) + 1).join(","));
    const said = owners.length === 0 ? "" : `, of ${owners.join(" and ")}`;
    const who = el("span", { class: "manager" }, managed, el("span", { class: "unseen" }, said));
    const mark = el("span", { class: "sign" }, line === undefined || row.isEqual ? " " : sign);
    return el("div", { class: `cell${changed}${shade}`, role: "cell", title: owners.join(", ") }, mark, text, who);
  };
  return [cell(row.before, before, "−"), cell(row.after, after, "+")];
}

/** The managers of a field, or of the nearest one that it is part of. */
function managing(managers: Map<string, string[]>, path: string): string[] {
  const keys = path.split(JOIN);
  for (let length = keys.length; length > 0; length -= 1) {
    const found = managers.get(keys.slice(0, length).join(JOIN));
    if (found !== undefined) return found;
  }
  return [];
}

function legend(names: string[]): HTMLElement {
  const entries = names.map((name, place) => el("li", { class: `manager-${place % COLOURS}` }, el("b", {}, `${place + 1} `), name));
  return el("ul", { "class": "legend", "aria-label": "field managers" }, ...entries);
}
