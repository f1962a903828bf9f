// What the daemon answers, in the types of its own schemas: a field that changes there does not compile here.
export type { AuditView as Audit } from "../../views/audit.ts";
export type { BatchDetail, BatchView as Batch } from "../../views/batch.ts";
export type { CallView as Call } from "../../views/call.ts";
export type { ChargeDetail, ChargeView as Charge } from "../../views/charge.ts";
export type { Found } from "../../views/found.ts";
export type { OperatorRow } from "../../views/operator.ts";
export type { ExposureView as Exposure, SpendableView as Spendable } from "../../views/payer.ts";
export type { ProofView as Proof } from "../../views/proof.ts";
export type { Component } from "../../views/readiness.ts";
export type { SessionRow as Session } from "../../views/session.ts";
export type { Stats } from "../../views/stats.ts";
export type { ToolRow, ToolView as Tool } from "../../views/tool.ts";
export type Login = { possible: boolean; loggedIn: boolean };
