// The keyboard.

import type { App } from "./app.js";
import type { ChartView } from "./view/chart.js";
import type { PromiseView } from "./view/promise.js";
import type { Toolbar } from "./view/toolbar.js";
import { byId } from "./view/dom.js";

interface Views {
  app: App;
  chart: ChartView;
  promise: PromiseView;
  toolbar: Toolbar;
}

type Act = (views: Views) => void;

const ACTS: Record<string, Act> = {
  "ArrowLeft": ({ app }) => app.step(-1),
  "ArrowRight": ({ app }) => app.step(1),
  "Shift+ArrowLeft": ({ app }) => app.pan(-0.2),
  "Shift+ArrowRight": ({ app }) => app.pan(0.2),
  "ArrowUp": ({ chart }) => chart.moveFocus(-1),
  "ArrowDown": ({ chart }) => chart.moveFocus(1),
  "PageUp": ({ chart }) => chart.moveFocus(-10),
  "PageDown": ({ chart }) => chart.moveFocus(10),
  "Home": ({ app }) => app.go(0),
  "End": ({ app }) => app.go(app.run.events.length - 1),
  "+": ({ app }) => app.zoom(0.5),
  "=": ({ app }) => app.zoom(0.5),
  "-": ({ app }) => app.zoom(2),
  "0": ({ app }) => app.setWindow(app.axis.whole(app.scale)),
  "s": ({ toolbar }) => toolbar.switchScale(),
  "/": ({ toolbar }) => toolbar.search.focus(),
  "n": ({ app }) => app.nextHit(1),
  "p": ({ app }) => app.nextHit(-1),
  "b": ({ app, promise }) => promise.show(app.promise),
  "B": ({ app, promise }) => promise.show(app.promise + 1),
  "o": ({ app }) => {
    const object = app.run.events[app.cursor]?.o;
    if (object !== undefined) app.open({ object, isReference: false });
  },
  "?": () => showHelp(byId("help").hidden),
};

/** Shows the keys, or hides them; the focus goes there and comes back. */
function showHelp(isShown: boolean): void {
  const help = byId("help");
  if (isShown && document.activeElement instanceof HTMLElement) beforeHelp = document.activeElement;
  help.hidden = !isShown;
  byId("help-button").setAttribute("aria-expanded", String(isShown));
  if (isShown) help.focus();
  else if (beforeHelp?.isConnected === true) beforeHelp.focus();
}

let beforeHelp: HTMLElement | undefined;

export function listenToKeys(views: Views): void {
  byId("help-button").addEventListener("click", () => showHelp(byId("help").hidden));
  byId("help-close").addEventListener("click", () => showHelp(false));
  const kinds = byId("kind-filter") as HTMLDetailsElement;
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !kinds.contains(event.target)) kinds.open = false;
  });
  kinds.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !kinds.contains(relatedTarget)) kinds.open = false;
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.key === "Escape") {
      // A browser would remove the text of the search alone.
      event.preventDefault();
      escape(views, target);
      return;
    }
    if (target === views.toolbar.search && event.key === "Enter") {
      views.app.nextHit(event.shiftKey ? -1 : 1);
      return;
    }
    const isTyping = target.matches("input, select, textarea");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    // The wheel of the page scrolls what is scrolled by these keys.
    if (target.closest(".yaml, #panel") !== null && /^(Arrow(Up|Down)|Page|Home|End)/u.test(event.key)) return;
    const act = ACTS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key];
    if (act === undefined) return;
    event.preventDefault();
    act(views);
  });
}

function escape({ app, toolbar }: Views, target: HTMLElement): void {
  const kinds = byId("kind-filter") as HTMLDetailsElement;
  if (!byId("help").hidden) showHelp(false);
  else if (kinds.open) {
    kinds.open = false;
    kinds.querySelector("summary")?.focus();
  } else if (target === toolbar.search || (app.opened === undefined && app.query !== "")) {
    toolbar.endSearch();
    if (target === toolbar.search) byId("lanes").focus({ preventScroll: true });
  } else app.open(undefined);
}
