// The moment in the page's address: `#t=SECONDS`, the event, since several may have one time, and what is shown around it.

import type { App } from "./app.js";

export function linkTo(app: App): string {
  const here = new URL(location.href);
  const { from, to } = app.window;
  here.hash = `${fragment(app)}&s=${app.scale}&w=${Math.round(from * 1_000) / 1_000},${Math.round(to * 1_000) / 1_000}`;
  return here.href;
}

export function fragment(app: App): string {
  const event = app.cursor;
  return `t=${(app.now / 1_000_000).toFixed(6)}&e=${event}`;
}

/** Goes to the moment of the address, and returns whether there is one. */
export function goToMoment(app: App): boolean {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const time = Number(parameters.get("t") ?? Number.NaN);
  if (!Number.isFinite(time)) return false;
  const micros = Math.round(time * 1_000_000);
  const event = Number(parameters.get("e") ?? Number.NaN);
  if (parameters.get("s") === "revision") app.setScale("revision");
  if (app.run.events[event]?.t === micros) app.go(event);
  else app.goToTime(micros);
  const [from, to] = (parameters.get("w") ?? "").split(",").map(Number);
  if (from !== undefined && to !== undefined && from < to) app.setWindow(app.axis.within(app.scale, { from, to }));
  else if (app.isWhole()) app.narrow();
  return true;
}
