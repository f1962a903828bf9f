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
          return `${method.name} takes whole numbers for ${name}, and not ${value}`;
        }
        if (isOutside(value, { least: schema.minimum, most: schema.maximum })) {
          return `${method.name} takes ${name} ${rangeOf({ least: schema.minimum, most: schema.maximum })}, and not ${value}`;
        }
      }
      if (Array.isArray(value) && isOutside(value.length, { least: schema.minItems, most: schema.maxItems })) {
        const range = rangeOf({ least: schema.minItems, most: schema.maxItems });
        return `${method.name} takes ${range} values as ${name}, and not ${value.length}`;
      }
      if (
        typeof value === "string" &&
        isOutside([...value].length, { least: schema.minLength, most: schema.maxLength })
      ) {
        const range = rangeOf({ least: schema.minLength, most: schema.maxLength });
        return `${method.name} takes ${range} characters as ${name}, and not ${[...value].length}`;
      }
    }
  }
  return null;
}

const isOutside = (value: number, { least, most }: Bounds) =>
  (typeof least === "number" && value < least) || (typeof most === "number" && value > most);

// Without the bounds that generators write where there are none.
function rangeOf({ least, most }: Bounds): string {
  const [from, to] = [least, most].map((bound) =>
    typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : null,
  );
  if (from === null) return `up to ${to}`;
  return to === null ? `from ${from}` : `from ${from} to ${to}`;
}
