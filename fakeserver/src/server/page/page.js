// The live page. The server sends the state in parts, each when it has changed; what is sent of objects is text, never HTML.
"use strict";

/**
 * @typedef {{revision: number, watches: number, unseenChanges: number, requests: number, requestsPerSecond: number}} Counts
 * @typedef {{group: string, resource: string, kind: string, namespaced: boolean, count: number}} Resource
 * @typedef {{client: string, group: string, resource: string, count: number}} Watch
 * @typedef {{id: number, spec: Record<string, unknown>, fired: number, lastRevision: number | null}} Fault
 * @typedef {{name: string, priority: number, description: string}} Column
 * @typedef {{namespace: string | null, name: string, cells: unknown[]}} Row
 * @typedef {{group: string, resource: string, namespace: string | null}} Place
 * @typedef {Place & {start: string, count: number, columns: Column[], rows: Row[], next: string | null}} Table
 * @typedef {{manager: string, operation: string, subresource?: string, apiVersion: string, time?: string, fieldsV1?: Fields}} Manager
 * @typedef {{[name: string]: Fields}} Fields
 * @typedef {Place & {name: string, yaml: string | null, managers: Manager[]}} Shown
 * @typedef {{fault: string, effect: string, models: string, parameters: string[], defaults: Record<string, unknown> | null}} Entry
 * @typedef {{counts?: Counts, resources?: Resource[], watches?: {rows: Watch[], more: number}, faults?: Fault[], table?: Table | null, object?: Shown | null}} State
 * @typedef {{text: string, act: () => void, label?: string}} Action
 * @typedef {{key: string, cells: (string | Action)[], selected?: boolean}} Line
 */

/** The number of objects that are shown at a time. */
const WINDOW = 100;
/** Milliseconds before the first attempt to connect again, and before each when there were many. */
const WAIT_MIN = 100, WAIT_MAX = 1000;
/** The code with which the server ends the socket of a page with a wrong token. */
const WRONG_TOKEN = 1008;
/** What can be posted to the server, what that does, and what it did. @type {[string, string, (counts: Counts) => string][]} */
const CONTROLS = [
  ["compact", "Forgets the history: continued lists and watches from older versions are answered with 410.", (counts) => `compacted at revision ${counts.revision}`],
  ["expire", "Forgets the history, and older watches receive an error of 410.", (counts) => `expired at revision ${counts.revision}`],
  ["disconnect", "Ends all open watches.", (counts) => `${count(counts.watches, "watch", "watches")} ended`],
  ["reset", "Makes it the server that it was when it began: all that was written is gone. Faults stay.", () => "the server is as it was when it began"],
  ["snapshot", "Writes the data file of a server that has one, on its own disk.", (counts) => `written on the server's disk, at revision ${counts.revision}`],
];

/** @type {<T extends HTMLElement>(id: string, type: new () => T) => T} */
const find = (id, type) => {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`the page has no ${id}`);
};
const element = (/** @type {string} */ id) => find(id, HTMLElement);
const input = (/** @type {string} */ id) => find(id, HTMLInputElement);

/** @type {<K extends keyof HTMLElementTagNameMap>(name: K, text?: string) => HTMLElementTagNameMap[K]} */
const make = (name, text = "") => {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
};

/** Says a number of things. @type {(number: number, one: string, many?: string) => string} */
const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
/** @type {WebSocket | null} */
let socket = null;
let wait = WAIT_MIN;
/** @type {(Place & {start: string, limit: number}) | null} */
let view = null;
/** The starts of the windows before this one. @type {string[]} */
let before = [];
/** @type {(Place & {name: string}) | null} */
let shown = null;
/** @type {Resource[]} */
let resources = [];
/** @type {Table | null} */
let table = null;
/** @type {Entry[]} */
let catalogue = [];
/** @type {Counts} */
let counted = { revision: 0, watches: 0, unseenChanges: 0, requests: 0, requestsPerSecond: 0 };
/** What the control that was asked for last did, once it is answered. */
let done = "";
/** The object that was sent last. @type {Shown | null} */
let latest = null;
/** The row from which the object was opened: its key and its place. */
let opener = { key: "", place: 0 };

const send = (/** @type {unknown} */ message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else answer(0, "not connected: nothing was sent", []);
};

/** Makes `button` the button of an action. */
const button = (/** @type {HTMLButtonElement} */ button, /** @type {Action} */ { text, act, label }) => {
  if (button.textContent !== text) button.textContent = text;
  if (label !== undefined) button.setAttribute("aria-label", label);
  button.type = "button";
  button.onclick = act;
};

/** Focuses the button of a row, or of the one that stands in its place now. False if there is none. */
const focusRow = (/** @type {HTMLTableSectionElement} */ body, /** @type {string | undefined} */ key, /** @type {number} */ place) => {
  const rows = [...body.rows];
  const row = rows.find((row) => row.dataset.key === key) ?? rows[Math.min(place, rows.length - 1)];
  const button = row?.querySelector("button");
  button?.focus();
  return button != null;
};

/** Makes these the rows of `body`. Elements stay where they are, and the focus stays on its row, or near it. */
const fill = (/** @type {HTMLTableSectionElement} */ body, /** @type {Line[]} */ lines, /** @type {HTMLElement | undefined} */ otherwise = undefined) => {
  const focused = document.activeElement?.closest("tr");
  const key = focused && focused.parentElement === body ? focused.dataset.key : undefined;
  const place = focused?.sectionRowIndex ?? 0;
  lines.forEach((line, index) => {
    const row = body.rows[index] ?? body.insertRow();
    row.dataset.key = line.key;
    if (line.selected) row.setAttribute("aria-selected", "true");
    else row.removeAttribute("aria-selected");
    line.cells.forEach((content, at) => {
      const cell = row.cells[at] ?? row.insertCell();
      const within = cell.firstElementChild;
      if (typeof content === "string") {
        if (within !== null || cell.textContent !== content) cell.textContent = content;
      } else if (within instanceof HTMLButtonElement) button(within, content);
      else {
        const made = make("button");
        button(made, content);
        cell.replaceChildren(made);
      }
    });
    while (row.cells.length > line.cells.length) row.deleteCell(-1);
  });
  while (body.rows.length > lines.length) body.deleteRow(-1);
  if (key !== undefined && (focused?.dataset.key !== key || !focused.isConnected) && !focusRow(body, key, place)) otherwise?.focus();
};

const named = (/** @type {{group: string, resource: string}} */ { group, resource }) => (group === "" ? resource : `${resource}.${group}`);
const path = (/** @type {string | null} */ namespace, /** @type {string} */ name) => (namespace === null ? name : `${namespace}/${name}`);
const isSame = (/** @type {Place | null} */ a, /** @type {Place | null} */ b) => a?.group === b?.group && a?.resource === b?.resource;

// What is shown.

const showCounts = (/** @type {Counts} */ counts) => {
  counted = counts;
  const told = [
    ["revision", counts.revision], [counts.watches === 1 ? "open watch" : "open watches", counts.watches], ["requests", counts.requests],
    ["a second", counts.requestsPerSecond], ["unprocessed changes", counts.unseenChanges],
  ];
  element("counts").replaceChildren(...told.map(([name, count]) => {
    const pair = make("div");
    pair.append(make("dd", String(count)), " ", make("dt", String(name)));
    return pair;
  }));
};

const showResources = () => {
  const list = element("resources");
  resources.forEach((resource, index) => {
    const known = list.children[index] ?? list.appendChild(make("li"));
    const choice = known.querySelector("button") ?? known.appendChild(make("button"));
    choice.type = "button";
    choice.title = named(resource);
    choice.onclick = () => choose({ group: resource.group, resource: resource.resource, namespace: null }, "", []);
    (choice.querySelector("span") ?? choice.appendChild(make("span"))).textContent = named(resource);
    (choice.querySelector("small") ?? choice.appendChild(make("small"))).textContent = String(resource.count);
    if (isSame(view, { ...resource, namespace: null })) choice.setAttribute("aria-current", "true");
    else choice.removeAttribute("aria-current");
  });
  while (list.children.length > resources.length) list.lastElementChild?.remove();
};

const showTable = () => {
  const current = table !== null && isSame(table, view) ? table : null;
  element("window").hidden = view === null;
  const hint = element("hint");
  if (current === null) {
    hint.textContent = view === null ? "Choose a resource." : "There is no such resource now.";
    element("columns").replaceChildren();
    fill(find("rows", HTMLTableSectionElement), []);
    return;
  }
  const rows = current.rows;
  const none = rows.length === 0 ? " Without a namespace and a start all of them are shown." : "";
  hint.textContent = `${count(rows.length, "object")} shown; ${current.count} in all namespaces.${current.count > 0 ? none : ""}`;
  element("of-objects").textContent = `Objects: ${named(current)}`;
  const isNamespaced = rows.some((row) => row.namespace !== null);
  const isShown = current.columns.map((column) => column.priority === 0 || input("wide").checked);
  const heads = current.columns.filter((_, index) => isShown[index]);
  const head = make("tr");
  if (isNamespaced) head.append(make("th", "Namespace"));
  for (const column of heads) {
    const cell = make("th", column.name);
    cell.title = column.description;
    head.append(cell);
  }
  for (const cell of head.cells) cell.scope = "col";
  element("columns").replaceChildren(head);
  fill(find("rows", HTMLTableSectionElement), rows.map((row, place) => {
    const { group, resource } = current;
    const open = () => {
      opener = { key: path(row.namespace, row.name), place };
      openObject({ group, resource, namespace: row.namespace, name: row.name });
    };
    const texts = row.cells.filter((_, index) => isShown[index]).map((cell) => (cell === null ? "" : String(cell)));
    /** @type {(string | Action)[]} */
    const cells = texts.map((text, index) => (index === 0 ? { text, act: open } : text));
    const selected = isSame(shown, current) && shown?.namespace === row.namespace && shown?.name === row.name;
    return { key: path(row.namespace, row.name), cells: isNamespaced ? [row.namespace ?? "", ...cells] : cells, selected };
  }));
  find("back", HTMLButtonElement).disabled = before.length === 0;
  find("on", HTMLButtonElement).disabled = current.next === null;
};

/** The paths of the fields that a manager has. @type {(fields: Fields, at?: string) => string[]} */
const paths = (fields, at = "") => Object.entries(fields).flatMap(([name, below]) => {
  const own = name === "." ? at : name.startsWith("f:") ? `${at}.${name.slice(2)}` : `${at}[${name.slice(2)}]`;
  return Object.keys(below).length === 0 ? [own] : paths(below, own);
});

/** Shows an object, with the focus on its button, or gives the focus back to the row that it was opened from. */
const showObject = (/** @type {Shown | null} */ object) => {
  const one = element("one"), wasHidden = one.hidden, hadFocus = one.contains(document.activeElement);
  one.hidden = object === null;
  if (object === null) {
    if (hadFocus && !focusRow(find("rows", HTMLTableSectionElement), opener.key, opener.place)) element("hint").focus();
    return;
  }
  if (wasHidden) element("close").focus();
  element("of-object").textContent = `${named(object)} ${path(object.namespace, object.name)}`;
  element("yaml").textContent = object.yaml ?? "There is no such object now.";
  const list = element("managers");
  const opened = new Set([...list.querySelectorAll("details[open]")].map((one) => one.querySelector("summary")?.dataset.key));
  list.replaceChildren(...object.managers.map((manager) => {
    const key = [manager.manager, manager.operation, manager.subresource ?? "", manager.apiVersion].join(" ");
    const item = make("li"), details = make("details"), owned = paths(manager.fieldsV1 ?? {});
    const summary = make("summary", `${key} ${manager.time ?? ""}: ${owned.length} fields`);
    summary.dataset.key = key;
    details.open = opened.has(key);
    details.append(summary, make("pre", owned.join("\n")));
    item.append(details);
    return item;
  }));
  if (object.managers.length === 0) list.append(make("li", "none"));
};

/** Says what a fault is: its name and its parameters, whom it concerns, and when. */
const inWords = (/** @type {Record<string, unknown>} */ spec) => {
  const told = (/** @type {unknown} */ value) => (typeof value === "string" ? value : JSON.stringify(value));
  const pairs = (/** @type {unknown} */ all) => Object.entries(all ?? {}).map(([name, value]) => `${name} ${told(value)}`).join(", ");
  const { fault, match, when, ...parameters } = spec;
  const parts = [told(fault), pairs(parameters), match === undefined ? "" : `for ${pairs(match)}`, pairs(when)];
  return parts.filter((part) => part !== "").join(", ");
};

const showFaults = (/** @type {Fault[]} */ faults) => fill(find("faults", HTMLTableSectionElement), faults.map((fault) => {
  const text = inWords(fault.spec);
  const remove = { text: "Remove", act: () => send({ remove: fault.id }), label: `Remove ${text}` };
  return { key: String(fault.id), cells: [text, String(fault.fired), String(fault.lastRevision ?? ""), remove] };
}), find("fault", HTMLSelectElement));

const showWatches = (/** @type {{rows: Watch[], more: number}} */ { rows, more }) => {
  fill(find("watches", HTMLTableSectionElement), rows.map((watch) => {
    const client = watch.client === "" ? "(no user agent)" : watch.client;
    return { key: `${client} ${named(watch)}`, cells: [client, named(watch), String(watch.count)] };
  }));
  element("more").textContent = more === 0 ? "" : `and ${count(more, "row")} more`;
};

const answer = (/** @type {number} */ code, /** @type {string} */ text, /** @type {string[]} */ warnings) => {
  element("answer").className = code >= 200 && code < 300 ? "" : "bad";
  const isDone = code === 204 && done !== "";
  const said = code === 201 ? "installed" : isDone ? `${new Date().toLocaleTimeString()}: ${done}` : text;
  if (code !== 0) done = "";
  const number = code === 0 || isDone ? "" : `${code}`;
  element("answer").textContent = [number, said, ...warnings].filter((part) => part !== "").join(" ");
};

const apply = (/** @type {State} */ state) => {
  if (state.counts) showCounts(state.counts);
  if (state.resources) resources = state.resources;
  if (state.resources) showResources();
  if (state.watches) showWatches(state.watches);
  if (state.faults) showFaults(state.faults);
  if (state.table !== undefined) table = state.table;
  if (state.table !== undefined) showTable();
  if (state.object != null) latest = state.object;
  if (state.object !== undefined && (state.object === null) === (shown === null)) showObject(state.object);
};

// What is asked for.

/** Shows the objects of a place from `start` on. */
const choose = (/** @type {Place} */ place, /** @type {string} */ start, /** @type {string[]} */ earlier) => {
  view = { ...place, start, limit: WINDOW };
  before = earlier;
  input("namespace").value = place.namespace ?? "";
  input("start").value = start;
  send({ view });
  showResources();
};

const openObject = (/** @type {(Place & {name: string}) | null} */ object) => {
  shown = object;
  send({ object });
  if (object === null) showObject(null);
  else if (socket?.readyState !== WebSocket.OPEN) {
    showObject({ ...object, yaml: "Not connected: it is shown when the server is back.", managers: [] });
  } else if (latest !== null && isSame(latest, object) && latest.namespace === object.namespace && latest.name === object.name) {
    // The server does not send again what it has not seen closed.
    showObject(latest);
  }
  showTable();
};

/** The fault that the form describes. */
const described = () => {
  const value = (/** @type {string} */ text) => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  /** @type {Record<string, unknown>} */
  const spec = { fault: find("fault", HTMLSelectElement).value };
  for (const field of element("parameters").querySelectorAll("input")) if (field.value !== "") spec[field.name] = value(field.value);
  /** @type {Record<string, string>} */
  const match = {};
  for (const name of ["client", "verb", "resource", "namespace"]) {
    const text = input(`of-${name}`).value;
    if (text !== "") match[name] = text;
  }
  if (Object.keys(match).length > 0) spec.match = match;
  const times = input("of-times").value;
  if (times !== "") spec.when = { times: value(times) };
  return spec;
};
const describe = () => {
  element("spec").textContent = JSON.stringify(described());
};

const chooseFault = () => {
  const entry = catalogue.find((known) => known.fault === find("fault", HTMLSelectElement).value);
  element("effect").textContent = entry?.effect ?? "";
  element("parameters").replaceChildren(...(entry?.parameters ?? []).map((name) => {
    const label = make("label", `${name} `), field = make("input");
    field.name = name;
    field.size = 10;
    field.placeholder = String(entry?.defaults?.[name] ?? "default");
    label.append(field);
    return label;
  }));
  describe();
};

const showCatalogue = (/** @type {Entry[]} */ entries) => {
  const select = find("fault", HTMLSelectElement), chosen = select.value;
  if (JSON.stringify(entries) === JSON.stringify(catalogue)) return;
  catalogue = entries;
  select.replaceChildren(...entries.map((entry) => {
    const option = make("option", `${entry.fault}: ${entry.models}`);
    option.value = entry.fault;
    return option;
  }));
  if (entries.some((entry) => entry.fault === chosen)) select.value = chosen;
  chooseFault();
};

// The connection.

const tell = (/** @type {string} */ state, /** @type {boolean} */ isOn, why = "") => {
  if (element("state").textContent !== state) element("state").textContent = state;
  element("state").className = isOn ? "" : "off";
  element("main").className = isOn ? "" : "off";
  element("why").textContent = why;
};

const ask = (/** @type {string} */ why) => {
  tell("not admitted", false, why);
  element("enter").hidden = false;
};

const connect = () => {
  if (token === "") {
    ask("the URL that the server has printed has a token");
    return;
  }
  element("enter").hidden = true;
  const url = new URL("/_control/page/live", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(url);
  socket = opened;
  opened.onopen = () => opened.send(JSON.stringify({ token }));
  opened.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "state") apply(message);
    else if (message.type === "answer") answer(message.code, message.text, message.warnings);
    else {
      wait = WAIT_MIN;
      tell("connected", true);
      showCatalogue(message.faults);
      if (view !== null) send({ view });
      if (shown !== null) send({ object: shown });
    }
  };
  opened.onclose = (event) => {
    if (socket !== opened) return;
    socket = null;
    if (event.code === WRONG_TOKEN) {
      ask(event.reason);
      return;
    }
    tell("disconnected", false, event.reason);
    setTimeout(connect, wait);
    wait = Math.min(2 * wait, WAIT_MAX);
  };
};

const submit = (/** @type {string} */ id, /** @type {() => void} */ act) => {
  element(id).onsubmit = (event) => {
    event.preventDefault();
    act();
  };
};

submit("enter", () => {
  token = input("token").value.trim();
  input("token").value = "";
  location.replace(`#token=${encodeURIComponent(token)}`);
  connect();
});
submit("window", () => {
  if (view !== null) choose({ ...view, namespace: input("namespace").value || null }, input("start").value, []);
});
submit("install", () => send({ fault: described() }));
element("install").oninput = describe;
element("fault").onchange = chooseFault;
element("wide").onchange = showTable;
element("close").onclick = () => openObject(null);
element("back").onclick = () => {
  if (view !== null) choose(view, before.at(-1) ?? "", before.slice(0, -1));
};
element("on").onclick = () => {
  if (view !== null && table?.next != null) choose(view, table.next, [...before, view.start]);
};
document.onkeydown = (event) => {
  if (event.key === "Escape" && shown !== null) openObject(null);
};
for (const [name, effect, did] of CONTROLS) {
  const made = make("button", name);
  made.type = "button";
  made.title = effect;
  made.onclick = () => {
    if (name === "reset" && !confirm(effect)) {
      answer(0, "nothing was reset", []);
      return;
    }
    done = did(counted);
    send({ control: name });
  };
  element("controls").append(made, " ");
}
connect();
