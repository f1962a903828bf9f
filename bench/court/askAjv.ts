import { Ajv2020 } from "ajv/dist/2020.js";
import type { Case } from "./cases/generateCases.ts";

// Compiled schemas are kept for as long as the cases of one schema follow each other.
export function createAjv() {
  // An object has the properties that its text has: not those that every object of JavaScript inherits.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true, logger: false });
  let last: { schema: string; validate: (value: unknown) => boolean } | undefined;
  return ({ schema, json }: Case): "valid" | "invalid" => {
    if (last?.schema !== schema) {
      const validate = ajv.compile(JSON.parse(schema));
      ajv.removeSchema();
      last = { schema, validate: (value) => validate(value) === true };
    }
    return last.validate(JSON.parse(json)) ? "valid" : "invalid";
  };
}
