import type { Method } from "../../registry/listing.ts";
import { propertiesOf } from "./kindOf.ts";

type Bounds = { least: unknown; most: unknown };

// Why a method takes none of these arguments, by the bounds that it states itself; null if nothing is known against them. Whoever asks
// for what nobody takes hears so before anything is called.
export function outOfBounds(method: Method, calls: readonly Readonly<Record<string, unknown>>[]): string | null {
  for (const { name, schema } of propertiesOf(method.inputSchema)) {
    for (const { [name]: value } of calls) {
      if (typeof value === "number") {
        if (schema.type === "integer" && !Number.isInteger(value)) {
          return `the method ${method.name} takes whole numbers for ${name}, and not ${value}`;
        }
        const bounds = { least: schema.minimum, most: schema.maximum };
        if (isOutside(value, bounds))
          return `the method ${method.name} takes ${name} ${rangeOf(bounds, value)}, and not ${value}`;
      }
      if (Array.isArray(value)) {
        const bounds = { least: schema.minItems, most: schema.maxItems };
        const { length } = value;
        if (isOutside(length, bounds))
          return `the method ${method.name} takes ${rangeOf(bounds, length)} values as ${name}, and not ${length}`;
      }
      if (typeof value === "string") {
        const bounds = { least: schema.minLength, most: schema.maxLength };
        const { length } = [...value];
        if (isOutside(length, bounds))
          return `the method ${method.name} takes ${rangeOf(bounds, length)} characters as ${name}, and not ${length}`;
      }
    }
  }
  return null;
}

const isBelow = (value: number, least: unknown) => typeof least === "number" && value < least;
const isAbove = (value: number, most: unknown) => typeof most === "number" && value > most;
const isOutside = (value: number, { least, most }: Bounds) => isBelow(value, least) || isAbove(value, most);

// Without the bounds that generators write where there are none, unless that is what the value is outside of.
function rangeOf({ least, most }: Bounds, value: number): string {
  const isTold = (bound: unknown) => typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  const from = isTold(least) || isBelow(value, least) ? least : null;
  const to = isTold(most) || isAbove(value, most) ? most : null;
  if (from === null) return `up to ${to}`;
  return to === null ? `from ${from}` : `from ${from} to ${to}`;
}
