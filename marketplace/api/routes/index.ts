import type { MarketRoute } from "../route.ts";
import { accountRoutes } from "./accounts.ts";
import { budgetRoutes } from "./budgets.ts";
import { evidenceRoutes } from "./evidence.ts";
import { executeRoutes } from "./execute.ts";
import { queryRoutes } from "./query.ts";
import { receiptRoutes } from "./receipts.ts";
import { registrationRoutes } from "./registration.ts";
import { toolRoutes } from "./tools.ts";
import { wellKnownRoutes } from "./wellKnown.ts";

export const routes: readonly MarketRoute[] = [
  ...executeRoutes,
  ...evidenceRoutes,
  ...budgetRoutes,
  ...queryRoutes,
  ...receiptRoutes,
  ...toolRoutes,
  ...registrationRoutes,
  ...accountRoutes,
  ...wellKnownRoutes,
];
