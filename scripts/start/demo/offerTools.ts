import type { Address } from "viem";
import { type Examples, startExamples } from "../../../examples/startExamples.ts";
import type { Ask } from "../../client/createClient.ts";
import { registerTool } from "../../marketplace/asWallet.ts";
import { USDC_ADDRESS } from "../../world/world.ts";
import { StartError } from "../StartError.ts";
import { type Cast, walletOf } from "./cast.ts";

export type OfferOptions = { ask: Ask; cast: Cast; chainUrl: string; marketplaceUrl: string };

type Check = { ok: boolean; say: string };

// Starts the examples as their developers would, and lists them. They are somewhere else at each start, which is a change of
// their listings; what buyers know of them stays.
export async function offerTools({ ask, cast, chainUrl, marketplaceUrl }: OfferOptions): Promise<Examples> {
  const examples = await startExamples({
    chain: { rpcUrl: chainUrl, usdc: USDC_ADDRESS as Address },
    marketplace: { issuer: marketplaceUrl },
    toolIds: Object.fromEntries(cast.tools.map(({ example, uuid }) => [example, uuid])),
  });
  try {
    await Promise.all(
      cast.tools.map(async ({ uuid, owner, example }) => {
        const { name, description, category, endpoint } = examples.tools[example];
        const registration = { toolId: uuid, name, description, category, endpoint };
        const { listed, checks } = await registerTool(ask, walletOf(owner), registration);
        if (listed === true) return;
        const wrong = (checks as Check[]).filter(({ ok }) => !ok).map(({ say }) => say);
        throw new StartError(`the marketplace does not list ${name}: ${wrong.join(" ")}`);
      }),
    );
    return examples;
  } catch (error) {
    await examples.close();
    throw error;
  }
}
