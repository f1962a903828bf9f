// What the daemon answers, in the types of its own schemas: a field that changes there does not compile here.

export type { BatchDetail, BatchView as Batch } from "../../../views/batches/batch.ts";
export type { ProofView as Proof } from "../../../views/batches/proof.ts";
export type { CallView as Call } from "../../../views/call.ts";
export type { ChargeDetail, ChargeView as Charge } from "../../../views/charge.ts";
export type { Found } from "../../../views/found.ts";
export type { ExposureView as Exposure, SpendableView as Spendable } from "../../../views/payer.ts";
export type { AuditView as Audit } from "../../../views/service/audit.ts";
export type { OperatorRow } from "../../../views/service/operator.ts";
export type { Component } from "../../../views/service/readiness.ts";
export type { Stats } from "../../../views/service/stats.ts";
export type { SessionRow as Session } from "../../../views/session.ts";
export type { ToolRow, ToolView as Tool } from "../../../views/tool.ts";
export type Login = { possible: boolean; loggedIn: boolean };
