import { getAddress, isAddress, ZeroAddress } from "ethers";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { type MicroUsdc, parseUsd } from "../../settlement/domain/money.ts";
import { CommandError } from "./CommandError.ts";

// Hardhat's options are always optional; these are the ones that a command cannot do without.
export function required(option: string, value: string | undefined): string {
  if (value === undefined) throw new CommandError(`${option} is missing: add ${option} and its value`);
  if (value.trim() === "") throw new CommandError(`${option} is empty: give it a value`);
  return value;
}

export function requiredAddress(option: string, value: string | undefined): string {
  return parseAddress(option, required(option, value));
}

export function parseAddress(option: string, text: string): string {
  if (!isAddress(text)) {
    throw new CommandError(`${option} is "${text}", which is not an address: copy all 42 characters, 0x included`);
  }
  if (getAddress(text) === ZeroAddress) {
    throw new CommandError(`${option} is the zero address, which nobody holds: name an account of yours`);
  }
  return getAddress(text);
}

export function requiredAmount(option: string, value: string | undefined): MicroUsdc {
  return parseAmount(option, required(option, value));
}

export function parseAmount(option: string, text: string): MicroUsdc {
  try {
    return parseUsd(text);
  } catch (error) {
    if (!(error instanceof SettlementError)) throw error;
    throw new CommandError(`${option} is wrong: ${error.message}`);
  }
}
