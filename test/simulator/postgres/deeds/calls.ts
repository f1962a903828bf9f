import { MAX_VALID_UNTIL } from "../../../../settlement/domain/payer/budget.ts";
import { HASHES, hashOf, POLICY, RICH, toolOf, turnOf, usdc } from "../../../../settlement/ledger/testing/fixtures.ts";
import type { Rng } from "../../rng.ts";
import type { Daemon, Deed } from "../daemon.ts";
import { BUDGETS, EDGE, EDGE_CREDIT, EDGE_FUNDS, EDGE_SESSIONS, MAX_AGE_MS, PAYERS, UNSEEN } from "./names.ts";

// What a client asks for.
export function drawCall(rng: Rng): Deed {
  const [n, session, amount] = [rng.between(1, 12), `${rng.between(1, 3)}`, usdc(rng.below(40))];
  const [payer, toolId] = [rng.pick(PAYERS), toolOf(rng.between(1, 2))];
  const draws: Deed[] = [
    {
      name: `turn ${n}`,
      run: ({ ledger, nowMs }) =>
        ledger.recordTurn(turnOf(`${n}`, { payer, tools: [{ toolId, amount, calls: 1 }] }), nowMs()),
    },
    {
      name: `hold turn ${n}`,
      run: ({ ledger, nowMs }) =>
        ledger.holdTurn({ turnId: `${n}`, payer, amount: usdc(amount + 1n), budgetId: null }, RICH, nowMs()),
    },
    { name: `void turn ${n}`, run: ({ ledger }) => ledger.voidTurn(`${n}`, payer) },
    {
      name: `open ${session}`,
      run: ({ ledger, nowMs }) =>
        ledger.openSession({ id: session, payer, maxSpend: usdc(200), expiresAtMs: nowMs() + 20_000 }, nowMs()),
    },
    {
      name: `hold ${n} in ${session}`,
      run: ({ ledger, nowMs }) =>
        ledger.hold({ callId: `${n}`, sessionId: session, toolId, method: "m", amount }, RICH, nowMs()),
    },
    {
      name: `capture ${n}`,
      run: ({ ledger, nowMs }) =>
        ledger.capture({ callId: `${n}`, hashes: HASHES }, { ...POLICY, maxCount: 3, maxAgeMs: MAX_AGE_MS }, nowMs()),
    },
    { name: `void ${n}`, run: ({ ledger }) => ledger.void(`${n}`) },
    { name: `close ${session}`, run: ({ ledger, nowMs }) => ledger.closeSession(session, nowMs()) },
    {
      name: `claim ${n}`,
      run: ({ ledger, nowMs }) => ledger.claimKey({ caller: "c", key: `${n}`, digest: hashOf("d") }, nowMs(), 3_000),
    },
    { name: `answer ${n}`, run: ({ ledger }) => ledger.saveAnswer("c", `${n}`, { status: 200, body: "" }) },
    { name: `name ${toolId}`, run: ({ ledger, nowMs }) => ledger.nameTool(toolId, `${n}`, nowMs()) },
  ];
  return rng.pick([...draws.slice(0, 4), ...draws, ...drawDrawn(rng), ...drawAtTheEdge(rng), drawBulk(rng)]);
}

// What is paid under a budget, which both raise.
function drawDrawn(rng: Rng): Deed[] {
  const [n, session, amount] = [rng.between(21, 30), `b${rng.between(1, 2)}`, usdc(rng.between(1, 60))];
  const [payer, id, toolId] = [rng.pick(PAYERS), rng.pick(BUDGETS), toolOf(1)];
  const signed = { payer, id, maxSpend: usdc(rng.between(40, 300)), validUntil: MAX_VALID_UNTIL, tools: [] };
  const raised = async ({ ledger, nowMs, kept }: Daemon) => {
    const answer = await ledger.keepBudget({ ...signed, signature: "0x01" }, nowMs());
    if (answer.kind === "kept") kept(signed);
    return answer;
  };
  const funds = { ...RICH, budget: UNSEEN };
  return [
    { name: `raise budget ${id}`, run: raised },
    { name: `carry budget ${id}`, run: ({ ledger }) => ledger.noteCarried({ payer, id, maxSpend: usdc(amount) }) },
    {
      name: `draw turn ${n} on ${id}`,
      run: async (daemon) => {
        const turn = turnOf(`${n}`, { payer, modelCost: usdc(1), tools: [{ toolId, amount, calls: 1 }], budgetId: id });
        const answer = await daemon.ledger.recordTurn(turn, daemon.nowMs(), null, UNSEEN);
        if (answer.kind === "budget_refused") daemon.reached("a budget is used up");
        return answer;
      },
    },
    {
      name: `hold turn ${n} on ${id}`,
      run: ({ ledger, nowMs }) => ledger.holdTurn({ turnId: `${n}`, payer, amount, budgetId: id }, funds, nowMs()),
    },
    {
      name: `open ${session} on ${id}`,
      run: ({ ledger, nowMs }) =>
        ledger.openSession(
          { id: session, payer, maxSpend: usdc(200), budgetId: id, expiresAtMs: nowMs() + 20_000 },
          nowMs(),
        ),
    },
    {
      name: `hold ${n} in ${session}`,
      run: ({ ledger, nowMs }) =>
        ledger.hold({ callId: `${n}`, sessionId: session, toolId, method: "m", amount }, funds, nowMs()),
    },
    {
      name: `capture ${n}`,
      run: ({ ledger, nowMs }) =>
        ledger.capture({ callId: `${n}`, hashes: HASHES }, { ...POLICY, maxCount: 3, maxAgeMs: MAX_AGE_MS }, nowMs()),
    },
  ];
}

// Parallel sessions and questions of one payer, whose last cent all of them would like to have.
function drawAtTheEdge(rng: Rng): Deed[] {
  const [n, session, amount] = [rng.between(41, 60), rng.pick(EDGE_SESSIONS), usdc(rng.between(10, 50))];
  const missed = ({ reached }: Daemon, answer: { kind: string }) => {
    if (answer.kind === "unaffordable") reached("a payer's last cent is somebody else's");
    if (answer.kind === "credit_exceeded") reached("a payer's credit is used up");
    return answer;
  };
  return [
    {
      name: `open ${session}`,
      run: ({ ledger, nowMs }) =>
        ledger.openSession({ id: session, payer: EDGE, maxSpend: usdc(1_000), expiresAtMs: nowMs() + 60_000 }, nowMs()),
    },
    {
      name: `hold ${n} at the edge`,
      run: async (daemon) => {
        const call = { callId: `${n}`, sessionId: session, toolId: toolOf(1), method: "m", amount };
        const funds = EDGE_FUNDS;
        return missed(daemon, await daemon.ledger.hold(call, funds, daemon.nowMs(), null));
      },
    },
    {
      name: `hold turn ${n} at the edge`,
      run: async (daemon) => {
        const held = { turnId: `${n}`, payer: EDGE, amount, budgetId: null };
        return missed(daemon, await daemon.ledger.holdTurn(held, EDGE_FUNDS, daemon.nowMs(), EDGE_CREDIT));
      },
    },
    {
      name: `turn ${n} at the edge`,
      run: async (daemon) => {
        const turn = turnOf(`${n}`, { payer: EDGE, modelCost: amount, tools: [] });
        const terms = { credit: EDGE_CREDIT, prepaid: null };
        return missed(daemon, await daemon.ledger.recordTurn(turn, daemon.nowMs(), terms));
      },
    },
    {
      name: `capture ${n} at the edge`,
      run: ({ ledger, nowMs }) => ledger.capture({ callId: `${n}`, hashes: HASHES }, POLICY, nowMs()),
    },
    { name: `void ${n} at the edge`, run: ({ ledger }) => ledger.void(`${n}`) },
  ];
}

// Some that are reported together, on no terms and at the edge.
function drawBulk(rng: Rng): Deed {
  const turns = Array.from({ length: rng.between(2, 6) }, () => {
    const [payer, amount] = [rng.pick([...PAYERS, EDGE]), usdc(rng.between(1, 40))];
    const n = payer === EDGE ? rng.between(41, 60) : rng.between(1, 12);
    return turnOf(`${n}`, { payer, modelCost: amount, tools: [] });
  });
  return {
    name: `turns ${turns.map(({ id }) => id).join(" ")}`,
    run: ({ ledger, nowMs }) =>
      ledger.recordTurns(
        turns.map((turn) => ({ turn, terms: turn.payer === EDGE ? { credit: EDGE_CREDIT, prepaid: null } : null })),
        nowMs(),
      ),
  };
}
