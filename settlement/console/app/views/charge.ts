import type { BatchDetail, Call, ChargeDetail, Proof } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { type Child, h } from "../page/dom.ts";
import { count, plural, usd } from "../page/format.ts";
import { badge, onChain, page, table, toBatch, tool, toPayer, when, whole } from "../page/parts.ts";
import { readReceipt, verifyProof } from "../proof/verifyProof.ts";
import { view } from "../view.ts";

type Data = ChargeDetail & { call: Call | null; batch: BatchDetail | null; proof: Proof | null };

// One charge, from the call that it is for to the proof that anybody can check.
export const charge = view<Data>({
  title: "Charge",
  needsLogin: true,
  async load({ id }) {
    const detail = await ask<ChargeDetail>(`/v1/charges/${id}`);
    const { callId, batchId } = detail.charge;
    const [call, inBatch, proof] = await Promise.all([
      callId === undefined ? null : ask<{ call: Call }>(`/v1/calls/${encodeURIComponent(callId)}`),
      batchId === null ? null : ask<BatchDetail>(`/v1/batches/${batchId}`),
      batchId === null ? null : ask<Proof>(`/v1/charges/${id}/proof`),
    ]);
    return { ...detail, call: call?.call ?? null, batch: inBatch, proof };
  },
  isDone: ({ charge: { state } }) => ["final", "absorbed", "refused", "voided"].includes(state),
  draw: (data) =>
    page(
      "Charge",
      h("p", { class: "subject" }, whole(data.charge.chargeId), " ", badge(data.charge.state)),
      h("ol", { class: "way panel", "aria-label": "The lifecycle of this charge" }, steps(data)),
      data.failures.length > 0 &&
        table({
          caption: "Times that the payer could not pay",
          rows: data.failures,
          keyOf: ({ at }) => at,
          empty: "",
          columns: [
            { name: "When", cell: ({ at }) => when(at) },
            { name: "Why", cell: ({ reason }) => reason },
          ],
        }),
      data.proof === null
        ? h("p", { class: "empty panel" }, "There is a receipt and a proof once the charge is in a batch.")
        : proofPanels(data.proof),
    ),
});

type Step = { name: string; isDone: boolean; lines: readonly Child[] };

function steps({ charge: one, call, batch, proof }: Data): HTMLElement[] {
  const origin: Step =
    call === null
      ? {
          name: "Turn",
          isDone: true,
          lines: [
            h("code", {}, one.turnId ?? ""),
            one.toolId === null ? "the model's cost" : [plural(one.calls, "call"), " of ", tool(one.toolId)],
          ],
        }
      : {
          name: "Call",
          isDone: true,
          lines: [h("code", {}, call.callId), [call.method, " of ", tool(call.toolId)], ["held ", when(call.heldAt)]],
        };
  const way: Step[] = [
    origin,
    { name: "Accrued", isDone: true, lines: [usd(one.amountUsd), when(one.accruedAt), ["by ", toPayer(one.payer)]] },
    {
      name: "Batch",
      isDone: batch !== null,
      lines:
        batch === null
          ? ["waits to be due"]
          : [toBatch(batch.batchId), `with ${plural(batch.charges - 1, "other charge")}`],
    },
    {
      name: "Transaction",
      isDone: batch?.txHash != null,
      lines: batch?.txHash
        ? [onChain("tx", batch.txHash), `block ${count(batch.blockNumber ?? "")}`]
        : ["not in a block"],
    },
    {
      name: "Receipt",
      isDone: proof?.settledAt != null,
      lines: proof?.settledAt ? ["root on chain", when(proof.settledAt)] : ["not on chain"],
    },
    { name: "Proof", ...proofStep(proof) },
  ];
  return way.map(({ name, isDone, lines }) =>
    h(
      "li",
      { class: isDone ? "done" : "open" },
      h("strong", {}, name),
      lines.map((line) => h("span", {}, line)),
    ),
  );
}

function proofStep(proof: Proof | null): Omit<Step, "name"> {
  if (proof === null) return { isDone: false, lines: ["none yet"] };
  const { reachesRoot } = verifyProof(proof);
  return { isDone: reachesRoot && proof.settledAt !== null, lines: [reachesRoot ? "checked here" : "does not hold"] };
}

function proofPanels(proof: Proof): HTMLElement[] {
  const { leaf, nodes, reachesRoot } = verifyProof(proof);
  const rows = [
    { what: "receipt, hashed twice", sibling: null as string | null, node: leaf },
    ...nodes.map((node, i) => ({ what: `with sibling ${i + 1}`, sibling: proof.path[i] ?? null, node })),
  ];
  return [
    h(
      "p",
      { class: `verdict ${reachesRoot ? "good" : "bad"}`, id: "verdict" },
      verdictOf(reachesRoot, proof.settledAt),
    ),
    table({
      caption: "From the receipt to the root",
      rows,
      keyOf: ({ what }) => what,
      empty: "",
      columns: [
        { name: "Step", cell: ({ what }) => what },
        { name: "Sibling", wide: true, cell: ({ sibling }) => (sibling === null ? "–" : whole(sibling)) },
        { name: "Hash", cell: ({ node }) => whole(node) },
      ],
    }),
    table({
      caption: "What the receipt says, read from the bytes that were hashed",
      rows: readReceipt(proof.receipt),
      keyOf: ({ name }) => name,
      empty: "",
      columns: [
        { name: "Field", cell: ({ name }) => name },
        { name: "Value", cell: ({ value }) => whole(value) },
      ],
    }),
  ];
}

function verdictOf(reachesRoot: boolean, settledAt: string | null): Child {
  if (!reachesRoot) return "The proof does not hold: the receipt does not lead to the root.";
  if (settledAt === null)
    return "Your browser has hashed the receipt up to the root. The router has not stored that root yet.";
  return [
    "Proven. Your browser has hashed the receipt up to the root, and the router stored that root at ",
    when(settledAt),
    ".",
  ];
}
