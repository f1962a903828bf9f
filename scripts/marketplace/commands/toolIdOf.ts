import { CommandError } from "../../command/CommandError.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function toolIdOf(text: string): string {
  const id = text.trim().toLowerCase();
  if (!UUID.test(id)) throw new CommandError("the tool's id is wrong: give its UUID, as its page and search show it");
  return id;
}
