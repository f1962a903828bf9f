import { accruals } from "./accruals.ts";
import { court } from "./court.ts";
import { daemons } from "./daemons.ts";
import { drain } from "./drain.ts";
import { execute } from "./execute.ts";
import { gas } from "./gas.ts";
import { history } from "./history.ts";
import { http } from "./http.ts";
import { ledger } from "./ledger.ts";
import { query } from "./query.ts";
import { sustain } from "./sustain.ts";

// In the order of the page.
export const chapters = [gas, accruals, http, drain, sustain, history, daemons, ledger, execute, query, court];
