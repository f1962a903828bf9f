// Runs inside a page, so it stands alone: everything that would keep somebody from using it, as sentences.
export function findFlaws(): string[] {
  const flaws: string[] = [];
  const all = (selector: string) =>
    [...document.querySelectorAll<HTMLElement>(selector)].filter((one) => one.checkVisibility());
  const shown = (element: Element) => `${element.tagName.toLowerCase()} "${element.textContent?.trim().slice(0, 40)}"`;

  for (const control of all("a, button, input, summary, [tabindex='0']")) {
    const label = control.id ? document.querySelector(`label[for="${control.id}"]`)?.textContent : null;
    const name = control.getAttribute("aria-label") ?? label ?? control.textContent ?? "";
    if (name.trim() === "") flaws.push(`${shown(control)} has no name`);
  }

  const levels = all("h1, h2, h3, h4").map((heading) => Number(heading.tagName.slice(1)));
  if (levels.filter((level) => level === 1).length !== 1) flaws.push("there is not exactly one h1");
  for (const [i, level] of levels.entries()) {
    if (level > (levels[i - 1] ?? 0) + 1)
      flaws.push(`a heading of level ${level} follows one of ${levels[i - 1] ?? 0}`);
  }

  for (const landmark of ["header", "nav[aria-label]", "main"]) {
    if (document.querySelector(landmark) === null) flaws.push(`there is no ${landmark}`);
  }
  for (const table of all("table")) {
    if (!table.querySelector("caption")?.textContent) flaws.push(`${shown(table)} has no caption`);
    if (table.querySelector("th:not([scope])")) flaws.push(`${shown(table)} has a th without scope`);
  }
  for (const drawing of document.querySelectorAll("svg")) {
    const isNamed = drawing.querySelector("title")?.textContent && drawing.querySelector("desc")?.textContent;
    if (drawing.getAttribute("aria-hidden") !== "true" && !isNamed)
      flaws.push("a drawing has no title and description");
  }
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of ids.filter((one, i) => ids.indexOf(one) !== i)) flaws.push(`there are two #${id}`);

  const channelsOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminanceOf = (colour: string) => {
    const [r = 0, g = 0, b = 0] = channelsOf(colour)
      .slice(0, 3)
      .map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element: Element | null): string => {
    if (element === null) return "rgb(255, 255, 255)";
    const { backgroundColor } = getComputedStyle(element);
    return channelsOf(backgroundColor)[3] === 0 ? groundOf(element.parentElement) : backgroundColor;
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set<string>();
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    if (element === null || !words.currentNode.nodeValue?.trim()) continue;
    if (!element.checkVisibility() || element.closest("svg, .unseen, noscript, button:disabled")) continue;
    const [ink, ground] = [getComputedStyle(element).color, groundOf(element)];
    const [light = 0, dark = 0] = [luminanceOf(ink), luminanceOf(ground)].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5 && !seen.has(ink + ground)) {
      seen.add(ink + ground);
      flaws.push(`${shown(element)} has a contrast of ${contrast.toFixed(2)}: ${ink} on ${ground}`);
    }
  }
  return flaws;
}
