import { printable } from "../../../command/printable.ts";

// An API key as a marketplace shows it.
export type ApiKey = { id: string; name: string; createdAt: string; revokedAt: string | null };

export function apiKeyFrom(body: Record<string, unknown>): ApiKey {
  const { id, name, createdAt, revokedAt } = body;
  return {
    id: printable(`${id}`),
    name: printable(`${name}`),
    createdAt: printable(`${createdAt}`),
    revokedAt: revokedAt === null ? null : printable(`${revokedAt}`),
  };
}
