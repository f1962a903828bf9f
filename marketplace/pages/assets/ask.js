// The Ask page. Whatever tools and models say is put into the page as text and as nothing else: no markup, no address that one
// could follow, no picture but our own.

const QUESTION_MARK = "QUESTION";
const SVG = "http://www.w3.org/2000/svg";
const LOOK_MS = 2_000;
const MAX_LOOKS = 300;
const MAX_ROWS = 100;
// More of them are looked at by whoever wants to.
const MAX_OPEN_FACTS = 10;
const WAYS = ["accrued", "batched", "submitted", "included", "final"];
const WAY_NAMES = {
  accrued: "Recorded",
  batched: "In a batch",
  submitted: "Sent to Base",
  included: "In a block",
  final: "Final",
};
const ENDS = { absorbed: "Paid by the platform", refused: "Refused on chain, nothing was paid", voided: "Waived" };
const STOPPED = "You stopped it. Unless the answer was complete by then, nothing is charged.";
const LOST =
  "The connection ended before the answer was complete. It may have been answered and charged meanwhile. Looking again asks the same question under the same key: what was answered is shown, and nothing is paid twice.";
const STATUSES = {
  discovering: "Looking for tools",
  discovered: "Found",
  planning: "Choosing what to call",
  executing: "Calling",
  "tool-complete": "Answered",
  synthesizing: "Writing",
};

const TONES = { positive: "badge good", caution: "badge warn" };

const form = document.getElementById("ask");
const output = document.getElementById("answer");
const stop = document.getElementById("stop");
const key = document.getElementById("key");
key.value = sessionStorage.getItem("key") ?? "";
let running = null;
// What was asked on a connection that broke: asked again, it is the same question under the same key, and is paid once.
let lost = null;

class ConnectionLost extends Error {}

// An element with children, which are elements or texts.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children.filter((child) => child !== null && child !== undefined).map(nodeOf));
  return element;
}
const nodeOf = (child) => (child instanceof Node ? child : document.createTextNode(String(child)));
// What strangers wrote, whichever way it is written.
const said = (text) => make("bdi", {}, String(text));
// What comes after these digits is how machines compute. The data has it.
const rounded = (_name, value) =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(15)) : value;
const shown = (value) => {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one !== "object" || one === null)) {
    return value.map(shown).join(", ");
  }
  return typeof value === "object" ? JSON.stringify(value, rounded) : String(rounded("", value));
};

form.addEventListener("input", () => {
  const question = JSON.stringify(form.question.value.trim() || form.question.placeholder).slice(1, -1);
  // As the server writes them: no character that a shell would read.
  const plain = question.replace(/[^ -~]|'/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  // Python does not read two halves as one character.
  const python = plain.replace(/\\ud([89ab]..)\\ud([c-f]..)/g, (_, high, low) => {
    const code = 0x10000 + ((Number.parseInt(high, 16) & 0x3ff) << 10) + (Number.parseInt(low, 16) & 0x3ff);
    return `\\U${code.toString(16).padStart(8, "0")}`;
  });
  for (const code of document.querySelectorAll("[data-template]")) {
    const text = code.dataset.language === "Python" ? python : plain;
    code.textContent = code.dataset.template.replaceAll(QUESTION_MARK, () => text);
  }
});

stop.addEventListener("click", () => running?.abort());

const account = document.getElementById("account");
const funds = document.getElementById("funds");
account.addEventListener("toggle", () => account.open && showFunds());
key.addEventListener("change", () => account.open && showFunds());

// What the wallet behind the key could be charged, what it has paid in advance, and what is left of what it has signed.
async function showFunds() {
  if (key.value === "") return;
  const headers = { authorization: `Bearer ${key.value}` };
  const look = async (path) => {
    const response = await fetch(path, { headers });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(body.error ?? `The marketplace answered ${response.status}.`);
    return body;
  };
  try {
    const [has, { budgets }] = await Promise.all([look("/api/v1/account/funds"), look("/api/v1/budgets")]);
    const facts = [
      ["Could be charged now", `$${has.availableUsd}`],
      ["Paid in advance", `$${has.prepaidUsd}`],
      ["Spending cap", has.allowanceUsd === null ? "without limit" : `$${has.allowanceUsd}`],
      ["Not settled yet", `$${has.pendingUsd}`],
      ["Consent", has.consentRequired ? "demands a signed budget" : "by its cap"],
    ].map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    const rows = budgets.map(({ id, maxSpendUsd, remainingUsd, validUntil }) => [
      id,
      `$${maxSpendUsd}`,
      `$${remainingUsd}`,
      validUntil,
    ]);
    funds.replaceChildren(
      ...(has.reason === null ? [] : [make("p", { class: "notice" }, said(has.reason))]),
      make("dl", { class: "stats" }, ...facts),
      ...(rows.length === 0 ? [] : [tablePart("Signed budgets", ["Budget", "At most", "Left", "Until"], rows)]),
    );
  } catch (error) {
    funds.replaceChildren(make("p", { class: "notice" }, said(error.message)));
  }
}

// The file of a signed budget, or nothing.
function signedBudget() {
  const text = form.signed.value.trim();
  if (text === "") return {};
  try {
    const { budget, signature } = JSON.parse(text);
    if (typeof budget === "object" && typeof signature === "string") return { budget, signature };
  } catch {
    // It is said below.
  }
  throw new Error(
    "The signed budget must be what npx hardhat budget sign has written: JSON with budget and signature.",
  );
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  running?.abort();
  const own = new AbortController();
  running = own;
  sessionStorage.setItem("key", key.value);
  const page = begin();
  try {
    await ask(own.signal, page);
  } catch (error) {
    // Another question has taken the place of this one.
    if (running !== own) return;
    if (error instanceof ConnectionLost && !own.signal.aborted) page.end(lostPart(error));
    else page.end(make("p", { class: "notice" }, own.signal.aborted ? STOPPED : said(error.message)));
  } finally {
    if (running === own) {
      running = null;
      stop.hidden = true;
      output.setAttribute("aria-busy", "false");
    }
  }
});

function lostPart({ message }) {
  const again = make("button", { type: "button", id: "again" }, "Look again");
  again.addEventListener("click", () => form.requestSubmit());
  return make("div", { class: "notice" }, make("p", {}, said(message)), again);
}

function begin() {
  const steps = make("ol", { class: "steps", "aria-label": "What was done" });
  const text = make("p", { class: "lead", id: "text" });
  output.replaceChildren(make("h2", {}, "Answer"), steps, text);
  output.hidden = false;
  output.setAttribute("aria-busy", "true");
  stop.hidden = false;
  // It is further down than anybody looks, most of all on a narrow screen.
  if (output.getBoundingClientRect().top > 0.5 * innerHeight) output.scrollIntoView();
  // A hundred calls of one tool are one step with a number.
  const seen = new Map();
  return {
    step(status, name) {
      const words = STATUSES[status];
      if (words === undefined) return;
      const known = seen.get(`${status} ${name}`);
      if (known !== undefined) {
        known.times += 1;
        known.count.textContent = ` ×${known.times}`;
        return;
      }
      const count = make("span");
      seen.set(`${status} ${name}`, { count, times: 1 });
      steps.append(make("li", { "data-status": status }, words, " ", name === "" ? null : said(name), count));
    },
    write: (delta) => text.append(delta),
    end: (...parts) => output.append(...parts.filter((part) => part !== null)),
  };
}

async function ask(signal, page) {
  const body = JSON.stringify({
    query: form.question.value,
    stream: true,
    ...(form.most.value !== "" && { maxCostUsd: form.most.value }),
    ...signedBudget(),
  });
  const asked = lost?.body === body ? lost : { body, idempotencyKey: crypto.randomUUID() };
  lost = asked;
  // What was answered, refused or has failed is over, and asking again is another question.
  const over = () => {
    if (lost === asked) lost = null;
  };
  try {
    await read(asked, signal, page, over);
  } catch (error) {
    if (!(error instanceof ConnectionLost)) over();
    throw error;
  }
}

async function read({ body, idempotencyKey }, signal, page, over) {
  const breaking = () => {
    throw new ConnectionLost(LOST);
  };
  const response = await fetch("/api/v1/query", {
    method: "POST",
    signal,
    headers: {
      authorization: `Bearer ${key.value}`,
      "content-type": "application/json",
      "idempotency-key": idempotencyKey,
    },
    body,
  }).catch(breaking);
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({}));
    const words = error ?? `The marketplace answered ${response.status}.`;
    throw response.status >= 500 ? new ConnectionLost(words) : new Error(words);
  }
  let isDone = false;
  for await (const event of eventsOf(response.body, breaking)) {
    if (event.type === "tool-status") page.step(event.status, event.tool.name);
    else if (event.type === "text-delta") {
      // It is complete and owed by now: there is nothing left to stop.
      stop.hidden = true;
      page.write(event.delta);
    } else if (event.type === "error") throw new Error(event.error);
    else if (event.type === "done") {
      isDone = true;
      over();
      page.end(...partsOf(event.result));
      stop.hidden = true;
      await follow(event.result, signal).catch(() => undefined);
    }
  }
  if (!isDone) breaking();
}

async function* eventsOf(body, breaking) {
  let rest = "";
  for await (const chunk of chunksOf(body.pipeThrough(new TextDecoderStream()), breaking)) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      yield JSON.parse(line.slice("data: ".length));
    }
  }
}

// Not every browser can read a stream in a loop.
async function* chunksOf(stream, breaking) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(breaking);
    if (done) return;
    yield value;
  }
}

function partsOf(result) {
  const { confidence, cost, toolsUsed, capabilityMiss, evidence, view } = result;
  const isMiss = result.outcomeType === "capability_miss";
  const badges = make(
    "p",
    { class: "tags", id: "outcome" },
    make(
      "span",
      { class: TONES[result.outcome?.tone] ?? "badge" },
      isMiss ? "No tool answers this" : (result.outcome?.label ?? "Answer"),
    ),
    confidence && !isMiss ? make("span", { class: "badge" }, `${confidence.level} confidence`) : null,
    make("span", { class: "badge" }, `${result.durationMs} ms`),
  );
  return [
    badges,
    confidence && !isMiss ? make("p", { class: "empty" }, said(sentence(confidence.reason))) : null,
    missPart(capabilityMiss),
    ...(result.computedArtifacts ?? []).map(artifactPart),
    view
      ? tablePart(
          view.label,
          view.columns ?? [],
          (view.rows ?? []).map(({ cells }) => cells),
        )
      : null,
    evidencePart(evidence),
    costPart(cost, toolsUsed),
  ];
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

function missPart(miss) {
  if (!miss) return null;
  if (miss.suggestedRewrites.length === 0) {
    return make("p", { id: "elsewhere" }, make("a", { href: "/" }, "See what the tools here can answer"), ".");
  }
  const rewrites = miss.suggestedRewrites.map((text) => {
    const button = make("button", { type: "button", class: "quiet" }, said(text));
    // Whoever takes it may want other values in it, and decides to pay for it.
    button.addEventListener("click", () => {
      form.question.value = text;
      form.question.dispatchEvent(new Event("input", { bubbles: true }));
      form.question.focus();
      form.question.scrollIntoView({ block: "center" });
    });
    return make("li", {}, button);
  });
  return make("div", {}, make("h3", {}, "What can be answered"), make("ul", { class: "choices" }, ...rewrites));
}

function evidencePart(evidence) {
  if (!evidence || evidence.facts.length === 0) return null;
  const nameOf = ({ provider, dataset }) => `${provider} (${dataset})`;
  const names = evidence.sourceRefs.map(nameOf);
  const isOneOfMany = (name) => names.indexOf(name) !== names.lastIndexOf(name);
  const sources = new Map(
    evidence.sourceRefs.map((source) => {
      const name = nameOf(source);
      return [source.id, isOneOfMany(name) && source.note ? `${name}: ${source.note}` : name];
    }),
  );
  const rows = evidence.facts
    .slice(0, MAX_ROWS)
    .map(({ label, value, path }) => [label, shown(value).slice(0, 300), sources.get(path.split(".")[0]) ?? "", path]);
  const { length } = evidence.facts;
  const part = make(
    "details",
    { id: "evidence", ...(length <= MAX_OPEN_FACTS && { open: "" }) },
    make("summary", {}, `Evidence: ${length} ${length === 1 ? "fact" : "facts"}`),
  );
  part.append(tablePart("Evidence", ["Fact", "Value", "Source", "Where"], rows));
  if (evidence.knownUnknowns.length > 0) {
    part.append(make("p", { class: "notice" }, "Open: ", said(evidence.knownUnknowns.join("; "))));
  }
  return part;
}

function tablePart(label, columns, rows) {
  const head = make("tr", {}, ...columns.map((column) => make("th", { scope: "col" }, said(column))));
  const body = rows
    .slice(0, MAX_ROWS)
    .map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, said(cell)))));
  const table = make(
    "table",
    {},
    make("caption", { class: "unseen" }, said(label)),
    make("thead", {}, head),
    make("tbody", {}, ...body),
  );
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, table);
}

function artifactPart(artifact) {
  const title = artifact.title ?? artifact.alt ?? "";
  const caption = title === "" ? null : make("figcaption", {}, said(title));
  if (artifact.kind === "image") {
    // Only what this marketplace keeps, by the name of its contents.
    if (!/^[0-9a-f]{64}$/.test(artifact.contentHash)) return null;
    const source = `/api/v1/query/images/${artifact.contentHash}.png`;
    const image = make("img", { src: source, alt: artifact.alt ?? "", width: artifact.width, height: artifact.height });
    return make("figure", {}, image, caption);
  }
  const drawn = chartPart(artifact);
  const { spec, data } = artifact;
  const columns = [spec.xKey, ...spec.series.map((one) => one.key)];
  const rows = data.map((row) => columns.map((column) => shown(row[column])));
  return make("figure", {}, drawn ?? tablePart(title || "Chart", columns, rows), caption);
}

// As wide as the page has room for, so that what is written in it has one size everywhere.
const widthOf = () => Math.min(720, Math.max(280, output.clientWidth - 32));
const HEIGHT = 260;
const PAD = { left: 64, right: 16, top: 16, bottom: 32 };

// Lines and bars of numbers; null for whatever cannot be drawn as one, which is then a table.
function chartPart({ spec, data, title }) {
  const values = data
    .flatMap((row) => spec.series.map(({ key: name }) => row[name]))
    .filter((value) => typeof value === "number");
  if (values.length < 2 || ["heatmap", "candlestick"].includes(spec.type)) return null;
  const isBar = spec.type === "bar" || spec.type === "histogram";
  // One by one: not every browser takes a hundred thousand arguments.
  const first = isBar ? 0 : values[0];
  const low = values.reduce((least, value) => Math.min(least, value), first);
  const high = values.reduce((most, value) => Math.max(most, value), first);
  const span = high - low || 1;
  const width = widthOf();
  const slot = (width - PAD.left - PAD.right) / data.length;
  const x = (i) => PAD.left + slot * (i + 0.5);
  const y = (value) => HEIGHT - PAD.bottom - ((value - low) / span) * (HEIGHT - PAD.top - PAD.bottom);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "chart" });
  svg.append(draw("title", {}, title ?? `${spec.series.map(({ key: name }) => name).join(", ")} by ${spec.xKey}`));
  svg.append(
    draw("desc", {}, `${data.length} places, from ${low.toLocaleString("en")} to ${high.toLocaleString("en")}`),
  );
  for (const value of [low, low + span / 2, high]) {
    svg.append(
      draw("line", { x1: PAD.left, x2: width - PAD.right, y1: y(value), y2: y(value), class: "grid" }),
      draw(
        "text",
        { x: PAD.left - 8, y: y(value) + 4, class: "tick end" },
        value.toLocaleString("en", { maximumSignificantDigits: 4 }),
      ),
    );
  }
  const leftmost = shown(data[0][spec.xKey]).slice(0, 24);
  const rightmost = shown(data.at(-1)[spec.xKey]).slice(0, 24);
  svg.append(
    draw("text", { x: PAD.left, y: HEIGHT - 10, class: "tick" }, leftmost),
    draw("text", { x: width - PAD.right, y: HEIGHT - 10, class: "tick end" }, rightmost),
  );
  for (const [i, { key: name }] of spec.series.entries()) {
    const points = data.flatMap((row, at) => (typeof row[name] === "number" ? [[at, row[name]]] : []));
    const tone = `tone${i % 4}`;
    if (isBar) {
      const thick = Math.max(1, (slot * 0.7) / spec.series.length);
      for (const [at, value] of points) {
        const left = x(at) - slot * 0.35 + i * thick;
        const top = Math.min(y(value), y(0));
        svg.append(
          draw("rect", { x: left, y: top, width: thick, height: Math.max(1, Math.abs(y(value) - y(0))), class: tone }),
        );
      }
    } else if (spec.type === "scatter") {
      for (const [at, value] of points) svg.append(draw("circle", { cx: x(at), cy: y(value), r: 3, class: tone }));
    } else {
      const path = points
        .map(([at, value], n) => `${n === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`)
        .join("");
      svg.append(draw("path", { d: path, class: `line ${tone}` }));
    }
  }
  return svg;
}

function draw(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function costPart(cost, toolsUsed) {
  const used = toolsUsed.map(({ id, name, skillCalls }) => {
    // Ours, and not the tool's: it leads to the page of the tool.
    const link = /^[0-9a-f-]{36}$/.test(id) ? make("a", { href: `/tools/${id}` }, said(name)) : said(name);
    return make("li", {}, link, ` · ${skillCalls} ${skillCalls === 1 ? "call" : "calls"}`);
  });
  if (/^0(\.0+)?$/.test(cost.totalCostUsd)) {
    return make(
      "section",
      { class: "panel", id: "cost" },
      make("h3", {}, "It cost nothing"),
      used.length > 0 ? make("ul", { class: "prompts" }, ...used) : null,
      make("p", { class: "empty", id: "batch" }),
    );
  }
  return make(
    "section",
    { class: "panel", id: "cost" },
    make("h3", {}, `It cost $${cost.totalCostUsd}`),
    make("p", { class: "empty" }, `$${cost.toolCostUsd} for tools and $${cost.modelCostUsd} for the model.`),
    make("ul", { class: "prompts" }, ...used),
    make("ol", { class: "way", id: "way", "aria-label": "Its way to the chain" }),
    make("p", { class: "empty", id: "batch" }),
  );
}

// The turn's way to the chain, until it is final or nobody looks any more.
async function follow({ querySession, cost }, signal) {
  const way = document.getElementById("way");
  const batch = document.getElementById("batch");
  if (/^0(\.0+)?$/.test(cost.totalCostUsd)) {
    batch.textContent = "Nothing is owed.";
    return;
  }
  output.setAttribute("aria-busy", "false");
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const path = `/api/v1/query/jobs/${encodeURIComponent(querySession.attemptId)}/settlement`;
    const response = await fetch(path, { headers: { authorization: `Bearer ${key.value}` }, signal });
    if (response.ok) {
      const { state, batchId } = await response.json();
      const reached = WAYS.indexOf(state);
      way.replaceChildren(
        ...WAYS.map((name, i) =>
          make(
            "li",
            { "data-reached": i <= reached, ...(i === reached && { "aria-current": "step" }) },
            WAY_NAMES[name],
          ),
        ),
      );
      batch.textContent =
        ENDS[state] ?? (batchId === null ? "Settlement has not put it into a batch yet." : `Batch ${batchId}`);
      if (state === "final" || ENDS[state] !== undefined) return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_MS);
      signal.addEventListener("abort", resolve, { once: true });
    });
    if (signal.aborted) return;
  }
}
