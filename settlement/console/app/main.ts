import type { Login } from "./api/answers.ts";
import { AskError, ask, tell } from "./api/ask.ts";
import { type Poll, poll } from "./api/poll.ts";
import { watchToolNames } from "./api/toolNames.ts";
import { type Child, h, patchChildren } from "./page/dom.ts";
import { duration } from "./page/format.ts";
import { page } from "./page/parts.ts";
import type { Place, View } from "./view.ts";
import { audit } from "./views/audit.ts";
import { batch } from "./views/batch.ts";
import { batches } from "./views/batches.ts";
import { charge } from "./views/charge.ts";
import { charges } from "./views/charges.ts";
import { find } from "./views/find.ts";
import { loginForm } from "./views/login.ts";
import { operators } from "./views/operators.ts";
import { overview } from "./views/overview.ts";
import { payer } from "./views/payer.ts";
import { payers } from "./views/payers.ts";
import { sessions } from "./views/sessions.ts";
import { tool } from "./views/tool.ts";
import { tools } from "./views/tools.ts";

// By name: the list, and what one entry of it leads to.
const VIEWS: Readonly<Record<string, { all: View; one?: View; isUnlisted?: boolean }>> = {
  overview: { all: overview },
  batches: { all: batches, one: batch },
  charges: { all: charges, one: charge },
  sessions: { all: sessions },
  payers: { all: payers, one: payer },
  tools: { all: tools, one: tool },
  operators: { all: operators },
  audit: { all: audit },
  find: { all: charges, one: find, isUnlisted: true },
};

const LISTED = Object.entries(VIEWS).filter(([, { isUnlisted }]) => !isUnlisted);

const element = (id: string) => document.getElementById(id) as HTMLElement;
const main = element("main");
let login: Login = { possible: false, loggedIn: false };
let running: Poll | undefined;
let ticking: ReturnType<typeof setInterval> | undefined;

function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", id] = path.split("/");
  return {
    name: name === "" ? "overview" : name,
    id: id === undefined ? null : decoded(id),
    options: new URLSearchParams(query),
  };
}

// An address that somebody typed may be anything.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Goes to where the address says, and stays there until it changes.
function show(isFirst = false): void {
  let isArriving = true;
  running?.stop();
  notice(null);
  const place = placeOf(location.hash);
  const known = VIEWS[place.name];
  const view = place.id === null ? known?.all : known?.one;
  drawFrame(place, view);
  // A screen reader and a keyboard begin at the top of what is new, and not where the link was.
  const arrive = () => {
    if (!isArriving) return;
    isArriving = false;
    // At first nobody has come from anywhere.
    if (isFirst) return;
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  };
  const put = (content: HTMLElement) => {
    main.setAttribute("aria-busy", "false");
    // Another page is other elements; the same page is patched.
    if (isArriving) main.replaceChildren(content);
    else patchChildren(main, [content]);
    arrive();
  };

  if (view === undefined) {
    put(page("There is no such page", h("p", { class: "empty" }, h("a", { href: "#/" }, "Go to the overview"))));
    return;
  }
  if (view.needsLogin && !login.loggedIn) {
    put(loginForm(view.title, login, logInHere));
    return;
  }
  let data: unknown;
  let isLoaded = false;
  const redraw = () => {
    if (isLoaded) put(view.draw(data, place, { redraw, reload: () => running?.now() }));
  };
  main.setAttribute("aria-busy", "true");
  main.replaceChildren(page(view.title, h("p", { class: "empty" }, "Loading …")));
  running = poll({
    load: () => view.load(place),
    show(loaded) {
      data = loaded;
      isLoaded = true;
      notice(null);
      redraw();
    },
    fail(error, sinceMs) {
      if (error.status === 401) {
        login = { ...login, loggedIn: false };
        show();
      } else if (error.status === null || error.status >= 500 || error.status === 429) {
        notice(error.message, sinceMs);
      } else {
        put(page(view.title, h("p", { class: "empty" }, error.message)));
      }
    },
    isDone: view.isDone,
    everyMs: view.everyMs,
  });
}

// A sentence above everything. Its age counts along for the eye only: a screen reader says the sentence once.
function notice(sentence: string | null, sinceMs = 0): void {
  clearInterval(ticking);
  const write = () => {
    const age = ` What you see is ${duration(Date.now() - sinceMs)} old.`;
    const said = [h("span", {}, sentence), h("span", { "aria-hidden": "true" }, age)];
    patchChildren(element("notice"), sentence === null ? [] : said);
  };
  write();
  if (sentence !== null) ticking = setInterval(write, 1_000);
}

function drawFrame(place: Place, view: View | undefined): void {
  document.title = `${view?.title ?? "Nothing"} · Settlement`;
  patchChildren(
    element("nav"),
    LISTED.map(([name, { all }]) =>
      h(
        "a",
        {
          href: name === "overview" ? "#/" : `#/${name}`,
          "aria-current": name === place.name ? "page" : null,
        },
        all.title,
      ),
    ),
  );
  openMenu(false);
  patchChildren(element("tools"), frameTools());
}

function frameTools(): Node[] {
  const entry: Child = login.loggedIn
    ? h("button", { type: "button", class: "quiet", onclick: () => void logOut() }, "Log out")
    : h("a", { href: "#/payers" }, "Log in");
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark" || prefersDark();
  const next = isDark ? "light" : "dark";
  return [
    h(
      "button",
      { type: "button", class: "quiet", id: "theme", onclick: () => setTheme(next) },
      isDark ? "Light" : "Dark",
    ),
    entry as Node,
  ];
}

const prefersDark = () =>
  document.documentElement.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches;

function setTheme(theme: "light" | "dark"): void {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
  patchChildren(element("tools"), frameTools());
}

function openMenu(isOpen: boolean): void {
  element("menu").setAttribute("aria-expanded", `${isOpen}`);
  element("nav").classList.toggle("open", isOpen);
}

// Returns why not, or null.
async function logIn(token: string): Promise<string | null> {
  try {
    login = await tell<Login>("/console/login", { token });
    return null;
  } catch (error) {
    return error instanceof AskError ? error.message : "It did not work.";
  }
}

async function logInHere(token: string): Promise<string | null> {
  const problem = await logIn(token);
  if (problem === null) show();
  return problem;
}

async function logOut(): Promise<void> {
  try {
    login = await tell<Login>("/console/logout", {});
    show();
  } catch (error) {
    if (error instanceof AskError) notice(error.message, Date.now());
  }
}

async function start(): Promise<void> {
  // A link with the token logs in, and the token leaves the address bar before anything else happens.
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, "", "#/");
  try {
    login = await ask<Login>("/console/login");
  } catch {
    // The first view says that the daemon does not answer.
  }
  if (token !== undefined && !login.loggedIn) {
    const problem = await logIn(decoded(token));
    // Whoever comes with a wrong token is asked for the right one.
    if (problem !== null) history.replaceState(null, "", "#/payers");
  }
  void watchToolNames();
  addEventListener("hashchange", () => show());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    patchChildren(element("tools"), frameTools()),
  );
  element("skip").onclick = (event) => {
    // An address within the page would be taken for a place in the console.
    event.preventDefault();
    main.focus();
  };
  element("menu").onclick = () => openMenu(element("menu").getAttribute("aria-expanded") === "false");
  show(true);
}

void start();
