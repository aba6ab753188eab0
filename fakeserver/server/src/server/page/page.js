// The live page. The server sends the state in parts, each when it has changed; what is sent of objects is text, never HTML.
"use strict";

/**
 * @typedef {{revision: number, watches: number, unseenChanges: number, requests: number, requestsPerSecond: number}} Counts
 * @typedef {{group: string, resource: string, kind: string, namespaced: boolean, count: number}} Resource
 * @typedef {{client: string, group: string, resource: string, count: number}} Watch
 * @typedef {{id: number, spec: Record<string, unknown>, fired: number, lastRevision: number | null}} Fault
 * @typedef {{name: string, priority: number, description: string}} Column
 * @typedef {{namespace: string | null, name: string, cells: unknown[]}} Row
 * @typedef {{group: string, resource: string, namespace: string | null}} ResourceLocation
 * @typedef {ResourceLocation & {start: string, count: number, columns: Column[], rows: Row[], next: string | null}} Table
 * @typedef {{manager: string, operation: string, subresource?: string, apiVersion: string, time?: string, fieldsV1?: Fields}} Manager
 * @typedef {{[name: string]: Fields}} Fields
 * @typedef {ResourceLocation & {name: string, yaml: string | null, managers: Manager[]}} OpenedObject
 * @typedef {{fault: string, effect: string, models: string, parameters: string[], defaults: Record<string, unknown> | null}} Entry
 * @typedef {{counts?: Counts, resources?: Resource[], watches?: {rows: Watch[], more: number}, faults?: Fault[], table?: Table | null, object?: OpenedObject | null}} State
 * @typedef {{text: string, act: () => void, label?: string}} Action
 * @typedef {{key: string, cells: (string | Action)[], selected?: boolean}} Line
 */

/** The number of objects that are shown at a time. */
const WINDOW = 100;
/** Milliseconds before the first attempt to connect again, and before each when there were many. */
const WAIT_MIN = 100, WAIT_MAX = 1000;
/** The code with which the server ends the socket of a page with a wrong token. */
const WRONG_TOKEN = 1008;
/**
 * What can be posted to the server, the text of its button, what that does, and what it did.
 * @type {{name: string, text: string, effect: string, did: (counts: Counts | null) => string}[]}
 */
const CONTROLS = [
  {
    name: "compact", text: "compact", did: (counts) => `compacted${at(counts)}`,
    effect: "Forgets the history: continued lists and watches from older versions are answered with 410.",
  },
  {
    name: "expire", text: "expire", did: (counts) => `expired: the history${at(counts)} is forgotten, for open watches too`,
    effect: "Forgets the history, and older watches receive an error of 410.",
  },
  {
    name: "disconnect", text: "disconnect", did: (counts) => `disconnected: ${counts === null ? "all watches" : counted(counts.watches, "watch", "watches")} ended`,
    effect: "Ends all open watches.",
  },
  {
    name: "reset", text: "reset", did: () => "reset: the server is as it was when it began; faults stay",
    effect: "Makes it the server that it was when it began: all that was written is gone. Faults stay.",
  },
  {
    name: "snapshot", text: "write snapshot", did: (counts) => `snapshot${at(counts)} written to the server's data file`,
    effect: "The server writes its state to its own disk, into the file of --data. Nothing is downloaded.",
  },
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

const counted = (/** @type {number} */ count, /** @type {string} */ one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
const at = (/** @type {Counts | null} */ counts) => (counts === null ? "" : ` at revision ${counts.revision}`);

let token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
/** @type {WebSocket | null} */
let socket = null;
let wait = WAIT_MIN;
/** @type {(ResourceLocation & {start: string, limit: number}) | null} */
let view = null;
/** The starts of the windows before this one. @type {string[]} */
let before = [];
/** @type {(ResourceLocation & {name: string}) | null} */
let openedObject = null;
/** @type {Resource[]} */
let resources = [];
/** @type {Table | null} */
let table = null;
/** @type {Entry[]} */
let catalogue = [];
/** @type {Counts | null} */
let counts = null;
/** What the commands that are not answered yet will have done, in the order in which they were sent. @type {string[]} */
let sent = [];
/** The object that the server has sent last. It does not send it again when it is closed and opened at once. @type {OpenedObject | null} */
let received = null;
/** The row of the table from which the object was opened. */
let openedAt = 0;

const send = (/** @type {unknown} */ message) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  else say("not connected: nothing was sent", false);
};
/** Sends a command that the server answers, and keeps what to say when it is done. */
const command = (/** @type {unknown} */ message, /** @type {string} */ did) => {
  if (socket?.readyState === WebSocket.OPEN) sent.push(did);
  send(message);
};
/** Announces what was done, with the time, so that the same action twice gives two different texts. */
const say = (/** @type {string} */ text, isGood = true) => {
  const now = new Date();
  element("answer").className = isGood ? "" : "bad";
  element("answer").textContent = `${now.toTimeString().slice(0, 8)}.${Math.floor(now.getMilliseconds() / 100)} ${text}`;
};

/** Makes `button` the button of an action. */
const button = (/** @type {HTMLButtonElement} */ button, /** @type {Action} */ { text, act, label }) => {
  if (button.textContent !== text) button.textContent = text;
  if (label !== undefined) button.setAttribute("aria-label", label);
  button.type = "button";
  button.onclick = act;
};

/** Makes these the rows of `body`. Elements stay where they are, and the focus stays on its row, its neighbour, or goes to `otherwise`. */
const fill = (/** @type {HTMLTableSectionElement} */ body, /** @type {Line[]} */ lines, /** @type {HTMLElement | null} */ otherwise = null) => {
  const focused = document.activeElement?.closest("tr");
  const key = focused && focused.parentElement === body ? focused.dataset.key : undefined;
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
  if (key === undefined || (focused?.isConnected && focused.dataset.key === key)) return;
  const kept = [...body.rows].find((row) => row.dataset.key === key);
  if (kept === undefined && focused?.isConnected) return;
  ((kept ?? [...body.rows].at(-1))?.querySelector("button") ?? otherwise)?.focus();
};

const named = (/** @type {{group: string, resource: string}} */ { group, resource }) => (group === "" ? resource : `${resource}.${group}`);
const path = (/** @type {string | null} */ namespace, /** @type {string} */ name) => (namespace === null ? name : `${namespace}/${name}`);
const isSame = (/** @type {ResourceLocation | null} */ a, /** @type {ResourceLocation | null} */ b) => a?.group === b?.group && a?.resource === b?.resource;

// Rendering.

const showCounts = (/** @type {Counts} */ now) => {
  counts = now;
  const totals = [
    ["revision", now.revision], [now.watches === 1 ? "open watch" : "open watches", now.watches],
    [now.requests === 1 ? "request" : "requests", now.requests], ["a second", now.requestsPerSecond],
    [now.unseenChanges === 1 ? "unprocessed change" : "unprocessed changes", now.unseenChanges],
  ];
  element("counts").replaceChildren(...totals.map(([name, count]) => {
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

/** States which objects are shown, and if there are none, where there are some. */
const showHint = (/** @type {Table} */ current) => {
  const what = named(current), count = current.rows.length;
  const within = current.namespace === null ? "" : ` in namespace ${current.namespace}`;
  const from = current.start === "" ? "" : ` from ${current.start} on`;
  const all = `${current.count} in all namespaces`;
  const text = count > 0 ? `${counted(count, "object")} shown${from}, in the order of names; ${all}.` : `There are no ${what}${within}${from}; ${all}.`;
  if (element("hint").textContent !== text) element("hint").textContent = text;
  element("beginning").hidden = count > 0 || current.start === "";
  element("everywhere").hidden = count > 0 || current.namespace === null || current.count === 0;
};

/** Disables a button, and gives its focus to another one. */
const disable = (/** @type {string} */ id, /** @type {boolean} */ isDisabled, /** @type {HTMLElement} */ other) => {
  const one = find(id, HTMLButtonElement), hadFocus = document.activeElement === one;
  one.disabled = isDisabled;
  if (isDisabled && hadFocus) other.focus();
};

const showTable = () => {
  const current = table !== null && isSame(table, view) ? table : null;
  element("window").hidden = view === null;
  const hint = element("hint");
  if (current === null) {
    hint.textContent = view === null ? "Choose a resource." : "There is no such resource now.";
    for (const way of ["beginning", "everywhere"]) element(way).hidden = true;
    element("columns").replaceChildren();
    fill(find("rows", HTMLTableSectionElement), [], element("of-table"));
    return;
  }
  const rows = current.rows;
  showHint(current);
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
  fill(find("rows", HTMLTableSectionElement), rows.map((row) => {
    const { group, resource } = current;
    const open = () => openObject({ group, resource, namespace: row.namespace, name: row.name });
    const texts = row.cells.filter((_, index) => isShown[index]).map((cell) => (cell === null ? "" : String(cell)));
    /** @type {(string | Action)[]} */
    const cells = texts.map((text, index) => (index === 0 ? { text, act: open } : text));
    const selected = isSame(openedObject, current) && openedObject?.namespace === row.namespace && openedObject?.name === row.name;
    return { key: path(row.namespace, row.name), cells: isNamespaced ? [row.namespace ?? "", ...cells] : cells, selected };
  }), element("of-table"));
  find("back", HTMLButtonElement).disabled &&= before.length === 0;
  disable("on", current.next === null, before.length === 0 ? element("of-table") : element("back"));
  disable("back", before.length === 0, current.next === null ? element("of-table") : element("on"));
};

/** The paths of the fields that a manager has. @type {(fields: Fields, at?: string) => string[]} */
const paths = (fields, at = "") => Object.entries(fields).flatMap(([name, below]) => {
  const own = name === "." ? at : name.startsWith("f:") ? `${at}.${name.slice(2)}` : `${at}[${name.slice(2)}]`;
  return Object.keys(below).length === 0 ? [own] : paths(below, own);
});

const showObject = (/** @type {OpenedObject | null} */ object) => {
  element("one").hidden = object === null;
  if (object === null) return;
  element("of-object").textContent = `${named(object)} ${path(object.namespace, object.name)}`;
  element("yaml").textContent = object.yaml ?? "There is no such object now.";
  const list = element("managers");
  const focused = document.activeElement instanceof HTMLElement && list.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
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
  if (focused !== undefined) ([...list.querySelectorAll("summary")].find((one) => one.dataset.key === focused) ?? element("of-object")).focus();
};

/** The words for the conditions of a fault. @type {Record<string, (value: unknown) => string>} */
const CONDITIONS = {
  minResourceVersion: (version) => `from version ${version} on`,
  nth: (nth) => `from occasion ${nth} on`,
  times: (times) => (times === 1 ? "once" : `at most ${times} times`),
  afterMs: (ms) => `after ${ms} ms`,
  forMs: (ms) => `for ${ms} ms`,
  probability: (probability) => `with probability ${probability}`,
};
/** Tells the fields of an object in words. */
const worded = (/** @type {unknown} */ fields) => Object.entries(fields ?? {}).map(([name, value]) => {
  const text = typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return CONDITIONS[name]?.(text === "1" ? 1 : text) ?? `${name} ${text}`;
}).join(", ");
/** Tells a fault in words: its kind with its parameters, what it matches, and how often it fires. */
const wordedFault = (/** @type {Record<string, unknown>} */ { fault, match, when, ...parameters }) => {
  const own = worded(parameters);
  return [`${fault}${own === "" ? "" : `: ${own}`}`, worded(match) || "everything", worded(when) || "each time"];
};

const showFaults = (/** @type {Fault[]} */ faults) => {
  element("no-faults").hidden = faults.length > 0;
  element("faults-table").hidden = faults.length === 0;
  fill(find("faults", HTMLTableSectionElement), faults.map((fault) => {
    const words = wordedFault(fault.spec), text = words.join(", ");
    const act = () => command({ remove: fault.id }, `removed: ${text}; it had fired ${counted(fault.fired, "time")}`);
    const last = fault.lastRevision === null ? "" : String(fault.lastRevision);
    return { key: String(fault.id), cells: [...words, String(fault.fired), last, { text: "Remove", act, label: `Remove ${text}` }] };
  }), element("of-faults"));
};

const showWatches = (/** @type {{rows: Watch[], more: number}} */ { rows, more }) => {
  fill(find("watches", HTMLTableSectionElement), rows.map((watch) => {
    const client = watch.client === "" ? "(no user agent)" : watch.client;
    return { key: `${client} ${named(watch)}`, cells: [client, named(watch), String(watch.count)] };
  }));
  element("more").textContent = more === 0 ? "" : `and ${counted(more, "row")} more`;
};

const answer = (/** @type {number} */ code, /** @type {string} */ text, /** @type {string[]} */ warnings) => {
  const did = sent.shift() ?? "done", isGood = code >= 200 && code < 300;
  say([isGood ? did : `${code}: ${text}`, ...warnings].join("; "), isGood);
};

const isOpened = (/** @type {OpenedObject | null} */ object) => isSame(object, openedObject) && object?.namespace === openedObject?.namespace && object?.name === openedObject?.name;

const apply = (/** @type {State} */ state) => {
  if (state.counts) showCounts(state.counts);
  if (state.resources) resources = state.resources;
  if (state.resources) showResources();
  if (state.watches) showWatches(state.watches);
  if (state.faults) showFaults(state.faults);
  if (state.table !== undefined) table = state.table;
  if (state.table !== undefined) showTable();
  if (state.object === undefined) return;
  received = state.object;
  // A former object may still be on its way.
  if (isOpened(received)) showObject(received);
};

// Requests to the server.

/** Shows the objects of a place from `start` on. */
const choose = (/** @type {ResourceLocation} */ place, /** @type {string} */ start, /** @type {string[]} */ earlier) => {
  view = { ...place, start, limit: WINDOW };
  before = earlier;
  input("namespace").value = place.namespace ?? "";
  input("start").value = start;
  send({ view });
  showResources();
};

const openObject = (/** @type {ResourceLocation & {name: string}} */ object) => {
  openedObject = object;
  const key = path(object.namespace, object.name);
  openedAt = [...find("rows", HTMLTableSectionElement).rows].findIndex((row) => row.dataset.key === key);
  send({ object });
  const isOn = socket?.readyState === WebSocket.OPEN;
  if (isOn && received !== null && isOpened(received)) showObject(received);
  else showObject({ ...object, yaml: isOn ? "" : "Not connected: it is shown when the server is back.", managers: [] });
  showTable();
  element("of-object").focus();
};

/** Closes the object. The focus goes to its row, or to the one that is there now. */
const closeObject = () => {
  const rows = [...find("rows", HTMLTableSectionElement).rows];
  const isListed = isSame(table, openedObject) && isSame(table, view);
  const own = rows.find((row) => row.dataset.key === path(openedObject?.namespace ?? null, openedObject?.name ?? ""));
  openedObject = null;
  send({ object: null });
  showObject(null);
  showTable();
  const row = isListed ? own ?? rows[openedAt] ?? rows.at(-1) : undefined;
  (row?.querySelector("button") ?? element(view === null ? "of-objects" : "of-table")).focus();
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
      if (openedObject !== null) send({ object: openedObject });
    }
  };
  opened.onclose = (event) => {
    if (socket !== opened) return;
    socket = null;
    if (sent.length > 0) say(`the connection broke before the server answered: ${counted(sent.length, "command")} may or may not be done`, false);
    sent = [];
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
submit("install", () => {
  const spec = described();
  command({ fault: spec }, `installed: ${wordedFault(spec).join(", ")}`);
});
element("install").oninput = describe;
element("fault").onchange = chooseFault;
element("wide").onchange = showTable;
element("close").onclick = closeObject;
document.addEventListener("keydown", ({ key, target }) => {
  const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (key === "Escape" && openedObject !== null && !isField) closeObject();
});
element("beginning").onclick = () => {
  if (view !== null) choose(view, "", []);
  element("of-table").focus();
};
element("everywhere").onclick = () => {
  if (view !== null) choose({ ...view, namespace: null }, "", []);
  element("of-table").focus();
};
element("back").onclick = () => {
  if (view !== null) choose(view, before.at(-1) ?? "", before.slice(0, -1));
};
element("on").onclick = () => {
  if (view !== null && table?.next != null) choose(view, table.next, [...before, view.start]);
};
for (const { name, text, effect, did } of CONTROLS) {
  const made = make("button", text);
  made.type = "button";
  made.title = effect;
  made.onclick = () => {
    if (name !== "reset" || confirm(effect)) command({ control: name }, did(counts));
    else say("reset was cancelled: nothing was done");
  };
  element("controls").append(made, " ");
}
connect();
