import type { Login } from "../api/answers.ts";
import { h } from "../page/dom.ts";
import { page } from "../page/parts.ts";

// In the place of what only those may see who have the token.
export function loginForm(title: string, { possible }: Login, logIn: (token: string) => Promise<string | null>) {
  if (!possible) {
    return page(
      title,
      h(
        "section",
        { class: "panel narrow" },
        h("h2", {}, "Nobody can log in yet"),
        h(
          "p",
          {},
          "This page shows what single payers do. To see it, set a token of 32 characters or more and start the daemon again:",
        ),
        h("pre", {}, "SETTLEMENT_CONSOLE_TOKEN=$(openssl rand -hex 32)"),
      ),
    );
  }
  const problem = h("p", { class: "problem", role: "alert" });
  const input = h("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  const onsubmit = async (event: Event) => {
    event.preventDefault();
    problem.textContent = "";
    problem.textContent = (await logIn(input.value)) ?? "";
    input.value = "";
  };
  return page(
    title,
    h(
      "form",
      { class: "panel narrow", onsubmit },
      h("h2", {}, "Log in"),
      h(
        "p",
        {},
        "This page shows what single payers do. Logging in lets you read it; nothing can be changed from here.",
      ),
      h("label", { for: "token" }, "Console token"),
      input,
      problem,
      h("button", { type: "submit" }, "Log in"),
    ),
  );
}
