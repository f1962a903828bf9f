import type { Hex } from "viem";
import type { Lease, Mined } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

// A block that was canonical when everything mined up to it was found to be on its chain. While it still is, so is all of that.
// Another holder of the lease may have written in between, so that an anchor goes with the token of its lease.
export type Anchor = { token: number; blockNumber: bigint; blockHash: Hex };

// Blocks that are asked for at the same time.
const PAGE = 32;

// Whether what is mined is still where it was. Hundreds of batches may wait to be final, and all that is asked for them is the
// hash of one block, and once for each that is new: a chain that still has a block has all that came before it. From a block
// that it has left, one goes back to the first that it still has; what lies between is lost.
export async function recheck(context: EngineContext, lease: Lease, known: Anchor | null): Promise<Anchor | null> {
  const { chain, ledger } = context;
  const { operator, token } = lease;
  const anchor = known?.token === token ? known : null;
  let highest: Anchor | null = null;

  // Newest first. What an endpoint does not have may be lost or not, and nothing above it is an anchor.
  async function walk(mined: readonly Mined[], untilFound: boolean): Promise<void> {
    for (let start = 0; start < mined.length; start += PAGE) {
      const page = mined.slice(start, start + PAGE);
      const hashes = await Promise.all(page.map(({ blockNumber }) => chain.blockHash(blockNumber)));
      for (const [i, { id, blockNumber, blockHash }] of page.entries()) {
        const canonical = hashes[i] ?? null;
        if (canonical === null) highest = null;
        else if (canonical !== blockHash) await lose(context, lease, id);
        else {
          highest ??= { token, blockNumber, blockHash };
          if (untilFound) return;
        }
      }
    }
  }

  await walk(await ledger.listMinedAbove(operator, anchor?.blockNumber ?? -1n), false);
  if (anchor === null) return highest;
  // Asked last, so that it speaks for what was asked before.
  if ((await chain.blockHash(anchor.blockNumber)) === anchor.blockHash) return highest ?? anchor;
  await walk((await ledger.listMinedUpTo(operator, anchor.blockNumber)).reverse(), true);
  return highest;
}

// A reorg has left its block: it is looked for, and sent, again.
export async function lose({ ledger, report }: EngineContext, lease: Lease, id: Hex): Promise<void> {
  await ledger.recordLoss(lease, id);
  report({ kind: "lost", id });
}
