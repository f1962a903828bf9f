import { plus, type RollingSum, rolledTo, totalOf } from "../../../domain/rollingSum.ts";
import type { ToolId } from "../../../domain/toolId.ts";
import { count, integer } from "../../database/decode.ts";
import type { Row } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";

export type Absorptions = {
  // Takes a charge of the tool over, unless that would be more than `most` in a day.
  take(toolId: ToolId, amount: bigint, most: bigint): boolean;
  write(): Promise<void>;
};

// What the platform took over for these tools so far. Their rows are locked, in one order for everybody, so that two daemons
// cannot both take the last of it.
export async function openAbsorptions(tx: Tx, toolIds: readonly ToolId[], nowMs: number): Promise<Absorptions> {
  const sums = new Map<ToolId, RollingSum>();
  for (const toolId of [...new Set(toolIds)].sort()) {
    const [row] = await tx.all(
      `INSERT INTO absorptions (tool_id, period, newest, second, third, fourth) VALUES ($1, 0, 0, 0, 0, 0)
       ON CONFLICT (tool_id) DO UPDATE SET period = absorptions.period
       RETURNING *`,
      [toolId],
    );
    sums.set(toolId, rolledTo(sumFrom(row ?? {}), nowMs));
  }
  const taken = new Set<ToolId>();
  return {
    take(toolId, amount, most) {
      const sum = sums.get(toolId);
      if (sum === undefined) throw new RangeError(`what was absorbed for ${toolId} was not read`);
      if (totalOf(sum) + amount > most) return false;
      sums.set(toolId, plus(sum, amount));
      taken.add(toolId);
      return true;
    },
    async write() {
      for (const toolId of taken) {
        const { period, sums: newest } = sums.get(toolId) as RollingSum;
        await tx.run(
          "UPDATE absorptions SET period = $2, newest = $3, second = $4, third = $5, fourth = $6 WHERE tool_id = $1",
          [toolId, period, ...newest],
        );
      }
    },
  };
}

function sumFrom(row: Row): RollingSum {
  return {
    period: count(row, "period"),
    sums: [integer(row, "newest"), integer(row, "second"), integer(row, "third"), integer(row, "fourth")],
  };
}
