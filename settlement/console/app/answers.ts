// What the daemon answers, in the daemon's own types: a field that changes there does not compile here.

import type { Figures } from "../../daemon/readFigures.ts";
import type { Component } from "../../daemon/readiness.ts";
import type { OperatorRow } from "../../daemon/readOperators.ts";
import type { ToolRow } from "../../daemon/readTools.ts";
import type { reportView } from "../../daemon/routes/platform/audit.ts";
import type { proofView } from "../../daemon/routes/platform/charges.ts";
import type { spendableView } from "../../daemon/routes/platform/payers.ts";
import type { apiKeyView, batchView, callView, chargeView, exposureView, sessionRow } from "../../daemon/views.ts";

export type { Component, Figures, OperatorRow, ToolRow };
export type Batch = ReturnType<typeof batchView>;
export type BatchDetail = Batch & { nonce: number | null; txHashes: string[] };
export type Charge = ReturnType<typeof chargeView> & { turnId?: string; sessionId?: string; callId?: string };
export type ChargeDetail = { charge: Charge; failures: { reason: string; at: string }[] };
export type Call = ReturnType<typeof callView>;
export type Proof = ReturnType<typeof proofView>;
export type Session = ReturnType<typeof sessionRow>;
export type Exposure = ReturnType<typeof exposureView>;
export type Spendable = ReturnType<typeof spendableView>;
export type ApiKey = ReturnType<typeof apiKeyView>;
export type Audit = { runningSince: string | null; last: ReturnType<typeof reportView> | null };
export type Found = { charges: Charge[]; batch: string | null; payer: string | null };
export type Login = { possible: boolean; loggedIn: boolean };
