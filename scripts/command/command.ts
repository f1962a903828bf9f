import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { CommandError } from "./CommandError.ts";
import { createOutput } from "./output.ts";
import { type CommonArguments, openSession, type Session } from "./session.ts";

type Failure = { success: false; error: string };

// Turns a command into a Hardhat task's action. What the person at the keyboard can mend ends in one sentence on
// standard error and exit code 1; a defect of the command itself is left to Hardhat, with its stack trace.
export function command<Arguments extends CommonArguments>(
  run: (args: Arguments, session: Session) => Promise<void>,
): (args: Arguments, hre: HardhatRuntimeEnvironment) => Promise<Failure | undefined> {
  return async (args, hre) => {
    // A transaction for a Safe is a document too, and usually goes straight into a file.
    const output = createOutput(args.json || (args.safe ?? false));
    try {
      await run(args, await openSession(hre, args, output));
      return undefined;
    } catch (error) {
      const sentence = sentenceOf(error);
      if (sentence === undefined) throw error;
      output.fail(sentence, error instanceof CommandError ? error.details : {});
      return { success: false, error: sentence };
    }
  };
}

function sentenceOf(error: unknown): string | undefined {
  if (error instanceof CommandError) return error.message;
  if (error instanceof SettlementError) return `${error.message}.`;
  const code = codeOf(error);
  if (code !== undefined && UNREACHABLE.has(code)) {
    return "The network's node does not answer: check its RPC address and that it is running.";
  }
  return isHardhatError(error) ? sentenceOfHardhat(error) : undefined;
}

type HardhatError = Error & { errorCode: string; formattedMessage: string; messageArguments: { name?: string } };

// Hardhat does not export the class of its errors to projects.
const isHardhatError = (error: unknown): error is HardhatError =>
  error instanceof Error && "errorCode" in error && "formattedMessage" in error && "messageArguments" in error;

const VARIABLE_NOT_FOUND = "HHE7";

function sentenceOfHardhat({ errorCode, formattedMessage, messageArguments: { name } }: HardhatError): string {
  return errorCode === VARIABLE_NOT_FOUND
    ? `${name} is not known: put it into the keystore with npx hardhat keystore set ${name}.`
    : formattedMessage;
}

const UNREACHABLE = new Set(["ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "ECONNRESET", "UND_ERR_CONNECT_TIMEOUT"]);

// Node and Hardhat wrap the cause of a failed connection several times over.
function codeOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
  }
  return undefined;
}
