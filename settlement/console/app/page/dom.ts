// Elements from data. Whatever the ledger holds becomes a text node or an attribute and never markup, so that nothing in
// it can turn into a part of the page.

type Handler = (event: never) => void;
export type Props = Readonly<Record<string, string | number | boolean | null | undefined | Handler>>;
export type Child = Node | string | number | null | undefined | false | readonly Child[];

const SVG = "http://www.w3.org/2000/svg";
const HANDLERS = ["onclick", "onsubmit", "ontoggle", "onkeydown", "onpointermove", "onpointerleave", "onblur"] as const;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: readonly Child[]) {
  return fill(document.createElement(tag), props, children);
}

// The same for SVG.
export function s(tag: string, props: Props = {}, ...children: readonly Child[]): SVGElement {
  return fill(document.createElementNS(SVG, tag) as SVGElement, props, children);
}

function fill<E extends Element>(element: E, props: Props, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") Object.assign(element, { [name]: value });
    else element.setAttribute(name, value === true ? "" : `${value}`);
  }
  append(element, children);
  return element;
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(element, child);
    else element.append(typeof child === "object" ? (child as Node) : `${child}`);
  }
}

// Makes `old` look like `fresh` by changing only what differs, so that focus, selection and scrolling survive an update.
// Children with a `data-key` are recognised wherever they have moved to.
export function patch(old: Element, fresh: Element): void {
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    // Whether a disclosure is open is for the reader to say.
    const isReaders = name === "open" && old instanceof HTMLDetailsElement;
    if (!fresh.hasAttribute(name) && !isReaders) old.removeAttribute(name);
  }
  const handlers = Object.fromEntries(HANDLERS.map((name) => [name, (fresh as HTMLElement)[name]]));
  Object.assign(old, handlers);
  patchChildren(old, [...fresh.childNodes]);
}

export function patchChildren(old: Element, fresh: readonly Node[]): void {
  const keyed = new Map([...old.children].flatMap((child) => (keyOf(child) ? [[keyOf(child), child]] : [])));
  for (const [i, wanted] of fresh.entries()) {
    const there = old.childNodes[i] ?? null;
    const key = keyOf(wanted);
    const match = key ? keyed.get(key) : there !== null && !keyOf(there) ? there : undefined;
    if (match === undefined || match.nodeName !== wanted.nodeName) {
      old.insertBefore(wanted, there);
      continue;
    }
    if (match !== there) old.insertBefore(match, there);
    if (match instanceof Element && wanted instanceof Element) patch(match, wanted);
    else if (match.nodeValue !== wanted.nodeValue) match.nodeValue = wanted.nodeValue;
  }
  while (old.childNodes.length > fresh.length) old.lastChild?.remove();
}

const keyOf = (node: Node) => (node instanceof HTMLElement ? node.dataset.key : undefined);
