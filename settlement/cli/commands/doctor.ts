import { accessSync, constants, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { formatEther } from "viem";
import { inspectChain } from "../../chain/inspectChain.ts";
import { readChainIds } from "../../chain/rpc/readChainIds.ts";
import { type Config, readConfig } from "../../config.ts";
import { reasonNotToListen, tryListen } from "../../daemon/http/server/tryListen.ts";
import { formatUsd, microUsdc } from "../../domain/money.ts";
import { isPostgres } from "../../domain/text/isPostgres.ts";
import { openEngine } from "../../openEngine.ts";
import { timeOf } from "../../views/shapes.ts";
import type { Command } from "../command.ts";

export type Check = { name: string; ok: boolean; found: string; todo: string | null };

const MAX_CLOCK_DIFFERENCE_MS = 60_000;
// Less than this lasts for a few absorbed turns only.
const LOW_INSURANCE = 10_000_000n;
const UNLIMITED = 2n ** 128n;

export const doctor: Command = {
  name: "doctor",
  usage: "",
  help: [
    "RPC endpoints and their chain ids, operator limits and gas, the insurance account, the token's implementation,",
    "pauses, the ledger's counters, the token, the address to listen on and this machine's clock. It makes no ledger: what",
    "the daemon would make when it first starts is named. Ends with 1 if something must be done.",
  ],
  async run({ output }) {
    const config = readConfig(output.environment);
    const checks: Check[] = [];
    for (const look of [door, endpoints, service]) {
      for (const check of await look(config, output.progress)) {
        checks.push(check);
        output.say(
          `${check.ok ? "ok  " : "FIX "} ${check.name}: ${check.found}${check.todo === null ? "" : ` — ${check.todo}`}`,
        );
      }
    }
    return { exitCode: checks.every(({ ok }) => ok) ? 0 : 1, value: { checks } };
  },
};

const good = (name: string, found: string): Check => ({ name, ok: true, found, todo: null });
const bad = (name: string, found: string, todo: string): Check => ({ name, ok: false, found, todo });

// What whoever asks the daemon needs.
async function door({ serviceToken, listen }: Config): Promise<Check[]> {
  const address = `${listen.host}:${listen.port}`;
  const refused = await tryListen(listen);
  // A port that is taken is taken by the daemon, as a rule.
  const isTaken = refused !== null && "code" in refused && refused.code === "EADDRINUSE";
  return [
    serviceToken === null
      ? bad("service token", "none is set", "put one into SETTLEMENT_SERVICE_TOKEN; openssl rand -hex 32 makes one")
      : good("service token", "it is set"),
    refused === null || isTaken
      ? good("listen", isTaken ? `${address} is taken, by the daemon if it runs` : `${address} is free`)
      : bad("listen", address, reasonNotToListen(refused, listen, "SETTLEMENT_LISTEN") ?? refused.message),
  ];
}

async function endpoints(config: Config): Promise<Check[]> {
  const answers = await readChainIds(config.rpcUrls);
  return answers.map((answer, i) => {
    const name = `endpoint ${i + 1}`;
    if (answer.kind === "failure") return bad(name, answer.reason, "look at its address in SETTLEMENT_RPC_URLS");
    if (answer.chainId === config.chainId) return good(name, `chain ${answer.chainId}`);
    return bad(
      name,
      `chain ${answer.chainId}`,
      `take it out of SETTLEMENT_RPC_URLS: this service is for ${config.chainId}`,
    );
  });
}

async function service(config: Config, progress: (text: string) => void): Promise<Check[]> {
  const isNew = !isPostgres(config.ledger) && !existsSync(config.ledger);
  // Only the daemon makes a ledger. What is asked of one is asked of an empty one until then.
  const folder = isNew ? mkdtempSync(join(tmpdir(), "settlement-doctor-")) : null;
  try {
    const location = folder === null ? config.ledger : join(folder, "ledger.db");
    return [
      ...(isNew ? [ledgerToCome(config.ledger)] : []),
      ...(await examine({ ...config, ledger: location }, progress)),
    ];
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

function ledgerToCome(path: string): Check {
  const name = "new ledger";
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
    return good(name, `there is none at ${path} yet; the daemon makes it when it first starts`);
  } catch {
    return bad(
      name,
      `this user may not write in ${dirname(path)}`,
      "make that folder, or name another file in SETTLEMENT_LEDGER",
    );
  }
}

async function examine(config: Config, progress: (text: string) => void): Promise<Check[]> {
  let opened: Awaited<ReturnType<typeof openEngine>>;
  try {
    opened = await openEngine({ ...config, holder: `${config.holder} doctor` });
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it failed";
    return [bad("start", reason, "the daemon would not start either; fix this first")];
  }
  try {
    const { chain, ledger, engine } = opened;
    const inspection = inspectChain(config);
    const checks: Check[] = [];

    if (engine.operators.length === 0) {
      checks.push(bad("operators", "no key is configured", "name a keystore in SETTLEMENT_KEYSTORES"));
    }
    for (const operator of engine.operators) {
      progress(`looking at operator ${operator}`);
      const [{ limit, left, bonded }, balance] = await Promise.all([
        inspection.operatorLimit(operator),
        chain.balance(operator),
      ]);
      checks.push(limitCheck(operator, limit, left));
      if (limit > 0n) {
        const bond = `operator ${operator} bond`;
        const remedy = "add to it with npx hardhat bond post";
        checks.push(bonded ? good(bond, "enough") : bad(bond, "less than its limit asks for", remedy));
      }
      const gas = `operator ${operator} gas`;
      checks.push(
        balance >= config.minOperatorWei
          ? good(gas, `${formatEther(balance)} ether`)
          : bad(gas, `${formatEther(balance)} ether`, `send it more than ${formatEther(config.minOperatorWei)} ether`),
      );
    }

    const [insurance] = await chain.spendable([chain.insurance]);
    const spendable = insurance?.amount ?? microUsdc(0n);
    const allowance = insurance?.allowance ?? 0n;
    const shown = `${formatUsd(insurance?.balance ?? microUsdc(0n))} USDC, allows ${allowance >= UNLIMITED ? "any amount" : formatUsd(microUsdc(allowance))}`;
    checks.push(
      spendable >= LOW_INSURANCE
        ? good(`insurance ${chain.insurance}`, shown)
        : bad(
            `insurance ${chain.insurance}`,
            shown,
            "give it USDC and let it approve the router, or nothing can be absorbed",
          ),
    );

    const availability = await chain.availability();
    checks.push(
      availability.kind === "available"
        ? good("settlement", "USDC and the router are open")
        : bad("settlement", availability.reason, "charges wait until this is lifted; nothing is lost"),
    );

    checks.push(tokenCheck(await chain.tokenImplementation(), await ledger.listTokenImplementations()));

    const halted = await ledger.readHalt();
    checks.push(
      halted === null
        ? good("halt", "none")
        : bad("halt", halted.reason, "find out why, then lift it with `settle -- reconcile --resume`"),
    );
    progress("adding up the ledger");
    const differences = await ledger.audit();
    checks.push(
      differences.length === 0
        ? good("ledger", "its counters are what they should be")
        : bad(
            "ledger",
            `${differences.length} counters are wrong: ${differences[0]}`,
            "stop the daemon and restore a copy",
          ),
    );

    const head = await chain.head();
    const behindMs = Date.now() - head.timestampMs;
    const clock = `${Math.round(behindMs / 1_000)} s after block ${head.number}`;
    checks.push(
      Math.abs(behindMs) <= MAX_CLOCK_DIFFERENCE_MS
        ? good("clock", clock)
        : bad("clock", clock, "set this machine's clock, or look whether the endpoint lags behind"),
    );
    return checks;
  } finally {
    await opened.close();
  }
}

function tokenCheck(
  implementation: string | null,
  [last, before]: readonly { implementation: string; seenAtMs: number }[],
): Check {
  const name = "USDC";
  if (implementation === null) {
    return bad(name, "it is no known proxy", "make sure that SETTLEMENT_ROUTER is the right one");
  }
  const found = `implementation ${implementation}`;
  if (last !== undefined && last.implementation !== implementation) {
    return bad(
      name,
      `${found}, where the daemon last saw ${last.implementation}`,
      "USDC was upgraded: read what has changed",
    );
  }
  if (last === undefined || before === undefined) return good(name, found);
  return good(name, `${found} since ${timeOf(last.seenAtMs)}, before it ${before.implementation}`);
}

function limitCheck(operator: string, limit: bigint, left: bigint): Check {
  const name = `operator ${operator} limit`;
  if (limit === 0n) return bad(name, "it is no operator", "let the admin set its limit with setOperatorLimit");
  const found = `${formatUsd(microUsdc(left))} of ${formatUsd(microUsdc(limit))} USD left`;
  return left > 0n ? good(name, found) : bad(name, found, "wait, or let the admin raise its limit");
}
