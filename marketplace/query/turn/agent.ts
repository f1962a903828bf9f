import type { MicroUsdc } from "../../../settlement/domain/money.ts";
import type { Found } from "../../discovery/createCatalogue.ts";
import type { Interpreter } from "../interpreter/createInterpreters.ts";
import type { Artifact, GapSignal, IssueClass, Level, StopReason, View } from "../wire/result.ts";
import type { Caller } from "./createCaller.ts";
import type { Trace } from "./createTrace.ts";

// Something that a tool has said, and where: `path` leads to it in the output of that alias.
export type GroundedFact = { alias: string; path: string; label: string; value: unknown; relevance: number };

// What was drawn for an answer, by the hash of its bytes.
export type Drawn = { hash: string; png: Buffer };

export type Answer = {
  kind: "answer";
  text: string;
  // The most relevant first.
  facts: readonly GroundedFact[];
  view: View | null;
  artifacts: readonly Artifact[];
  // The bytes behind those artifacts that are images.
  images: readonly Drawn[];
  // How much of it no tool has said as it stands, but Python has computed from what tools have said.
  inferred: number;
  level: Level;
  reason: string;
  assumptions: readonly string[];
  // What the question asks for and the answer does not have.
  gaps: readonly GapSignal[];
  stopReason: StopReason;
  issueClass: IssueClass | null;
};

// Nothing that was found can answer the question. It costs nothing.
export type Miss = {
  kind: "miss";
  message: string;
  missing: readonly string[];
  rewrites: readonly string[];
  issueClass: IssueClass;
  reasonCode: string;
};

// `modelId` is null where no model was used.
export type Conclusion = (Answer | Miss) & { modelId: string | null; modelCost: MicroUsdc };

// `answer` is null if there was none.
export type Earlier = { query: string; answer: string | null };

export type Task = {
  query: string;
  // What was asked before in this session, oldest first.
  earlier: readonly Earlier[];
  found: readonly Found[];
  // Whether the asker has named them, and they were not found by a search.
  isNamed: boolean;
  // What a model is charged with at the most, so that there is no point in going on above it.
  modelBound: MicroUsdc;
  stepBudget: number;
  caller: Caller;
  trace: Trace;
  nowMs: () => number;
  signal: AbortSignal;
  say: (
    status: "planning" | "synthesizing" | "executing" | "tool-complete",
    tool?: { id: string; name: string },
  ) => void;
  // Hears what a model has cost whenever it has cost something, whoever is going to pay for it.
  spend: (cost: MicroUsdc) => void;
  // Python for this turn; null where there is none.
  interpreter: Interpreter | null;
  // Where an image of that hash can be had.
  imageUrlOf: (hash: string) => string;
};

// Whoever answers questions with tools: a model, or the rules that need none.
export type Agent = {
  conclude(task: Task): Promise<Conclusion>;
};

// The run failed before there was an answer. Nothing is charged, and the words are the caller's to read.
export class QueryFailed extends Error {
  override readonly name = "QueryFailed";
}
