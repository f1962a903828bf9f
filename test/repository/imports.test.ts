import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import { ALONE } from "../alone.ts";

const DOMAIN = ["settlement/domain", "settlement/clock.ts"];
const ENGINE = [...DOMAIN, "settlement/ledger", "settlement/chain", "settlement/engine"];
const PROCESS = [...ENGINE, "settlement/views", "settlement/config.ts", "settlement/openEngine.ts"];
// What the marketplace shares with the service: values and rules without effects, the two databases, reads of the chain, and
// how an HTTP process is built, watched and started. The ledger and the engine are the daemon's, which it asks over HTTP.
const SHARED = [
  ...DOMAIN,
  "settlement/settings.ts",
  "settlement/deployment.ts",
  "settlement/ledger/database",
  "settlement/chain",
  "settlement/views",
  "settlement/daemon/http",
];
// What a tool's server and whoever lists it have agreed on.
const TOOL_ID_HEADER = "marketplace/toolkit/middleware/toolIdHeader.ts";
const MARKET = ["marketplace/database", "marketplace/chain", "marketplace/settlement"];
const TOOLS = ["accounts", "mcp", "schema", "toolkit", "registry", "discovery"].map((room) => `marketplace/${room}`);
const PROTOCOL = ["settlement", "scripts/config", "scripts/protocol"];
const WORLD = [...PROTOCOL, "scripts/waiting", "scripts/process", "scripts/world"];
const COMMANDS = [...PROTOCOL, "scripts/command"];

// Which way imports point. A room may import from itself, from the rooms below it that are named here, and from nothing
// else of the tree; typechain-types is generated and open to all but the service.
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "settlement/domain": [],
  "settlement/ledger": DOMAIN,
  "settlement/chain": DOMAIN,
  "settlement/engine": ENGINE,
  "settlement/views": ENGINE,
  // The daemon serves the console, which knows it only by what it answers.
  "settlement/console": [...ENGINE, "settlement/views"],
  "settlement/daemon": [...PROCESS, "settlement/console"],
  "settlement/cli": [...PROCESS, "settlement/daemon"],
  settlement: [],
  // It speaks to strangers, and knows nothing of money.
  "marketplace/mcp": [TOOL_ID_HEADER],
  "marketplace/signing": DOMAIN,
  "marketplace/toolkit": DOMAIN,
  "marketplace/context": ["marketplace/execute/injectContext.ts", "marketplace/registry/listing.ts"],
  // How much of what was answered may be unread.
  "marketplace/delivery": ["settlement/daemon/http"],
  "marketplace/front": [
    "marketplace/api/untilGone.ts",
    "marketplace/delivery",
    "marketplace/mcp/transport/readJson.ts",
  ],
  "marketplace/database": SHARED,
  "marketplace/settlement": [...SHARED, "marketplace/mcp/testing"],
  "marketplace/accounts": [...SHARED, ...MARKET],
  "marketplace/chain": [...SHARED, "marketplace/accounts"],
  "marketplace/schema": ["marketplace/mcp", "marketplace/toolkit", "settlement/engine/batch/keccak.ts"],
  "marketplace/registry": [
    ...SHARED,
    ...MARKET,
    "marketplace/accounts",
    "marketplace/mcp",
    "marketplace/schema",
    TOOL_ID_HEADER,
  ],
  "marketplace/discovery": [...SHARED, ...MARKET, "marketplace/registry"],
  "marketplace/execute": [...SHARED, ...MARKET, ...TOOLS, "marketplace/toolkit/answer", "marketplace/delivery"],
  "marketplace/query": [...SHARED, ...MARKET, ...TOOLS, "marketplace/execute", "marketplace/delivery"],
  "marketplace/api": [
    ...SHARED,
    ...MARKET,
    ...TOOLS,
    "marketplace/delivery",
    "marketplace/execute",
    "marketplace/query",
  ],
  // What a browser is shown: drawn from listings, and nothing else is asked.
  "marketplace/pages": [
    ...DOMAIN,
    "marketplace/mcp/createMcpClient.ts",
    "marketplace/registry",
    "marketplace/discovery",
    "marketplace/settlement",
  ],
  // What stands beside the rooms composes them.
  "marketplace/process": [
    ...SHARED,
    "settlement/daemon/routes",
    "settlement/daemon/observability/createLogger.ts",
    "marketplace",
  ],
  "marketplace/cli": [...SHARED, "settlement/cli", "settlement/daemon/observability/createLogger.ts", "marketplace"],
  marketplace: [...SHARED, "marketplace/query/models/readModels.ts"],
  // As a tool's developer stands: the toolkit is all that they know of us.
  examples: ["marketplace/toolkit"],
  "scripts/config": [],
  "scripts/waiting": [],
  "scripts/process": ["scripts/waiting"],
  "scripts/client": ["scripts/waiting"],
  "scripts/protocol": PROTOCOL,
  "scripts/world": WORLD,
  "scripts/command": COMMANDS,
  // What a batch says of a payer's charges, and where it was kept.
  "scripts/receipts": COMMANDS,
  // The parties know nothing of each other.
  "scripts/deployer": COMMANDS,
  "scripts/governance": COMMANDS,
  "scripts/governance/admin": [...COMMANDS, "scripts/governance/act.ts"],
  "scripts/governance/guardian": [...COMMANDS, "scripts/governance/act.ts"],
  "scripts/governance/adjudicator": [...COMMANDS, "scripts/governance/act.ts"],
  "scripts/operator": COMMANDS,
  "scripts/developer": COMMANDS,
  "scripts/payer": [...COMMANDS, "scripts/receipts"],
  // It signs nothing, and hashes what the toolkit lets a tool sign.
  "scripts/court": [...COMMANDS, "scripts/receipts", "marketplace/toolkit"],
  "scripts/local": [...COMMANDS, "scripts/world"],
  "scripts/marketplace": [...WORLD, "scripts/client"],
  // Whoever signs a registration reads it as the marketplace does, and signs the same statement.
  "scripts/marketplace/commands": [
    ...COMMANDS,
    "scripts/client",
    "scripts/marketplace/asWallet.ts",
    "marketplace/api/registration.ts",
    "marketplace/accounts/signIn.ts",
    "marketplace/registry",
    // Hashes what a method promises as `pin-schema` does.
    "marketplace/toolkit/index.ts",
  ],
  // Its developers run the examples and sign with the toolkit, and everybody goes to the marketplace over HTTP.
  "scripts/start": [
    ...WORLD,
    ...["scripts/client", "scripts/marketplace/asWallet.ts", "examples", "marketplace/signing", "marketplace/toolkit"],
  ],
  "scripts/checks": ["settlement"],
  "scripts/generate": [],
  // What stands beside the rooms composes them.
  scripts: ["settlement", "scripts"],
  bench: ["settlement", "marketplace", "examples", "scripts"],
  // Some test the benchmarks, which know nothing of tests.
  test: ["settlement", "marketplace", "examples", "scripts", "bench", "hardhat.config.ts"],
};

const GENERATED = "typechain-types";

// Of types too: what cannot be named cannot be leant on.
const IMPORT = /\bfrom\s*"(\.[^"]+)"|\bimport\s*\(\s*"(\.[^"]+)"\s*\)|(?:^|\n)\s*import\s*"(\.[^"]+)"/g;

const isIn = (path: string, room: string) => path === room || path.startsWith(`${room}/`);

// The innermost room that a file is in.
const roomOf = (path: string) =>
  Object.keys(ROOMS)
    .filter((room) => isIn(path, room))
    .reduce((inner, room) => (room.length > inner.length ? room : inner), "");

const files = Object.keys(ROOMS)
  .filter((room) => !room.includes("/"))
  .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx,mjs}`));

const importsOf = (file: string) =>
  [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, from, dynamic, bare]) =>
    join(dirname(file), from ?? dynamic ?? bare ?? ""),
  );

function trespassesIn(room: string): string[] {
  const open = [
    ...(ROOMS[room] ?? []),
    room,
    ...(isIn(room, "settlement") || isIn(room, "marketplace") ? [] : [GENERATED]),
  ];
  return files
    .filter((file) => roomOf(file) === room)
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => !open.some((folder) => isIn(target, folder)))
        .map((target) => `${file} imports ${target}`),
    );
}

describe("imports point one way", () => {
  it.each(Object.keys(ROOMS))("%s imports from the rooms below it and from no other", (room) => {
    expect(trespassesIn(room)).toEqual([]);
  });

  it("every folder of scripts is a room, and every room has files", () => {
    for (const room of Object.keys(ROOMS))
      expect(
        files.some((file) => isIn(file, room)),
        room,
      ).toBe(true);
    const folders = files.filter((file) => /^scripts\/[^/]+\//.test(file)).map((file) => dirname(file).split("/")[1]);
    for (const folder of new Set(folders)) expect(Object.keys(ROOMS)).toContain(`scripts/${folder}`);
  });

  it("tests that run Hardhat share their process with nobody", () => {
    const sharing = files
      .filter((file) => file.endsWith(".test.ts") && !ALONE.some((pattern) => matchesGlob(file, pattern)))
      .filter((file) => importsOf(file).includes("test/commands/runInProcess.ts"));
    expect(sharing).toEqual([]);
  });
});
