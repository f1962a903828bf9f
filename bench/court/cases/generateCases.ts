import fc from "fast-check";
import { type Schema, schemas } from "./schemas.ts";
import { spell } from "./spell.ts";
import { createRandom, nudge, valueFor } from "./values.ts";

// A schema and a value as texts, as the court gets them.
export type Case = { schema: string; json: string };

const VALUES_PER_SCHEMA = 4;

// The same cases for the same seed: for each schema some values that it would accept, and some nearly so.
export function generateCases(count: number, seed: number): Case[] {
  const samples = fc.sample(fc.tuple(schemas, fc.nat()), { numRuns: Math.ceil(count / VALUES_PER_SCHEMA), seed });
  return samples.flatMap(([schema, salt]) => casesOf(schema, salt)).slice(0, count);
}

function casesOf(schema: Schema, salt: number): Case[] {
  const random = createRandom(salt);
  const text = spell(schema, random);
  return Array.from({ length: VALUES_PER_SCHEMA }, (_, i) => {
    const value = valueFor(schema, random);
    return { schema: text, json: spell(i % 2 === 0 ? value : nudge(value, random), random) };
  });
}
