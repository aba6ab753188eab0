// The bar above the chart: scales, zoom, search, filters, and what can be copied.

import type { App } from "../app.js";
import { kindsOf, namespacesOf } from "../core/filter.js";
import { actorName } from "../core/names.js";
import { linkTo } from "../moment.js";
import { button, byId, copy, el } from "./dom.js";

export class Toolbar {
  readonly search = byId("search") as HTMLInputElement;
  private readonly count = byId("found");
  private readonly scale = byId("scale") as HTMLButtonElement;

  constructor(
    private readonly app: App,
    private readonly restyle: () => void,
  ) {
    const { run } = app;
    this.scale.addEventListener("click", () => this.switchScale());
    byId("zoom-in").addEventListener("click", () => app.zoom(0.5));
    byId("zoom-out").addEventListener("click", () => app.zoom(2));
    byId("whole").addEventListener("click", () => app.setWindow(app.axis.whole(app.scale)));
    byId("theme").addEventListener("click", () => this.switchTheme());
    this.search.addEventListener("input", () => app.find(this.search.value));
    byId("hit-before").addEventListener("click", () => app.nextHit(-1));
    byId("hit-after").addEventListener("click", () => app.nextHit(1));
    this.choices("namespace", namespacesOf(run).map((name) => [name, name]), (name) => app.setFilter({ namespace: name }));
    const actors = run.actors.map((actor): [string, string] => [String(actor.actor), actorName(run, actor.actor)]);
    this.choices("actor", actors, (actor) => app.setFilter({ actor: actor === undefined ? undefined : Number(actor) }));
    this.kinds();
    this.copies();
    app.listen(() => this.draw());
  }

  switchScale(): void {
    this.app.setScale(this.app.scale === "time" ? "revision" : "time");
  }

  /** Ends the search, with its text and what it found. */
  endSearch(): void {
    this.search.value = "";
    this.app.find("");
  }

  private switchTheme(): void {
    const { dataset } = document.documentElement;
    const isDark = dataset.theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : dataset.theme === "dark";
    dataset.theme = isDark ? "light" : "dark";
    this.restyle();
  }

  private choices(id: string, choices: [string, string][], choose: (value: string | undefined) => void): void {
    const select = byId(id) as HTMLSelectElement;
    for (const [value, text] of choices) {
      const option = el("option", {}, text);
      option.value = value;
      select.append(option);
    }
    select.addEventListener("change", () => choose(select.value === "" ? undefined : select.value));
  }

  private kinds(): void {
    const list = byId("kinds");
    for (const [kind, count] of kindsOf(this.app.run)) {
      const box = el("input", { type: "checkbox" });
      box.checked = true;
      box.dataset.kind = kind;
      box.addEventListener("change", () => {
        const kinds = new Set(this.app.filter.kinds);
        if (box.checked) kinds.delete(kind);
        else kinds.add(kind);
        this.app.setFilter({ kinds });
      });
      list.append(el("label", {}, box, ` ${kind} (${count})`));
    }
  }

  private copies(): void {
    const { header } = this.app.run;
    const bar = byId("copies");
    const add = (text: string, value: () => string): void => {
      const act = button(text, () => {
        void copy(value()).then(() => {
          act.textContent = "copied";
          setTimeout(() => (act.textContent = text), 1_200);
        });
      });
      bar.append(act);
    };
    if (header.seed !== undefined) add("copy seed", () => String(header.seed));
    if (header.replay !== undefined) add("copy replay line", () => header.replay ?? "");
    add("link to this moment", () => linkTo(this.app));
  }

  private draw(): void {
    const { app } = this;
    this.scale.textContent = `scale: ${app.scale}`;
    this.scale.setAttribute("aria-pressed", String(app.scale === "revision"));
    const place = app.hits.indexOf(app.cursor);
    this.count.textContent = app.query === "" ? "" : place < 0 ? `${app.hits.length} found` : `${place + 1} of ${app.hits.length}`;
  }
}
