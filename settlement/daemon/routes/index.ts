import type { Route } from "../route.ts";
import { apiKeyRoutes } from "./platform/apiKeys.ts";
import { auditRoutes } from "./platform/audit.ts";
import { batchRoutes } from "./platform/batches.ts";
import { callRoutes } from "./platform/calls.ts";
import { chargeRoutes } from "./platform/charges.ts";
import { figuresRoutes } from "./platform/figures.ts";
import { findRoutes } from "./platform/find.ts";
import { operatorRoutes } from "./platform/operators.ts";
import { payerRoutes } from "./platform/payers.ts";
import { preflightRoutes } from "./platform/preflight.ts";
import { platformSessionRoutes } from "./platform/sessions.ts";
import { statusRoutes } from "./platform/status.ts";
import { toolRoutes } from "./platform/tools.ts";
import { turnRoutes } from "./platform/turns.ts";
import { sessionRoutes } from "./sessions.ts";

// Everything that asks for a key, in the order of a call.
export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...preflightRoutes,
  ...turnRoutes,
  ...platformSessionRoutes,
  ...callRoutes,
  ...chargeRoutes,
  ...batchRoutes,
  ...payerRoutes,
  ...toolRoutes,
  ...apiKeyRoutes,
  ...statusRoutes,
  ...figuresRoutes,
  ...operatorRoutes,
  ...auditRoutes,
  ...findRoutes,
];
