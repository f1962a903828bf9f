import type { Hex } from "viem";
import { callsIn, type Wanted } from "../../settlement/chain/router/callsIn.ts";
import type { Session } from "../command/session.ts";

// Where the calldata of a call in this transaction may be, the likeliest place first.
export async function* findCalls(
  { provider }: Session,
  { hash, ...wanted }: Wanted & { hash: string },
): AsyncGenerator<Hex> {
  const transaction = await provider.getTransaction(hash);
  if (transaction === null) return;
  const trace = () => provider.send("debug_traceTransaction", [hash, { tracer: "callTracer" }]).catch(() => null);
  yield* callsIn({ to: transaction.to, input: transaction.data }, wanted, trace);
}
