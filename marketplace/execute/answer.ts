import { z } from "zod";
import { type ApiCode, ApiError } from "../../settlement/daemon/http/errors.ts";
import { type SessionView, sessionSchema } from "../../settlement/views/session.ts";
import type { Listing, Method } from "../registry/listing.ts";

// A session as the SDKs read it; a call outside of any has neither id nor budget, and leaves out what it has not.
export const executeSessionSchema = sessionSchema
  .partial()
  .extend({
    mode: z.literal("execute"),
    sessionId: z.string().nullable(),
    methodPrice: sessionSchema.shape.methodPrice,
    spent: sessionSchema.shape.spent,
    remaining: sessionSchema.shape.remaining.nullable(),
    maxSpend: sessionSchema.shape.maxSpend.nullable(),
  })
  .meta({ id: "ExecuteSession" });

export type ExecuteSession = z.infer<typeof executeSessionSchema>;

export const successSchema = z
  .object({
    success: z.literal(true),
    mode: z.literal("execute"),
    result: z.unknown(),
    tool: z.object({ id: z.guid(), name: z.string() }),
    method: z.object({ name: z.string(), executePriceUsd: z.string() }),
    session: executeSessionSchema,
    durationMs: z.int(),
    warnings: z.array(z.string()).optional(),
    signedAnswer: z.unknown().optional().meta({
      description: "What the tool has signed for this answer, if it signs: the schema court takes it",
    }),
  })
  .meta({ id: "Executed" });

// The text is JSON: a result may be megabytes, and is written once.
export type ExecuteAnswer = { status: number; text: string };

export function successText(success: {
  resultText: string;
  listing: Listing;
  method: Method;
  session: ExecuteSession;
  durationMs: number;
  warnings: readonly string[];
  signedAnswer: unknown;
}): string {
  const { resultText, listing, method, session, durationMs, warnings, signedAnswer } = success;
  const rest = JSON.stringify({
    tool: { id: listing.toolId, name: listing.name },
    method: { name: method.name, executePriceUsd: method.executePriceUsd },
    session,
    durationMs,
    ...(warnings.length > 0 && { warnings }),
    ...(isHandedOver(signedAnswer) && { signedAnswer }),
  });
  return `{"success":true,"mode":"execute","result":${resultText},${rest.slice(1)}`;
}

// Several times what a signed answer takes. It is the tool's word, and nobody has looked at it.
const MAX_SIGNED_LENGTH = 4_000;
export const isHandedOver = (signedAnswer: unknown) =>
  signedAnswer !== undefined && JSON.stringify(signedAnswer).length <= MAX_SIGNED_LENGTH;

const MAX_MESSAGE_LENGTH = 10_000;

// The tool failed, and nothing is charged. Its own words are passed on as they are, because agents show them to their model.
export class ExecutionFailed extends ApiError {
  // Whether the same key gets the same answer: only if the tool may have seen the call.
  readonly isKept: boolean;

  constructor(
    message: string,
    options: { code?: ApiCode; session: SessionView | null; isKept: boolean; helpUrl?: string },
  ) {
    const { code = "execution_failed", session, isKept, helpUrl = null } = options;
    super(code, message, { helpUrl, ...(session && { session }) });
    this.isKept = isKept;
    if (code === "execution_failed") {
      // Strict readers refuse half of a character, which a tool may send and a cut may leave.
      this.body.error = `Tool execution failed: ${message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}`;
    }
  }
}
