// Makes elements. Text is always text: nothing of a trace becomes HTML.

export interface Attributes {
  class?: string;
  title?: string;
  id?: string;
  [name: `aria-${string}` | `data-${string}`]: string;
  role?: string;
  type?: string;
  tabindex?: string;
}

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function button(text: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", act);
  return element;
}

const FOCUSABLE = "button:enabled, summary, input, select, [tabindex='0']";

/** A focused element, by its kind and its place in its container: it may be created again. */
export interface FocusPlace {
  container: HTMLElement;
  is: string;
  place: number;
}

function focusable(container: HTMLElement): HTMLElement[] {
  return [...container.querySelectorAll<HTMLElement>(FOCUSABLE)];
}

/** What tells an element from its neighbours: its key, or else its words. */
function identity(element: HTMLElement): string {
  return element.dataset.key ?? `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent}`;
}

/** Returns the place of the focus, if it is in a container. */
export function focusPlace(container: HTMLElement): FocusPlace | undefined {
  const { activeElement } = document;
  if (!(activeElement instanceof HTMLElement) || !container.contains(activeElement)) return undefined;
  return { container, is: identity(activeElement), place: focusable(container).indexOf(activeElement) };
}

/** Focuses the same element, the nearest one first, or else what stands at its place now, or the section around it. */
export function focusAt({ container, is, place }: FocusPlace): void {
  const all = focusable(container);
  const distance = (element: HTMLElement): number => Math.abs(all.indexOf(element) - place);
  const same = all.filter((element) => identity(element) === is).sort((one, other) => distance(one) - distance(other));
  const successor = same[0] ?? all[Math.min(Math.max(place, 0), all.length - 1)];
  if (successor !== undefined && focus(successor)) return;
  // What is folded away cannot be focused: what unfolds it can.
  const summary = successor?.closest("details")?.querySelector("summary");
  if (summary instanceof HTMLElement && focus(summary)) return;
  const section = container.closest<HTMLElement>("section, [role=complementary]");
  if (section === null) return;
  section.tabIndex = -1;
  focus(section);
}

function focus(element: HTMLElement): boolean {
  element.focus({ preventScroll: true });
  return document.activeElement === element;
}

/** Replaces what a container holds. The focus stays where it was. */
export function redraw(container: HTMLElement, ...children: Node[]): void {
  const focused = focusPlace(container);
  container.replaceChildren(...children);
  if (focused !== undefined) focusAt(focused);
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from disk may have no clipboard: what is selected can be copied.
    const area = el("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
