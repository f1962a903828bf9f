// A tool id is 16 bytes on chain and a UUID for people. This is the only place that turns one into the other.
export type ToolId = `0x${string}`;

export class InvalidToolIdError extends Error {
  override readonly name = "InvalidToolIdError";

  constructor(
    readonly text: string,
    form: string,
  ) {
    super(`"${text}" is not a tool id: it is written ${form}`);
  }
}

const UUID = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i;
const BYTES16 = /^0x([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

export function toolIdFromUuid(uuid: string): ToolId {
  const parts = UUID.exec(uuid)?.slice(1);
  if (!parts) throw new InvalidToolIdError(uuid, "as a UUID, like 3f2a9c1e-0b7d-8c45-9e10-5a6b7c8d9e0f");
  return `0x${parts.join("").toLowerCase()}`;
}

export function uuidFromToolId(toolId: string): string {
  const parts = BYTES16.exec(toolId)?.slice(1);
  if (!parts) throw new InvalidToolIdError(toolId, "as 0x and 32 hexadecimal digits");
  return parts.join("-").toLowerCase();
}
