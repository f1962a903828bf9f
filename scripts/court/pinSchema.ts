import { hashJson, judgeAnswer } from "../../marketplace/toolkit/index.ts";
import type { SchemaCourt } from "../../typechain-types/index.ts";
import { required } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { findTool } from "../command/findTool.ts";
import { formatTime } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments, Session } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { askJudge } from "./askJudge.ts";
import { openCourt } from "./openCourt.ts";
import { readJson } from "./readJson.ts";

type Arguments = CommonArguments & Record<"method" | "schema" | "court", string | undefined> & { tool: string };

export default command<Arguments>(async (args, session) => {
  const method = required("--method", args.method);
  const schema = readJson("the schema", required("--schema", args.schema));
  if (typeof schema !== "boolean" && (typeof schema !== "object" || schema === null || Array.isArray(schema))) {
    throw new CommandError("--schema is no schema: give it the object that the method lists as its outputSchema");
  }
  const { court, address } = await openCourt(session, args.court);
  const { id, uuid } = await findTool(await openDeployment(session), args.tool);
  const schemaHash = hashJson(schema);
  const receipts = await send(session, {
    sentence: `Promise that the answers of "${method}" of tool ${uuid} match the schema ${schemaHash}.`,
    rows: (await isUndecided(session, court, schema)) ? [["note", UNDECIDED]] : [],
    calls: [
      {
        title: `pin the schema of "${method}"`,
        to: address,
        data: court.interface.encodeFunctionData("pinSchema", [id, method, schemaHash]),
      },
    ],
  });
  const { from } = await court.schemaPeriod(id, method, schemaHash);
  report(session, receipts, `Answers given from ${formatTime(from)} on are held to it.`, {
    tool: uuid,
    method,
    schemaHash,
    from: Number(from),
  });
});

const UNDECIDED = "the court leaves parts of this schema undecided";

// Whoever writes a schema of which the court can judge little learns it here: from the court, and for what no answer has reached yet
// from its twin.
const isUndecided = async (session: Session, court: SchemaCourt, schema: unknown): Promise<boolean> =>
  (await askJudge(session, court, schema, null)) === "unknown" || judgeAnswer(schema, null) === "unknown";
