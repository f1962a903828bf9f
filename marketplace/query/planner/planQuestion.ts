import type { Found } from "../../discovery/createCatalogue.ts";
import type { Level } from "../wire/result.ts";
import { clausesOf } from "./clausesOf.ts";
import type { Filled } from "./fillArguments.ts";
import { fitOf } from "./fitOf.ts";
import { jointsOf } from "./jointsOf.ts";
import type { Property } from "./kindOf.ts";
import { outOfBounds } from "./outOfBounds.ts";
import { type Ranked, rankMethods, strangeTo, turnsQuestion } from "./rankMethods.ts";
import { type Question, readQuestion, type Value } from "./readQuestion.ts";

export type PlannedStep = {
  question: Question;
  chosen: Ranked & { filled: Extract<Filled, { kind: "filled" }> };
  // Methods that could answer as well, for when this one cannot be reached.
  alternatives: readonly Ranked[];
  level: Level;
  // Why the level is not a better one, and what was assumed.
  doubts: readonly string[];
  assumptions: readonly string[];
};

export type Plan =
  | { kind: "steps"; steps: readonly PlannedStep[]; unanswered: readonly string[] }
  | { kind: "miss"; message: string; missing: readonly string[]; rewrites: readonly string[] };

// How much of a question must be understood for an answer at all, and for one that is probably meant.
const LEAST_COVERAGE = 0.7;
const GOOD_COVERAGE = 0.8;
// A method whose score comes this near to the best one's may be what was meant.
const NEAR = 0.85;
const MAX_REWRITES = 3;

// "at block 1", "the largest three": which of them, and not one more thing that is known of them.
const setsApart = ({ kind, start }: Value, { text, words }: Question) =>
  kind === "number" &&
  (SETS_APART.test(text.slice(0, start)) ||
    turnsQuestion(words.findLast(({ end }) => end <= start && /^\s*$/.test(text.slice(end, start)))?.text ?? "a"));
const SETS_APART = /\b(?:at|as of|before|after|since|until|till|during)\s+(?:the\s+)?(?:\p{L}+\s+)?$/iu;

// Which methods to call with what. A question of several is taken apart if the whole is not understood and each part is.
export function planQuestion(question: Question, found: readonly Found[], earlier: readonly Value[] = []): Plan {
  const whole = planClause(question, found, earlier);
  if (whole.kind === "step" && whole.step.level === "high")
    return { kind: "steps", steps: [whole.step], unanswered: [] };
  const parts = planParts(question, found, earlier);
  const isBetter =
    parts !== null &&
    (whole.kind === "miss" ||
      (parts.unanswered.length === 0 && parts.steps.length > 1) ||
      parts.steps.some(({ level }) => level === "high"));
  if (isBetter) return { kind: "steps", ...parts };
  return whole.kind === "step" ? { kind: "steps", steps: [whole.step], unanswered: [] } : whole;
}

type Part = { clause: Question; text: string; plan: Clause };

// A plan for each part that asks something. Null if there are no parts, or if one of them says something that changes what the
// others ask, such as what is to be left out.
function planParts(
  question: Question,
  found: readonly Found[],
  earlier: readonly Value[],
): { steps: PlannedStep[]; unanswered: string[] } | null {
  const clauses = clausesOf(question.text, question.values)
    .map((span) => ({ clause: partOf(question, span), text: question.text.slice(span.start, span.end).trim() }))
    .filter(({ clause }) => clause.words.length + clause.values.length > 0);
  if (clauses.length < 2) return null;
  const parts = clauses.map(({ clause, text }): Part => {
    const others = question.values.filter((value) => !clause.values.includes(value));
    return { clause, text, plan: planClause(clause, found, [...others, ...earlier]) };
  });
  const asking = parts.filter(({ text }) => !isStatement(text));
  const taken = new Set(asking.flatMap(({ plan }) => usedIn(plan)));
  // A part that asks nothing and only gave values to others has been answered with them.
  const isGiving = ({ text, plan, clause }: Part) =>
    (plan.kind === "miss" || isStatement(text)) &&
    clause.values.length > 0 &&
    clause.values.every((value) => taken.has(value));
  const giving = parts.filter(isGiving);
  const rest = parts.filter((part) => !isGiving(part) && (part.plan.kind === "miss" || isStatement(part.text)));
  const changing = [...giving, ...rest.filter(({ text }) => !isQuestion(text))];
  if (changing.some(({ clause }) => clause.words.some(({ text }) => turnsQuestion(text)))) return null;
  if (rest.some(({ text }) => CONDITION.test(text))) return null;
  const steps = asking.flatMap(({ plan }) => {
    if (plan.kind === "miss") return [];
    const used = new Set(usedIn(plan));
    const strange = giving
      .filter(({ clause }) => clause.values.some((value) => used.has(value)))
      .flatMap(({ clause }) => strangeTo(clause, plan.step.chosen));
    return strange.length === 0 ? plan.step : withDoubt(plan.step, `nothing in the tool is about ${wordsOf(strange)}`);
  });
  return steps.length === 0 ? null : { steps, unanswered: rest.map(({ text }) => text) };
}

const CONDITION = /^\s*(?:if|suppose|assuming|given)\b[^?]*$/i;

// "The numbers are 4, 8 and 15."
const isStatement = (text: string) =>
  CONDITION.test(text) ||
  /^\s*(?:the|these|those|my|our|here|i|we)\b[^?]*\b(?:are|is|was|were|have|had)\b[^?]*$/i.test(text);

const isQuestion = (text: string) =>
  /\?$|^\s*(?:and\s+)?(?:what|which|how|when|who|whose|where|why|is|are|was|were|do|does|did|can|has|have)\b/i.test(
    text,
  );

const usedIn = (plan: Clause) => (plan.kind === "step" ? [...plan.step.chosen.filled.usedValues] : []);

const withDoubt = (step: PlannedStep, doubt: string): PlannedStep => ({
  ...step,
  level: step.level === "high" ? "medium" : step.level,
  doubts: [...step.doubts, doubt],
});

type Clause = { kind: "step"; step: PlannedStep } | Extract<Plan, { kind: "miss" }>;

function planClause(question: Question, found: readonly Found[], earlier: readonly Value[]): Clause {
  const ranked = rankMethods(found, question, earlier);
  const able = ranked.filter((one): one is PlannedStep["chosen"] => one.filled.kind === "filled");
  const [chosen] = able;
  if (chosen === undefined || chosen.coverage < LEAST_COVERAGE) return missOf(question, ranked, found);
  // A method that understands the question better lacks something that only the asker can give.
  const better = ranked.find((one) => one.filled.kind === "missing" && one.coverage > chosen.coverage);
  if (better !== undefined && chosen.coverage < GOOD_COVERAGE) return missOf(question, [better], found);

  const alternatives = able
    .slice(1)
    .filter((one) => one.score >= NEAR * chosen.score && one.coverage >= chosen.coverage);
  const { unexplained, loosely, unusedValues, coverage, filled } = chosen;
  // Without such a word it is another question, and nobody wants the answer to that.
  if (unexplained.some(turnsQuestion)) return missOf(question, [chosen], found);
  const { misfit, doubts: misgivings } = fitOf(question, chosen);
  if (misfit !== null) return { ...missOf(question, [chosen], found), message: misfit };
  // What held then or there is not what holds now and here.
  const elsewhere = unusedValues.find((value) => value.kind === "date" || setsApart(value, question));
  if (elsewhere !== undefined) {
    const written = question.text.slice(elsewhere.start, elsewhere.end);
    return { ...missOf(question, [chosen], found), message: `no argument of ${chosen.method.name} takes ${written}` };
  }
  const refused = outOfBounds(chosen.method, filled.calls);
  if (refused !== null) return { ...missOf(question, [chosen], found), message: refused };
  const turning = loosely.filter(turnsQuestion);
  // "Not counting the 9th": what is turned into something else is nothing that anybody here knows.
  if (turning.length > 0 && unexplained.length > 0) return missOf(question, [chosen], found);
  const vaguely = loosely.filter((word) => !turnsQuestion(word));
  const doubts = [
    ...misgivings,
    ...jointsOf(question, chosen),
    ...(unexplained.length > 0 ? [`nothing in the tool is about ${wordsOf(unexplained)}`] : []),
    ...(vaguely.length > 0 ? [`the tool is about ${wordsOf(vaguely)}, and its method does not say so`] : []),
    ...(turning.length > 0 ? [`the tool has the word ${wordsOf(turning)}, perhaps in another sense`] : []),
    ...(unusedValues.length > 0
      ? [
          `no argument of the tool takes ${wordsOf(unusedValues.map(({ start, end }) => question.text.slice(start, end)))}`,
        ]
      : []),
    ...(filled.leftOut > 0
      ? [`${filled.leftOut} of what the question names are more than one turn asks about, and were left out`]
      : []),
    ...(better === undefined ? [] : [`${better.method.name} would fit better and lacks ${lackOf(better)}`]),
  ];
  const assumptions = [
    ...filled.assumptions,
    ...(alternatives.length > 0
      ? [`${chosen.method.name} of ${chosen.listing.name} was meant, and not ${wordsOf(alternatives.map(nameOf))}`]
      : []),
  ];
  const level = doubts.length === 0 && assumptions.length === 0 ? "high" : coverage >= GOOD_COVERAGE ? "medium" : "low";
  return { kind: "step", step: { question, chosen, alternatives, level, doubts, assumptions } };
}

function missOf(
  question: Question,
  ranked: readonly Ranked[],
  found: readonly Found[],
): Extract<Plan, { kind: "miss" }> {
  const [best] = ranked;
  const rewrites = found
    .flatMap(({ listing }) => listing.suggestedPrompts.map(({ text }) => text))
    .slice(0, MAX_REWRITES);
  if (best?.filled.kind === "missing" && best.coverage >= LEAST_COVERAGE) {
    return {
      kind: "miss",
      message: `the tool ${best.listing.name} could answer this with ${best.method.name} if the question gave it ${lackOf(best)}`,
      missing: best.filled.properties.map(({ name }) => name),
      rewrites: [...completed(question, best, best.filled.properties), ...rewrites].slice(0, MAX_REWRITES),
    };
  }
  const about = best === undefined ? [] : best.unexplained;
  return {
    kind: "miss",
    message:
      about.length === 0
        ? "no tool that was found is about this question"
        : `no tool that was found is about ${wordsOf(about)}`,
    missing: about.length === 0 ? [question.text.slice(0, 200)] : [...about],
    rewrites,
  };
}

const MAX_EXAMPLE_LENGTH = 100;

// The question with the tool's own examples of what it lacks, if it would be answered so.
function completed(question: Question, { listing, method }: Ranked, lacking: readonly Property[]): string[] {
  const examples = lacking.map(({ name, kind, schema: { examples } }) => {
    const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
    if (example === undefined) return null;
    const isBare = kind?.kind !== "text" && typeof example === "string";
    return `${name} ${isBare ? example : JSON.stringify(example)}`;
  });
  if (examples.some((example) => example === null || example.length > MAX_EXAMPLE_LENGTH)) return [];
  const [, asked = "", end = ""] = /^(.*?)([?.!\s]*)$/s.exec(question.text) ?? [];
  const text = `${asked.trim()} (${examples.join(", ")})${end.trim()}`;
  const plan = planClause(readQuestion(text, 0), [{ listing, methods: [method] }], []);
  return plan.kind === "step" ? [text] : [];
}

const nameOf = ({ method, listing }: Ranked) => `${method.name} of ${listing.name}`;

function lackOf({ filled }: Ranked): string {
  if (filled.kind !== "missing") return "";
  return wordsOf(
    filled.properties.map(({ name, description }) => (description === "" ? name : `${name} (${description})`)),
  );
}

const MAX_NAMED = 5;

const wordsOf = (names: readonly string[]): string => {
  const shown = names.slice(0, MAX_NAMED).map((name) => name.slice(0, 100));
  const last = names.length > MAX_NAMED ? "more" : shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(", ")} and ${last}`;
};

export function partOf(question: Question, { start, end }: { start: number; end: number }): Question {
  const inside = (part: { start: number; end: number }) => part.start >= start && part.end <= end;
  // Positions stay those of the whole, by which values are shown; the text is the whole's for the same reason.
  return {
    text: question.text.slice(0, end),
    values: question.values.filter(inside),
    words: question.words.filter(inside),
  };
}
