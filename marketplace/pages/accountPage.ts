import { type Html, html } from "./html/html.ts";

// Where a person with a wallet makes keys. Its script does everything; without one, or without a wallet in the browser, the commands
// do the same.
export function accountPage(): Html {
  return html`
    <section class="hero">
      <h1>Your account</h1>
      <p>An account is a wallet. Its keys let programs buy for it; what they can spend is bounded by its cap, on chain.</p>
    </section>
    <section class="panel" id="sign-in" aria-labelledby="sign-in-title">
      <h2 id="sign-in-title">Sign in</h2>
      <p class="empty">Your wallet signs a message. That costs nothing, sends nothing to the chain, and ends after an hour.</p>
      <p class="tags"><button type="button" id="enter">Sign in with your wallet</button></p>
      <div id="no-wallet" hidden>
        <p class="notice">This browser has no wallet. A wallet's extension brings one; the command line needs none:</p>
        <pre tabindex="0" aria-label="Commands"><code>npx hardhat api-key create --name laptop
npx hardhat wallet link
npx hardhat favorite add TOOL_ID</code></pre>
      </div>
      <noscript><p class="notice">This page needs JavaScript. <code>npx hardhat api-key create --name laptop</code> does not.</p></noscript>
    </section>
    <div id="said" role="status" aria-live="polite"></div>
    <div id="account" class="account" hidden>
      <section class="panel" aria-labelledby="wallet-title">
        <h2 id="wallet-title">Wallet</h2>
        <p><code id="wallet"></code></p>
        <p class="tags"><button type="button" class="quiet" id="leave">Sign out</button> <a href="/help">How to set its spending cap</a></p>
      </section>
      <section class="panel" aria-labelledby="keys-title">
        <h2 id="keys-title">API keys</h2>
        <div id="made" aria-live="polite"></div>
        <div class="wide" id="keys"></div>
        <form id="make" autocomplete="off">
          <label for="name">Name of a new key</label>
          <div class="fields"><input id="name" name="name" required maxlength="100" placeholder="laptop"></div>
          <p class="tags"><button type="submit">Make a key</button></p>
        </form>
      </section>
      <section class="panel" aria-labelledby="wallets-title">
        <h2 id="wallets-title">Linked wallets</h2>
        <p class="empty">Tools that look at positions or balances look at the one that was linked last; none of them can be charged.</p>
        <div class="wide" id="wallets"></div>
        <p class="tags"><button type="button" class="quiet" id="link">Link another wallet</button></p>
      </section>
      <section class="panel" aria-labelledby="favorites-title">
        <h2 id="favorites-title">Favourites</h2>
        <div class="wide" id="favorites"></div>
        <p><input type="checkbox" id="only"> <label for="only">Searches with my keys look among favourites alone</label></p>
        <form id="add" autocomplete="off">
          <label for="tool">Tool's id, as its page shows it</label>
          <div class="fields"><input id="tool" name="tool" required pattern="[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"></div>
          <p class="tags"><button type="submit" class="quiet">Add to favourites</button></p>
        </form>
      </section>
    </div>`;
}
