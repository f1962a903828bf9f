import type { Route } from "../http/route.ts";
import { auditRoutes } from "./platform/audit.ts";
import { batchRoutes } from "./platform/batches.ts";
import { budgetRoutes } from "./platform/budgets.ts";
import { callRoutes } from "./platform/calls.ts";
import { chargeRoutes } from "./platform/charges.ts";
import { contestRoutes } from "./platform/contests.ts";
import { findRoutes } from "./platform/find.ts";
import { operatorRoutes } from "./platform/operators.ts";
import { payerRoutes } from "./platform/payers.ts";
import { preflightRoutes } from "./platform/preflight.ts";
import { platformSessionRoutes } from "./platform/sessions.ts";
import { statsRoutes } from "./platform/stats.ts";
import { statusRoutes } from "./platform/status.ts";
import { toolRoutes } from "./platform/tools.ts";
import { turnRoutes } from "./platform/turns.ts";

// Everything that asks for the token, in the order of a call.
export const routes: readonly Route[] = [
  ...preflightRoutes,
  ...turnRoutes,
  ...platformSessionRoutes,
  ...callRoutes,
  ...chargeRoutes,
  ...batchRoutes,
  ...contestRoutes,
  ...payerRoutes,
  ...budgetRoutes,
  ...toolRoutes,
  ...statusRoutes,
  ...statsRoutes,
  ...operatorRoutes,
  ...auditRoutes,
  ...findRoutes,
];
