import { type Html, html } from "./html/html.ts";
import { askSnippetsOf, QUESTION_MARK } from "./snippets.ts";

export type Ask = { question: string; examples: readonly string[]; baseUrl: string };

const EXAMPLE = "What is the median of 3, 1, 2?";

// Asks a question. The script of the page sends it and writes what comes back; without one the snippets still say how.
export function askPage({ question, examples, baseUrl }: Ask): Html {
  const snippets = askSnippetsOf({ baseUrl, question: question || EXAMPLE });
  const templates = askSnippetsOf({ baseUrl, question: QUESTION_MARK });
  return html`
    <section class="hero">
      <h1>Ask, and pay for the answer</h1>
      <p>Tools of the marketplace are called for it, and every fact says which one it is from. Without an answer nothing is paid.</p>
    </section>
    <div class="asking">
      <form class="panel" id="ask" autocomplete="off">
        <label for="question">Question</label>
        <textarea id="question" name="question" rows="3" maxlength="4000" required placeholder="${EXAMPLE}">${question}</textarea>
        <div class="fields">
          <div>
            <label for="key">API key</label>
            <input id="key" name="key" type="password" required placeholder="sk_live_…" aria-describedby="about-key">
          </div>
          <div>
            <label for="most">At most, in dollars</label>
            <input id="most" name="most" inputmode="decimal" value="0.25" pattern="[0-9]+(\\.[0-9]{1,6})?">
          </div>
        </div>
        <p class="empty" id="about-key">The key stays in this tab. <a href="/account">The account page</a> makes one.</p>
        <details id="account">
          <summary>What the account can pay</summary>
          <div id="funds" aria-live="polite"><p class="empty">Enter a key to see it.</p></div>
          <label for="signed">Signed budget, if its wallet demands consent</label>
          <textarea id="signed" name="signed" rows="3" spellcheck="false" aria-describedby="about-signed" placeholder='{"budget":{"id":"7", …},"signature":"0x…"}'></textarea>
          <p class="empty" id="about-signed">
            What <code>npx hardhat budget sign --into budget.json</code> has written. It goes with the question, and settlement takes no
            more than it says. Leave it empty to draw on the one that was brought before.
          </p>
        </details>
        <p class="tags"><button type="submit">Ask</button> <button type="button" class="quiet" id="stop" hidden>Stop</button></p>
        <noscript><p class="notice">This form needs JavaScript. The commands beside it do not.</p></noscript>
        ${
          examples.length > 0 &&
          html`<div class="examples"><h2>For example</h2><ul class="prompts">${examples.map(
            (text) => html`<li><a href="/ask?${`${new URLSearchParams({ q: text })}`}"><bdi>${text}</bdi></a></li>`,
          )}</ul></div>`
        }
      </form>
      <section class="panel" aria-labelledby="how">
        <h2 id="how">The same without this page</h2>
        ${snippets.map(
          ({ language, code }, i) => html`<details name="language"${i === 0 && html` open`}>
            <summary>${language}</summary>
            <pre tabindex="0" aria-label="${language}"><code data-language="${language}" data-template="${templates[i]?.code}">${code}</code></pre>
          </details>`,
        )}
      </section>
    </div>
    <section class="answer" id="answer" aria-live="polite" aria-busy="false" hidden></section>`;
}
