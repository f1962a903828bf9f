import { CommandError } from "../../command/CommandError.ts";
import type { Row } from "../../command/output.ts";
import { printable } from "../../command/printable.ts";
import type { Session } from "../../command/session.ts";

type Check = { check: string; ok: boolean; say: string };
type Method = { name: string; executePriceUsd: string | null };
type Outcome = {
  listed: boolean;
  checks: Check[];
  warnings: string[];
  tool: { mcpTools?: Method[] } | null;
};

// What a marketplace found when it looked at a tool, each thing with its sentence. A tool that is not in order ends the command.
export function showOutcome(session: Session, toolId: string, answer: Record<string, unknown>, done: string): void {
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
      { tool: toolId, checks, warnings },
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
  output.result({ tool: toolId, checks, warnings, methods });
}
