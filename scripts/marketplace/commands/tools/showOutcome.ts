import { CommandError } from "../../../command/CommandError.ts";
import type { Deployment } from "../../../command/openDeployment.ts";
import type { Row } from "../../../command/output.ts";
import { printable } from "../../../command/printable.ts";
import type { Session } from "../../../command/session.ts";
import { readPins, rowsOfPins } from "./readPins.ts";

type Check = { check: string; ok: boolean; say: string };
type Method = { name: string; executePriceUsd: string | null; outputSchema?: unknown };
type Outcome = {
  listed: boolean;
  checks: Check[];
  warnings: string[];
  tool: { mcpTools?: Method[] } | null;
};

type Tool = { deployment: Deployment; id: string; uuid: string };

// What a marketplace found when it looked at a tool, each thing with its sentence, and what of its promises is not on chain. A tool
// that is not in order ends the command.
export async function showOutcome(
  session: Session,
  { deployment, id, uuid }: Tool,
  answer: Record<string, unknown>,
  done: string,
): Promise<void> {
  const outcome = answer as Outcome;
  const checks = outcome.checks.map(({ check, ok, say }) => ({ check: printable(check), ok, say: printable(say) }));
  const warnings = outcome.warnings.map(printable);
  const methods = (outcome.tool?.mcpTools ?? []).map(({ name, executePriceUsd }) => ({
    name: printable(name),
    executePriceUsd: executePriceUsd === null ? null : printable(executePriceUsd),
  }));
  const { output } = session;
  output.rows([
    ...checks.map(({ check, ok, say }): Row => [check, `${ok ? "ok" : "NOT OK"}: ${say}`]),
    ...warnings.map((warning): Row => ["look at", warning]),
  ]);
  if (!outcome.listed) {
    const failed = checks.filter(({ ok }) => !ok).map(({ check }) => check);
    throw new CommandError(
      `the marketplace has not taken this over, because of ${failed.join(", ")}: do what is said there and run the command again`,
      { tool: uuid, checks, warnings },
    );
  }
  output.say(done);
  if (methods.length > 0) {
    output.rows(
      methods.map(({ name, executePriceUsd }) => [
        name,
        executePriceUsd === null
          ? "has no execute price, so it is not sold by the call"
          : `${executePriceUsd} USDC a call`,
      ]),
    );
  }
  const pins = await readPins(deployment, id, outcome.tool?.mcpTools ?? []);
  output.rows(rowsOfPins(uuid, pins));
  output.result({ tool: uuid, checks, warnings, methods, pins });
}
