import { z } from "zod";
import { chargeSchema } from "./charge.ts";
import { address, hash } from "./shapes.ts";

// What an id belongs to.
export const foundSchema = z
  .object({ charges: z.array(chargeSchema), batchId: hash.nullable(), payer: address.nullable() })
  .meta({ id: "Found" });

export type Found = z.infer<typeof foundSchema>;
