import { emptyTask, task } from "hardhat/config";
import { optional, sending } from "../../command/options.ts";

const tool = { name: "tool", description: "The tool's id, a UUID" } as const;
const marketplace = optional("marketplace", "The marketplace's address; MARKETPLACE_URL of the environment otherwise");

// What people without a browser do at a marketplace. They sign for it, and send nothing to the chain.
export const marketplaceTasks = [
  emptyTask("api-key", "Keys with which programs buy at a marketplace").build(),
  sending(task(["api-key", "create"], "Make an API key of your account; it is shown once"))
    .addOption(optional("name", "Your own name for the key"))
    .addOption(marketplace)
    .setAction(() => import("./keys/createApiKey.ts"))
    .build(),
  sending(task(["api-key", "list"], "Show the API keys of your account, never the keys themselves"))
    .addOption(marketplace)
    .setAction(() => import("./keys/listApiKeys.ts"))
    .build(),
  sending(task(["api-key", "revoke"], "Revoke an API key of your account, at once and permanently"))
    .addPositionalArgument({ name: "id", description: "The key's id, as api-key list shows it" })
    .addOption(marketplace)
    .setAction(() => import("./keys/revokeApiKey.ts"))
    .build(),
  emptyTask("wallet", "Wallets that the tools of a marketplace look at for your account").build(),
  sending(
    task(["wallet", "link"], "Link the wallet that signs to the account of MARKETPLACE_API_KEY; it cannot be charged"),
  )
    .addOption(marketplace)
    .setAction(() => import("./wallets/linkWallet.ts"))
    .build(),
  sending(task(["wallet", "list"], "Show the wallets that are linked to your account"))
    .addOption(marketplace)
    .setAction(() => import("./wallets/listWallets.ts"))
    .build(),
  sending(task(["wallet", "unlink"], "Take the link from your account to a wallet back"))
    .addPositionalArgument({ name: "wallet", description: "The wallet's address" })
    .addOption(marketplace)
    .setAction(() => import("./wallets/unlinkWallet.ts"))
    .build(),
  emptyTask("favorite", "Tools that your account has marked at a marketplace").build(),
  sending(task(["favorite", "add"], "Add a tool to your account's favourites"))
    .addPositionalArgument(tool)
    .addOption(marketplace)
    .setAction(() => import("./favorites/addFavorite.ts"))
    .build(),
  sending(task(["favorite", "remove"], "Take a tool out of your account's favourites"))
    .addPositionalArgument(tool)
    .addOption(marketplace)
    .setAction(() => import("./favorites/removeFavorite.ts"))
    .build(),
  sending(task(["favorite", "list"], "Show your account's favourites"))
    .addOption(marketplace)
    .setAction(() => import("./favorites/listFavorites.ts"))
    .build(),
  sending(task("register-tool", "Offer a tool at a marketplace, which tries it first; or change what it says of it"))
    .addPositionalArgument(tool)
    .addOption(optional("endpoint", "The URL of the tool's MCP server, as buyers reach it"))
    .addOption(optional("name", "What buyers read first"))
    .addOption(optional("description", "What it does, in the words that buyers search with"))
    .addOption(optional("category", 'Such as "Utility"; none otherwise'))
    .addOption(optional("executePrice", "In USDC, for a call of each method that names no price of its own"))
    .addOption(optional("executePrices", "Prices that win over the server's, such as search=0.01,fetch=0.002"))
    .addOption(optional("prompts", "A text file with an example of what to ask on each line"))
    .addOption(marketplace)
    .setAction(() => import("./tools/registerTool.ts"))
    .build(),
  sending(task("refresh-tool", "Have a marketplace ask a tool's server for its methods again"))
    .addPositionalArgument(tool)
    .addOption(marketplace)
    .setAction(() => import("./tools/refreshTool.ts"))
    .build(),
  sending(
    task("tool-status", "Show how your tool stands at a marketplace: offered or why not, uptime, calls, warnings"),
  )
    .addPositionalArgument(tool)
    .addOption(marketplace)
    .setAction(() => import("./tools/toolStatus.ts"))
    .build(),
];
