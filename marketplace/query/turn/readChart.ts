import { type Chart, chartSchema } from "../wire/result.ts";

// As JSON: enough for thousands of rows, and an answer has four of them at the most.
const MAX_LENGTH = 1_000_000;

// A chart that code or a model has made, or what is wrong with it.
export function readChart(value: unknown): Chart | string {
  const read = chartSchema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return `the chart is none: ${issue?.path.join(".")}: ${issue?.message}`;
  }
  const { length } = JSON.stringify(read.data);
  return length <= MAX_LENGTH
    ? read.data
    : `the chart has ${length} characters, and ${MAX_LENGTH} are drawn; aggregate its rows, or leave columns out`;
}
