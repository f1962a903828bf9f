import { CommandError } from "../../../command/CommandError.ts";
import { command } from "../../../command/command.ts";
import { findTool } from "../../../command/findTool.ts";
import { marketplaceUrl } from "../../../command/marketplaceUrl.ts";
import { openDeployment } from "../../../command/openDeployment.ts";
import type { Json, Row } from "../../../command/output.ts";
import { printable } from "../../../command/printable.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { openMarketplace } from "../openMarketplace.ts";
import { withLogin } from "../withLogin.ts";
import { readPins, rowsOfPins } from "./readPins.ts";

type Arguments = CommonArguments & { tool: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const url = marketplaceUrl(session, args.marketplace);
  const deployment = await openDeployment(session);
  const { id, uuid } = await findTool(deployment, args.tool);
  const path = `/api/v1/tools/${uuid}/status`;
  const { body: status } = await withLogin(session, args.marketplace, (ask) => ask("GET", path)).catch((error) => {
    if (!(error instanceof CommandError) || error.details.status !== 404) throw error;
    throw new CommandError(`tool ${uuid} is on chain and not at ${url.origin}: run register-tool ${uuid}`);
  });
  const { body: shownTool } = await openMarketplace(session, args.marketplace).ask("GET", `/api/v1/tools/${uuid}`);
  const pins = await readPins(deployment, id, (shownTool.mcpTools ?? []) as { name: string; outputSchema?: unknown }[]);
  const shown = (field: string) => printable(`${status[field]}`);
  const { output } = session;
  output.say(`Tool ${uuid} at ${url.origin}`);
  output.rows([
    ["offered", `${status.offered === true ? "yes" : "no"}${status.reason === null ? "" : `: ${shown("reason")}`}`],
    ["endpoint", shown("endpoint")],
    ["stake", `${shown("stakeUsd")} USDC of ${shown("requiredStakeUsd")} required`],
    ["uptime", `${shown("pingsAnswered")} of ${shown("pings")} pings answered`],
    ["calls", `${shown("callsSucceeded")} of ${shown("calls")} succeeded`],
    ["refreshed", shown("refreshedAt")],
    ...rowsOfPins(uuid, pins),
    ...(status.warnings as string[]).map((warning): Row => ["look at", printable(warning)]),
  ]);
  output.result({ ...(status as { [key: string]: Json }), pins });
});
