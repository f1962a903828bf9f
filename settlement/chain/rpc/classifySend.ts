import type { SendOutcome } from "../chain.ts";

type Verdict = Exclude<SendOutcome["kind"], "accepted" | "unknown">;

// What nodes say about signed bytes that they do not take in. They have no codes for it, and the codes that they send
// fit nothing, so this is the one place that reads their words. The first match counts: narrow ones come first.
const verdicts: readonly [pattern: RegExp, verdict: Verdict][] = [
  // geth, op-geth, erigon, nethermind (AlreadyKnown), besu
  [/already ?known|known transaction|already exists/i, "already_known"],
  // anvil, reth, erigon, and providers that quote them
  [
    /already imported|already in (?:the )?mempool|(?:existing|same) (?:tx|transaction) with (?:the )?same hash/i,
    "already_known",
  ],

  // geth, reth, erigon, anvil, besu; nethermind says OldNonce
  [/nonce (?:is )?too low|oldnonce|nonce has already been used/i, "nonce_too_low"],
  // geth when a transaction beyond a gap would push out one that can be mined; nethermind; besu
  [
    /nonce (?:is )?too (?:high|distant)|nonce ?gap|noncetoofarinfuture|gapped.nonce|future transaction tries to replace/i,
    "nonce_too_high",
  ],

  // geth, erigon, anvil, besu; reth's pool; nethermind
  [
    /replacement (?:transaction|tx|fee)|to replace existing (?:transaction|tx)|could not replace|replacementnotallowed/i,
    "replacement_underpriced",
  ],

  // geth and reth, also for the fee of the L1; anvil; nethermind; besu; hardhat
  [/insufficient ?funds|upfront cost exceeds|doesn't have enough funds|balance too low/i, "insufficient_funds"],

  // The block's limit, the limit of one transaction (EIP-7825), and the limits on its size
  [
    /exceeds (?:the )?(?:block|maximum|max|per-transaction|per-tx|transaction)[\w\s-]*gas|block gas limit exceeded/i,
    "too_large",
  ],
  [/gas ?limit (?:is )?(?:too ?high|greater than the cap)|gaslimitexceeded|tx gas limit|gas too high/i, "too_large"],
  [/oversized data|rlp too long|maxtxsizeexceeded|da size|transaction (?:size )?too (?:large|big)/i, "too_large"],

  // The base fee: geth, reth, anvil; reth's pool; hardhat
  [
    /less than (?:the )?block base fee|below chain minimum|too low for the next block|maxfeepergas too low/i,
    "fee_too_low",
  ],
  // The mempool's own minimum: geth, erigon (underpriced, fee too low), nethermind, besu
  [/underpriced|fee ?too ?low|gas price below|tip (?:too low|needed)/i, "fee_too_low"],
];

export function classifySend(message: string): SendOutcome {
  const kind = verdicts.find(([pattern]) => pattern.test(message))?.[1];
  if (kind === undefined) return { kind: "unknown", reason: message };
  return kind === "too_large" ? { kind, reason: message } : { kind };
}
