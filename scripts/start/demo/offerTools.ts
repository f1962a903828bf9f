import type { Address } from "viem";
import { type ExampleName, type Examples, startExamples } from "../../../examples/startExamples.ts";
import type { SignAnswersOptions } from "../../../marketplace/toolkit/index.ts";
import type { Ask } from "../../client/createClient.ts";
import { registerTool } from "../../marketplace/asWallet.ts";
import { USDC_ADDRESS } from "../../world/world.ts";
import { StartError } from "../StartError.ts";
import { type Cast, walletOf } from "./cast.ts";

export type OfferOptions = {
  ask: Ask;
  cast: Cast;
  chainUrl: string;
  marketplaceUrl: string;
  signing: SignAnswersOptions;
  continued: boolean;
};

export type Method = { name: string; outputSchema?: unknown };

// With the methods of each, as they are listed, and why some are not.
export type Offered = Examples & { methods: ReadonlyMap<ExampleName, readonly Method[]>; refusals: readonly string[] };

type Outcome = { listed: boolean; checks: { ok: boolean; say: string }[]; tool: { mcpTools: Method[] } | null };

// Starts the examples as their developers would, and lists them. They are somewhere else at each start, which is a change of
// their listings; what buyers know of them stays.
export async function offerTools(options: OfferOptions): Promise<Offered> {
  const { ask, cast, chainUrl, marketplaceUrl, signing, continued } = options;
  const examples = await startExamples({
    chain: { rpcUrl: chainUrl, usdc: USDC_ADDRESS as Address },
    marketplace: { issuer: marketplaceUrl },
    toolIds: Object.fromEntries(cast.tools.map(({ example, uuid }) => [example, uuid])),
    signing,
  });
  const methods = new Map<ExampleName, readonly Method[]>();
  const refusals: string[] = [];
  try {
    await Promise.all(
      cast.tools.map(async ({ uuid, owner, example }) => {
        const { name, description, category, endpoint, suggestedPrompts } = examples.tools[example];
        const registration = { toolId: uuid, name, description, category, endpoint, suggestedPrompts };
        const { listed, checks, tool } = (await registerTool(ask, walletOf(owner), registration)) as Outcome;
        methods.set(example, tool?.mcpTools ?? []);
        if (listed) return;
        const wrong = checks.filter(({ ok }) => !ok).map(({ say }) => say);
        const refusal = `the marketplace does not list ${name}: ${wrong.join(" ")}`;
        if (!continued) throw new StartError(refusal);
        // Somebody has tried out what can be done with a stake, and the others work without this one.
        refusals.push(refusal);
      }),
    );
    return { ...examples, methods, refusals };
  } catch (error) {
    await examples.close();
    throw error;
  }
}
