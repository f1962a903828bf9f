import type { Answer, GroundedFact } from "../turn/agent.ts";
import type { Output } from "../turn/createCaller.ts";
import type { Artifact, GapSignal, Level, View } from "../wire/result.ts";
import { factsOf, focusOf, isQualified, isTable, type ToolFact } from "./factsOf.ts";
import type { PlannedStep } from "./planQuestion.ts";
import type { Question } from "./readQuestion.ts";

// What one step of a plan has brought.
export type StepResult = {
  step: PlannedStep;
  question: Question;
  outputs: readonly Output[];
  failed: number;
  // Calls that were not made.
  leftOut: number;
};

const LEVELS: readonly Level[] = ["low", "medium", "high"];
const MAX_SHOWN_FACTS = 8;
const MAX_ROWS = 100;
const MAX_COLUMNS = 50;
const MAX_CHART_ROWS = 1_000;
const MAX_VALUE_LENGTH = 500;
const MAX_LISTED = 50;
const MAX_LIST_LENGTH = 5_000;
const MAX_TEXT_LENGTH = 20_000;

// Puts what the tools said into words, without a word of its own about it.
export function composeAnswer(
  results: readonly StepResult[],
  gaps: readonly GapSignal[],
  isBounded: boolean,
  chartWanted: boolean,
): Answer {
  const read = results.map((result) => ({
    ...result,
    read: result.outputs.map((output) => readOutput(output, result)),
  }));
  const unclear = read.filter((result) => result.read.some(({ isFocused }) => !isFocused));
  const chart = chartWanted ? chartOf(results) : null;
  const allGaps: GapSignal[] = [
    ...gaps,
    ...(chartWanted && chart === null
      ? [
          {
            code: "no_chart",
            severity: "medium" as const,
            detail: "a chart was asked for, and the answers have no series of numbers",
          },
        ]
      : []),
  ];
  const doubts = [
    ...results.flatMap(({ step }) => step.doubts),
    ...unclear.map(({ step }) => `the question does not say which value of ${step.chosen.method.name} it asks for`),
  ];
  // Nothing is said by them, and nobody knows why: there may be none, or the tool may have been asked for something else.
  const empty = read.filter(({ read }) =>
    read.some(({ shown }) => shown[0] && shown.every(({ value }) => isEmpty(value))),
  );
  doubts.push(...empty.map(({ step }) => `${step.chosen.method.name} has no value for what was asked`));
  const inexact = read.filter(({ read }) => read.some(({ shown }) => shown.some(({ value }) => isInexact(value))));
  doubts.push(
    ...inexact.map(({ step }) => `${step.chosen.method.name} answers a number too large for JSON to be exact`),
  );
  const levels = results.map(({ step }) => step.level);
  if (unclear.length + empty.length + inexact.length > 0) levels.push("medium");
  if (allGaps.length > 0) levels.push("medium");
  const text = [
    ...read.flatMap((result) =>
      result.read.map(({ shown, output }) => sentenceOf(shown, output, result.outputs.length > 1)),
    ),
    ...(allGaps.length > 0 ? [`Not answered: ${allGaps.map(({ detail }) => detail).join("; ")}.`] : []),
    ...(doubts.length > 0 ? [`Doubtful: ${doubts.join("; ")}.`] : []),
    `Source: ${sourcesOf(results)}.`,
  ].join(" ");
  return {
    kind: "answer",
    text: cut(text, MAX_TEXT_LENGTH),
    facts: read.flatMap((result) => result.read.flatMap(({ facts }) => facts)),
    view: viewOf(read),
    artifacts: chart === null ? [] : [chart],
    images: [],
    inferred: 0,
    level: LEVELS.find((level) => levels.includes(level)) ?? "low",
    reason:
      doubts[0] ??
      (allGaps.length > 0
        ? "not all of the question is answered"
        : "the tool's own words cover everything that was asked"),
    assumptions: results.flatMap(({ step }) => step.assumptions),
    gaps: [...allGaps, ...doubts.map((detail): GapSignal => ({ code: "not_understood", severity: "medium", detail }))],
    stopReason: isBounded ? "bounded_runtime_budget" : "complete_answer",
    issueClass: gaps.length > 0 ? "missing_evidence" : null,
  };
}

// Beyond that the last digits are not what the tool has written.
const isInexact = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.slice(0, MAX_LISTED).some(isInexact)
    : Number.isInteger(value) && !Number.isSafeInteger(value);

const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);

type Read = { output: Output; facts: GroundedFact[]; shown: readonly ToolFact[]; isFocused: boolean };

function readOutput(output: Output, { question }: StepResult): Read {
  const facts = factsOf(output.value, { question, method: output.method, args: output.args });
  const focus = focusOf(facts);
  const isFocused = focus.length > 0 && !focus.some((fact) => isQualified(fact, question, output.method));
  return {
    output,
    facts: facts.map((fact) => ({ ...fact, alias: output.alias })),
    shown: (isFocused ? focus : facts).slice(0, MAX_SHOWN_FACTS),
    isFocused,
  };
}

function sentenceOf(facts: readonly ToolFact[], { args }: Output, isOneOfMany: boolean): string {
  const of = isOneOfMany ? `${Object.values(args).map(shownValue).join(", ")}: ` : "";
  const said = facts.map(({ label, value }) => `${label}: ${shownValue(value)}`).join("; ");
  const text = `${of}${said === "" ? "the tool answered nothing" : said}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

// What a tool said is data: one line, of bounded length, without characters that do something. No more of it is read than is
// shown: a tool may answer megabytes.
export function shownValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (isTable(value)) return listOf(value, (row) => listOf(Object.values(row), shownValue, " "), ", ");
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    const rest = value.length > MAX_LISTED ? `, and ${value.length - MAX_LISTED} more` : "";
    return listOf(value, shownValue, ", ") + rest;
  }
  const text =
    typeof value === "object" ? JSON.stringify(value) : String(typeof value === "number" ? roundedOf(value) : value);
  return cut(text.slice(0, 2 * MAX_LIST_LENGTH).replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " "), MAX_VALUE_LENGTH);
}

const DIGITS = 15;

// What comes after these digits is how machines compute, and no part of what was asked for. The facts have it.
const roundedOf = (value: number) => (Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS)));

function listOf<T>(values: readonly T[], shown: (value: T) => string, separator: string): string {
  let text = "";
  for (const [i, value] of values.slice(0, MAX_LISTED).entries()) {
    text += (i === 0 ? "" : separator) + shown(value);
    if (text.length > MAX_LIST_LENGTH) break;
  }
  return cut(text, MAX_LIST_LENGTH);
}

const cut = (text: string, maxLength: number) => (text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`);

const sourcesOf = (results: readonly StepResult[]) =>
  [
    ...new Set(
      results.flatMap(({ outputs }) => outputs.map(({ listing, method }) => `${listing.name} (${method.name})`)),
    ),
  ].join(", ");

// A table where there is one: the rows of a list, or one row for each of several calls.
function viewOf(read: readonly (StepResult & { read: readonly Read[] })[]): View | null {
  for (const { outputs, read: each, step } of read) {
    const label = `${step.chosen.listing.name}: ${step.chosen.method.name}`;
    if (outputs.length > 1) {
      const columns = columnsOf(each.map(({ shown }) => shown.map((fact) => fact.label)));
      return {
        type: "table",
        label,
        columns: [Object.keys(outputs[0]?.args ?? {}).join(", "), ...columns].map(shownValue),
        rows: each.slice(0, MAX_ROWS).map(({ output, shown }) => ({
          key: output.alias,
          cells: [
            Object.values(output.args).map(shownValue).join(", "),
            ...columns.map((column) => shownValue(shown.find((fact) => fact.label === column)?.value)),
          ],
          sourceRefIds: [output.alias],
        })),
      };
    }
    const [first] = each;
    const table = first?.shown.find(({ value }) => isTable(value));
    if (first === undefined || table === undefined || !isTable(table.value)) continue;
    const columns = columnsOf(table.value.slice(0, MAX_ROWS).map(Object.keys));
    return {
      type: "table",
      label: table.label,
      columns: columns.map(shownValue),
      rows: table.value.slice(0, MAX_ROWS).map((row, i) => ({
        key: `${table.path}[${i}]`,
        cells: columns.map((column) => shownValue(row[column])),
        sourceRefIds: [first.output.alias],
      })),
    };
  }
  return null;
}

// Every row may have names of its own, and a table of thousands of columns is none.
const columnsOf = (rows: readonly (readonly string[])[]): string[] =>
  [...new Set(rows.flatMap((names) => names.slice(0, MAX_COLUMNS)))].slice(0, MAX_COLUMNS);

// The first series of numbers that a tool has answered, as a line.
function chartOf(results: readonly StepResult[]): Artifact | null {
  for (const { outputs, question } of results) {
    for (const output of outputs) {
      const facts = factsOf(output.value, { question, method: output.method, args: output.args });
      const series = facts.find(({ value }) => isSeries(value));
      if (series === undefined) continue;
      const values = (series.value as (number | null)[]).slice(0, MAX_CHART_ROWS);
      return {
        kind: "chart",
        title: `${output.listing.name}: ${series.label}`,
        spec: { type: "line", xKey: "position", series: [{ key: "value", label: series.label }] },
        data: values.map((value, i) => ({ position: i + 1, value })),
      };
    }
  }
  return null;
}

const isSeries = (value: unknown) =>
  Array.isArray(value) && value.length > 1 && value.every((one) => one === null || typeof one === "number");
