import { type Html, html } from "./html/html.ts";

// Where a buyer is sent whose call was refused for want of a cap, of money, of consent or of a wallet.
export function helpPage(): Html {
  return html`
    <section class="hero">
      <h1>When a call is refused</h1>
      <p>Calls are paid in USDC on Base, from your own wallet, up to a cap that you set there. Nobody else can raise it.</p>
    </section>
    <div>
      <section class="panel" id="cap" aria-labelledby="cap-title">
        <h2 id="cap-title">The spending cap is not set, or too small</h2>
        <p>The cap is what the wallet allows the protocol to take: calls that were delivered and not settled yet count, too. Setting it is
          one transaction of your wallet:</p>
        <pre tabindex="0" aria-label="Set the cap"><code>npx hardhat cap --set 5 --network base</code></pre>
        <p class="empty"><code>npx hardhat cap</code> without <code>--set</code> shows it. Zero takes it back.</p>
      </section>
      <section class="panel" id="wallet" aria-labelledby="wallet-title">
        <h2 id="wallet-title">The wallet has too little USDC, or there is none</h2>
        <p>The wallet that is charged is the one that has made the API key. Send USDC on Base to it, and call again, under the same
          Idempotency-Key if there was one: nothing was called, and nothing is charged.</p>
      </section>
      <section class="panel" id="budget" aria-labelledby="budget-title">
        <h2 id="budget-title">The wallet demands consent</h2>
        <p>It pays only for what it has signed a budget for. Sign one, and send it with the request or once to
          <code>POST /api/v1/budgets</code>:</p>
        <pre tabindex="0" aria-label="Sign a budget"><code>npx hardhat budget sign --into budget.json</code></pre>
      </section>
      <section class="panel" id="link" aria-labelledby="link-title">
        <h2 id="link-title">A tool needs to know a wallet of yours</h2>
        <p>Link the one that it is to look at on <a href="/account">your account's page</a>, or with <code>npx hardhat wallet link</code>.
          A linked wallet cannot be charged.</p>
      </section>
    </div>`;
}
