import type { LineChart } from "../charts/lineChart.ts";
import type { Machine } from "./describeMachine.ts";

// A benchmark's part of the page: what is measured for it, its text and its charts by the names of their files. The text must
// stay true whatever was measured, so it holds numbers, and no adjectives for them.
export type Chapter<Measured> = {
  readonly name: string;
  readonly command: string;
  readonly measure: () => Promise<Measured>;
  readonly text: (measured: Measured) => string;
  readonly charts?: (measured: Measured) => Record<string, LineChart>;
};

// What was measured, when and on what. Each chapter has its own, because each can be measured by itself.
export type Result = { date: string; commit: string; machine: Machine; measured: unknown };
export type Results = { readonly [name: string]: Result };

// A chapter is handed only what it has measured itself, so that the page needs to know nothing of it.
export const chapter = <Measured>(own: Chapter<Measured>) => own as Chapter<unknown>;
