// The account's page. The login is kept in this page alone: whoever loads it again signs in again. Whatever tools and wallets say is
// put into the page as text and as nothing else.

const REJECTED = 4001;
const MAX_NAMES = 40;

const byId = (id) => document.getElementById(id);
let login = null;
let account = null;

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children.map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))));
  return element;
}

async function ask(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: {
      ...(login !== null && { authorization: `Bearer ${login}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401 && login !== null) leave();
  if (!response.ok) throw new Error(answer.error ?? `The marketplace answered ${response.status}.`);
  return answer;
}

// What the wallet is to sign stands in the message, which the marketplace has written.
async function sign(wallet, asked) {
  const { message } = await ask("POST", "/api/v1/auth/challenge", { wallet, ...asked });
  const bytes = [...new TextEncoder().encode(message)].map((byte) => byte.toString(16).padStart(2, "0"));
  const signature = await window.ethereum.request({
    method: "personal_sign",
    params: [`0x${bytes.join("")}`, wallet],
  });
  return { message, signature };
}

async function chosenWallet() {
  const [wallet] = await window.ethereum.request({ method: "eth_requestAccounts" });
  if (wallet === undefined) throw new Error("The wallet shows no account.");
  return wallet;
}

// Does something that a person has asked for. What goes wrong is said, and the button can be pressed again.
async function attempt(control, work) {
  control.disabled = true;
  byId("said").replaceChildren();
  try {
    await work();
  } catch (error) {
    const words =
      error?.code === REJECTED ? "You did not sign. Nothing was changed." : (error?.message ?? String(error));
    byId("said").replaceChildren(make("p", { class: "notice" }, make("bdi", {}, words)));
  } finally {
    control.disabled = false;
  }
}
const onClick = (button, work) => button.addEventListener("click", () => attempt(button, work));

function table(caption, heads, rows) {
  if (rows.length === 0) return make("p", { class: "empty" }, "None yet.");
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))));
  return make(
    "table",
    {},
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, head),
    make("tbody", {}, ...body),
  );
}

function button(words, about, work) {
  const element = make("button", { type: "button", class: "quiet", "aria-label": `${words} ${about}` }, words);
  onClick(element, work);
  return element;
}

const day = (time) => make("time", { datetime: time }, time.slice(0, 10));

async function showKeys() {
  const { keys } = await ask("GET", "/api/v1/keys");
  const rows = keys.toReversed().map(({ id, name, createdAt, revokedAt }) => [
    make("bdi", {}, name),
    make("code", {}, id),
    day(createdAt),
    revokedAt !== null
      ? make("span", {}, "Revoked ", day(revokedAt))
      : button("Revoke", name, async () => {
          await ask("DELETE", `/api/v1/keys?id=${encodeURIComponent(id)}`);
          byId("made").replaceChildren();
          await showKeys();
        }),
  ]);
  byId("keys").replaceChildren(table("API keys", ["Name", "Id", "Made", "State"], rows));
}

async function show({ wallet, linkedWallets, favorites, favoritesOnly }) {
  byId("wallet").textContent = wallet;
  byId("only").checked = favoritesOnly;
  const linked = linkedWallets.map((one) => [
    make("code", {}, one.wallet),
    day(one.linkedAt),
    button("Unlink", one.wallet, async () =>
      show(await ask("DELETE", `/api/v1/wallets?wallet=${encodeURIComponent(one.wallet)}`)),
    ),
  ]);
  byId("wallets").replaceChildren(table("Linked wallets", ["Wallet", "Linked", "State"], linked));
  const names = await Promise.all(
    favorites.map((id, i) =>
      i < MAX_NAMES
        ? ask("GET", `/api/v1/tools/${id}`).then(
            ({ name }) => name,
            () => id,
          )
        : id,
    ),
  );
  const liked = favorites.map((id, i) => [
    make("a", { href: `/tools/${encodeURIComponent(id)}` }, make("bdi", {}, names[i])),
    button("Remove", names[i], async () => show(await ask("DELETE", `/api/v1/favorites?toolId=${id}`))),
  ]);
  byId("favorites").replaceChildren(table("Favourites", ["Tool", "State"], liked));
}

function leave() {
  login = null;
  account = null;
  byId("made").replaceChildren();
  byId("account").hidden = true;
  byId("sign-in").hidden = false;
}

onClick(byId("enter"), async () => {
  if (window.ethereum === undefined) {
    byId("no-wallet").hidden = false;
    return;
  }
  const entered = await ask("POST", "/api/v1/auth/login", await sign(await chosenWallet(), {}));
  login = entered.login;
  account = entered.wallet;
  await Promise.all([showKeys(), ask("GET", "/api/v1/account").then(show)]);
  byId("sign-in").hidden = true;
  byId("account").hidden = false;
});

onClick(byId("leave"), async () => {
  await ask("POST", "/api/v1/auth/logout").catch(() => undefined);
  leave();
});

onClick(byId("link"), async () => {
  // The person chooses once more which account the page may see. Wallets that do not know how to ask show what they have shown.
  await window.ethereum
    .request({ method: "wallet_requestPermissions", params: [{ eth_accounts: {} }] })
    .catch((error) => {
      if (error?.code === REJECTED) throw error;
    });
  const wallet = await chosenWallet();
  if (wallet.toLowerCase() === account)
    throw new Error("This is the account's own wallet. Choose another one to link.");
  await show(await ask("POST", "/api/v1/wallets", await sign(wallet, { linkTo: account })));
});

byId("make").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  attempt(form.querySelector("button"), async () => {
    const { key } = await ask("POST", "/api/v1/keys", { name: form.elements.name.value });
    form.reset();
    byId("made").replaceChildren(
      make("p", { class: "notice" }, "Keep this key: it is shown here and never again."),
      make("pre", { tabindex: "0", "aria-label": "The new key" }, make("code", {}, key)),
    );
    await showKeys();
  });
});

byId("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.currentTarget;
  attempt(form.querySelector("button"), async () => {
    const toolId = form.elements.tool.value.trim().toLowerCase();
    await ask("GET", `/api/v1/tools/${toolId}`);
    await show(await ask("POST", "/api/v1/favorites", { toolId }));
    form.reset();
  });
});

byId("only").addEventListener("change", ({ currentTarget: box }) =>
  attempt(box, async () => show(await ask("PATCH", "/api/v1/account", { favoritesOnly: box.checked }))),
);
