// The moment in the page's address: `#t=SECONDS`, the event, since several may have one time, and what is shown around it:
// the scale, the window, and the object that is open (`o=N`, or `o=rN` of the reference).

import type { App } from "./app.js";

export function linkTo(app: App): string {
  const here = new URL(location.href);
  const { from, to } = app.window;
  const object = app.opened === undefined ? "" : `&o=${app.opened.isReference ? "r" : ""}${app.opened.object}`;
  here.hash = `${fragment(app)}&s=${app.scale}&w=${Math.round(from * 1_000) / 1_000},${Math.round(to * 1_000) / 1_000}${object}`;
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
  const scale = parameters.get("s");
  if (scale === "time" || scale === "revision") app.setScale(scale);
  if (app.run.events[event]?.t === micros) app.go(event);
  else app.goToTime(micros);
  const [from, to] = (parameters.get("w") ?? "").split(",").map(Number);
  if (from !== undefined && to !== undefined && from < to) app.setWindow(app.axis.within(app.scale, { from, to }));
  else if (app.isWhole()) app.narrow();
  const [, reference, object] = /^(r?)(\d+)$/u.exec(parameters.get("o") ?? "") ?? [];
  const run = reference === "r" ? app.reference : app.run;
  if (run?.objects[Number(object)] !== undefined) app.open({ object: Number(object), isReference: reference === "r" });
  return true;
}
