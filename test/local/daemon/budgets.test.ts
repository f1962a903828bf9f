import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { signBudget } from "../../../settlement/chain/router/budgetDigest.ts";
import { parseUsd } from "../../../settlement/domain/money.ts";
import { toolIdFromUuid } from "../../../settlement/domain/toolId.ts";
import { useDaemon } from "./useDaemon.ts";

const HELP = "https://help.example/cap";
const VALID_UNTIL = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 86_400_000).toISOString();

describe("the daemon, about what payers sign,", () => {
  const { place, ask, payerOf, toolOf, turnOf, callOf, untilFinal, totals } = useDaemon();

  // As a payer would send it.
  async function signed(n: number, maxSpendUsd: string, fields: { id?: string; tools?: string[] } = {}) {
    const { world } = place();
    const budget = { id: fields.id ?? "7", maxSpendUsd, validUntil: VALID_UNTIL, tools: fields.tools ?? [] };
    const domain = { chainId: world.chainId, router: (await world.router.getAddress()) as Hex };
    const { signature } = await signBudget(privateKeyToAccount(world.payers[n]?.privateKey ?? "0x"), domain, {
      payer: payerOf(n),
      id: BigInt(budget.id),
      maxSpend: parseUsd(maxSpendUsd),
      validUntil: BigInt(Date.parse(VALID_UNTIL) / 1_000),
      tools: budget.tools.map(toolIdFromUuid),
    });
    return { budget, signature };
  }

  beforeAll(async () => {
    const { world } = place();
    for (const payer of world.payers.slice(0, 2)) await mined(world.router.connect(payer).setConsentRequired(true));
  });

  it("refuses who demands consent and has signed nothing, and says where to read on", async () => {
    const refusal = { status: 402, body: { code: "consent_required", helpUrl: HELP } };
    const before = await totals();
    await until("the daemon to know", async () => {
      const { body } = await ask("POST", "/v1/preflight", { payer: payerOf(0), amountUsd: "0" });
      return (body as unknown as { code: string }).code === "consent_required";
    });
    expect(await ask("POST", "/v1/sessions", { payer: payerOf(0), maxSpendUsd: "1" })).toMatchObject(refusal);
    expect(await totals()).toEqual(before);
  });

  it("takes a session on a budget, raises it with a call, and settles it", async () => {
    const payer = payerOf(0);
    const body = { payer, maxSpendUsd: "1", sessionId: "signed", ...(await signed(0, "0.002")) };
    expect(await ask("POST", "/v1/sessions", body)).toMatchObject({ status: 200 });
    expect(await ask("POST", "/v1/sessions", body)).toMatchObject({ status: 200 });
    expect(await ask("POST", "/v1/calls", callOf("b1", "signed", "0.002"))).toMatchObject({ status: 200 });
    const refused = await ask("POST", "/v1/calls", callOf("b2", "signed", "0.001"));
    expect(refused).toMatchObject({
      status: 402,
      body: { code: "budget_exceeded", helpUrl: HELP, session: { remaining: "0.998" } },
    });
    expect(refused.text).toContain("Budget 7 of 0.002 leaves 0.00; sign it again with a higher maxSpend");
    const raised = { ...callOf("b2", "signed", "0.001"), ...(await signed(0, "0.003")) };
    expect(await ask("POST", "/v1/calls", raised)).toMatchObject({ status: 200 });
    for (const call of ["b1", "b2"]) await ask("POST", `/v1/calls/${call}/capture`);
    await ask("POST", "/v1/sessions/signed/close");
    const shown = () => ask("GET", `/v1/payers/${payer}/budgets`);
    await until("both to be taken", async () => (await shown()).text.includes('"spentUsd":"0.003"'));
    await until("nothing to be pending", async () => (await shown()).text.includes('"pendingUsd":"0.00"'));
    expect((await shown()).body).toEqual({
      payer,
      budgets: [
        {
          id: "7",
          maxSpendUsd: "0.003",
          validUntil: VALID_UNTIL,
          tools: [],
          spentUsd: "0.003",
          pendingUsd: "0.00",
          heldUsd: "0.00",
          remainingUsd: "0.00",
          endsAt: null,
        },
      ],
    });
  });

  it("records turns on a budget, alone and in a list, each whole or not at all", async () => {
    const payer = payerOf(1);
    const fields = await signed(1, "0.20", { tools: [toolOf(0)] });
    expect(await ask("POST", "/v1/preflight", { payer, amountUsd: "0.15", ...fields })).toMatchObject({
      body: { allowed: true },
    });
    expect(await ask("POST", "/v1/preflight", { payer, amountUsd: "0.21", ...fields })).toMatchObject({
      body: { allowed: false, code: "budget_exceeded", helpUrl: HELP },
    });
    const other = { ...turnOf("t-other", payer), tools: [{ toolId: toolOf(1), amountUsd: "0.01", calls: 1 }] };
    expect(await ask("POST", "/v1/turns", { ...other, ...fields })).toMatchObject({
      status: 402,
      body: { code: "budget_tools" },
    });
    const turns = ["t-1", "t-2"].map((id) => ({ ...turnOf(id, payer), ...fields }));
    const { body } = await ask("POST", "/v1/turns", { turns });
    expect(body).toMatchObject({
      turns: [
        { outcome: "recorded", turnId: "t-1" },
        { outcome: "refused", turnId: "t-2", code: "budget_exceeded" },
      ],
    });
    expect(await ask("POST", "/v1/turns", turns[0])).toMatchObject({ status: 200 });
    const raised = { ...turnOf("t-2", payer), ...(await signed(1, "0.30", { tools: [toolOf(0)] })) };
    expect(await ask("POST", "/v1/turns", raised)).toMatchObject({ status: 200 });
    await untilFinal("t-1");
    await untilFinal("t-2");
  });

  it("keeps a budget by itself, and says what is wrong with one", async () => {
    const payer = payerOf(2);
    const path = `/v1/payers/${payer}/budgets`;
    const fields = await signed(2, "1", { id: "18446744073709551615" });
    expect(await ask("POST", path, fields)).toMatchObject({ status: 200, body: { id: "18446744073709551615" } });
    const wrong = (budget: object) => ask("POST", path, { ...fields, budget: { ...fields.budget, ...budget } });
    expect(await wrong({ maxSpendUsd: "2" })).toMatchObject({
      status: 400,
      body: { code: "budget_forged", helpUrl: HELP },
    });
    const invalid = { status: 400, body: { code: "invalid_request" } };
    expect(await wrong({ id: "18446744073709551616" })).toMatchObject(invalid);
    expect(await wrong({ validUntil: "2027-01-31T00:00:00.500Z" })).toMatchObject(invalid);
    expect(await wrong({ maxSpendUsd: "0" })).toMatchObject(invalid);
    const session = { payer, maxSpendUsd: "1" };
    expect(await ask("POST", "/v1/sessions", { ...session, signature: fields.signature })).toMatchObject(invalid);
    expect(await ask("POST", "/v1/sessions", { ...session, budget: fields.budget })).toMatchObject(invalid);
    // What one payer has signed is nothing to another one.
    expect(await ask("POST", `/v1/payers/${payerOf(3)}/budgets`, fields)).toMatchObject({
      status: 400,
      body: { code: "budget_forged" },
    });
    expect(await ask("GET", `/v1/payers/${payerOf(3)}/budgets`)).toMatchObject({ body: { budgets: [] } });
  });
});
