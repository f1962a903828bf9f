import { readFileSync } from "node:fs";
import type { Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { hashJson, type SignAnswersOptions } from "../../../marketplace/toolkit/index.ts";
import type { DeploymentRecord } from "../../../settlement/deployment.ts";
import { SchemaCourt__factory } from "../../../typechain-types/index.ts";
import { CHAIN_ID, type SavedChain } from "../stack/startSavedChain.ts";
import { type StateFolder, writeSecret } from "../state/stateFolder.ts";
import type { Cast } from "./cast.ts";
import { SIGNING_TOOL } from "./people.ts";

const hexadecimal = z.templateLiteral(["0x", z.string().regex(/^[0-9a-fA-F]+$/)]);
const schema = z.object({ privateKey: hexadecimal });

// The key with which one of the demo's tools signs.
export function createAnswerKey({ answers: path }: StateFolder): void {
  writeSecret(path, JSON.stringify({ privateKey: generatePrivateKey() }));
}

export function signingOf(
  { answers: path }: StateFolder,
  { tools }: Cast,
  { contracts: { schemaCourt } }: DeploymentRecord,
): SignAnswersOptions {
  const { privateKey } = schema.parse(JSON.parse(readFileSync(path, "utf8")));
  return {
    toolId: tools.find(({ example }) => example === SIGNING_TOOL)?.uuid ?? "",
    account: privateKeyToAccount(privateKey as Hex),
    court: { chainId: CHAIN_ID, address: schemaCourt.address as Address },
  };
}

type Listed = { name: string; outputSchema?: unknown };

// What the developer of a tool that signs says on chain, once: which key signs, and which schemas its answers match.
export async function promise(
  { provider }: SavedChain,
  { tools, sendAll }: Cast,
  { account, court: { address } }: SignAnswersOptions,
  methods: readonly Listed[],
): Promise<void> {
  const tool = tools.find(({ example }) => example === SIGNING_TOOL);
  if (tool === undefined) return;
  const court = SchemaCourt__factory.connect(address, provider);
  const { owner, toolId } = tool;
  const isRegistered = (await court.keyPeriod(toolId, account.address)).from > 0n;
  const unpinned = await Promise.all(
    methods.map(async ({ name, outputSchema }) => {
      const promised = hashJson(outputSchema);
      if ((await court.lastSchema(toolId, name)) === promised) return [];
      return [await court.pinSchema.populateTransaction(toolId, name, promised)];
    }),
  );
  const unregistered = isRegistered ? [] : [await court.registerKey.populateTransaction(toolId, account.address)];
  await sendAll(owner, [...unregistered, ...unpinned.flat()]);
}
