import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { id } from "ethers";
import { type Address, bytesToHex, type Hex } from "viem";
import { mined } from "../../scripts/world/mined.ts";
import type { KeyedAccount } from "../../scripts/world/parties.ts";
import { encodeRows } from "../../settlement/chain/router/encodeRows.ts";
import { type DueCharge, NO_HASHES } from "../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import { createMerkleTree } from "../../settlement/engine/batch/merkleTree.ts";
import { leafOf, receiptOf } from "../../settlement/engine/batch/receipt.ts";
import type { ContextRouter } from "../../typechain-types/index.ts";

export const API_KEY = "sk_live_of_the_payer";

// What an operator charges to one account: what its receipts say, unless it is dishonest.
export type Asked = { modelCost?: bigint; tools?: readonly (readonly [toolId: string, amount: bigint])[] };

// A settlement service of a test's own: it settles charges with an operator's key, and hands out receipts as the marketplace
// does, as long as it cares to.
export async function openService(router: ContextRouter, operator: KeyedAccount, chainId = 8453) {
  const domain = { chainId, router: (await router.getAddress()) as Address };
  const answers = new Map<string, object>();
  let last = 0;

  function charge(payer: string, toolId: string | null, amount: bigint, fields: Partial<DueCharge> = {}): DueCharge {
    last += 1;
    const account = payer.toLowerCase() as Address;
    return {
      id: id(`charge ${last}`) as Hex,
      for: toolId === null ? { kind: "model" } : { kind: "tool", toolId: toolId as ToolId, calls: 1 },
      payer: account,
      chargedTo: account,
      amount: microUsdc(amount),
      hashes: NO_HASHES,
      accruedAtMs: 1_750_000_000_000 + last,
      attempts: 0,
      budgetId: null,
      ...fields,
    };
  }

  // Settles a batch of one payer, and returns its root.
  async function settle(charges: readonly DueCharge[], asked: Asked = askedFor(charges)): Promise<string> {
    const tree = createMerkleTree(charges.map((due) => leafOf(domain, due)));
    const { modelCost = 0n, tools = [] } = asked;
    const [first] = charges;
    if (first === undefined) throw new Error("a batch has receipts");
    const rows = encodeRows([
      { payer: first.chargedTo, modelCost, lines: tools.map(([, amount], toolIndex) => ({ toolIndex, amount })) },
    ]);
    const toolIds = tools.map(([toolId]) => toolId);
    await mined(router.connect(operator).settle(await router.headOf(operator.address), tree.root, toolIds, rows));
    answers.set(
      tree.root,
      answerFor(charges, tree.root, (leaf) => tree.proofOf(leaf)),
    );
    return tree.root;
  }

  // As `GET /api/v1/batches/:batch/receipts` answers.
  function answerFor(charges: readonly DueCharge[], batchId: string, proofOf: (leaf: Hex) => Hex[]): object {
    const receipts = charges
      .toSorted((one, other) => Buffer.compare(leafOf(domain, one), leafOf(domain, other)))
      .map((due) => {
        const leaf = bytesToHex(leafOf(domain, due));
        const { amount, calls, accruedAtMs, attempts, ...fields } = receiptOf(due);
        return {
          ...fields,
          amount: `${amount}`,
          calls: Number(calls),
          accruedAtMs: Number(accruedAtMs),
          attempts: Number(attempts),
          leaf,
          path: proofOf(leaf),
        };
      });
    return { payer: charges[0]?.chargedTo, batchId, ...domain, operator: operator.address, receipts };
  }

  return { charge, settle, answers, domain };
}

export type TestService = Awaited<ReturnType<typeof openService>>;

// A marketplace that knows nothing but receipts. A test may put somebody else behind the same address.
export async function serveReceipts({ answers }: TestService) {
  const honest: RequestListener = ({ url = "", headers }, response) => {
    const batchId = /^\/api\/v1\/batches\/(0x[0-9a-f]{64})\/receipts$/.exec(url)?.[1] ?? "";
    const answer = answers.get(batchId);
    const isKnown = headers.authorization === `Bearer ${API_KEY}`;
    response.writeHead(isKnown ? (answer ? 200 : 404) : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isKnown && answer ? answer : { error: "not found" }));
  };
  let listener = honest;
  const server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith: (other: RequestListener) => {
      listener = other;
    },
    answerHonestly: () => {
      listener = honest;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function askedFor(charges: readonly DueCharge[]): Asked {
  let modelCost = 0n;
  const tools = new Map<string, bigint>();
  for (const { for: subject, amount } of charges) {
    if (subject.kind === "model") modelCost += amount;
    else tools.set(subject.toolId, (tools.get(subject.toolId) ?? 0n) + amount);
  }
  return { modelCost, tools: [...tools] };
}
