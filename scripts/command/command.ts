import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { sentenceOf } from "../../settlement/domain/text/sentence.ts";
import { CommandError } from "./CommandError.ts";
import { isUnreachable } from "./isUnreachable.ts";
import { createOutput } from "./output.ts";
import { type CommonArguments, openSession, type Session } from "./session.ts";

type Failure = { success: false; error: string };

// Turns a command into a Hardhat task's action. What the person at the keyboard can fix ends in one sentence on
// standard error and exit code 1; a defect of the command itself is left to Hardhat, with its stack trace.
export function command<Arguments extends CommonArguments>(
  run: (args: Arguments, session: Session) => Promise<void>,
): (args: Arguments, hre: HardhatRuntimeEnvironment) => Promise<Failure | undefined> {
  return async (args, hre) => {
    // A transaction for a Safe is a document too, and usually goes straight into a file.
    const output = createOutput(args.json || (args.safe ?? false));
    let session: Session | undefined;
    try {
      session = await openSession(hre, args, output);
      await run(args, session);
      return undefined;
    } catch (error) {
      const message = messageOf(error);
      if (message === undefined) throw error;
      const sentence = [sentenceOf(message), ...(args.yes === undefined ? [] : [sentOf(session)])].join(" ");
      output.fail(sentence, error instanceof CommandError ? error.details : {});
      return { success: false, error: sentence };
    }
  };
}

// Whoever wanted to send something is told whether that has begun.
function sentOf(session: Session | undefined): string {
  const { sent = [], sending = false } = session ?? {};
  if (sending) return "A transaction may have been sent: look at the account before you run the command again.";
  return sent.length === 0 ? "Nothing was sent." : `Sent so far: ${sent.join(", ")}.`;
}

// What can be told to a person; undefined for a defect.
function messageOf(error: unknown): string | undefined {
  if (error instanceof CommandError || error instanceof SettlementError) return error.message;
  if (isUnreachable(error)) {
    return "the network's node does not answer: check its RPC address and that it is running";
  }
  return isHardhatError(error) ? messageOfHardhat(error) : undefined;
}

type HardhatError = Error & { errorCode: string; formattedMessage: string; messageArguments: { name?: string } };

// Hardhat does not export the class of its errors to projects.
const isHardhatError = (error: unknown): error is HardhatError =>
  error instanceof Error && "errorCode" in error && "formattedMessage" in error && "messageArguments" in error;

const VARIABLE_NOT_FOUND = "HHE7";

function messageOfHardhat({ errorCode, formattedMessage, messageArguments: { name } }: HardhatError): string {
  return errorCode === VARIABLE_NOT_FOUND
    ? `${name} is not known: put it into the keystore with npx hardhat keystore set ${name}`
    : formattedMessage;
}
