import { bytesToHex, type Hex } from "viem";
import { keccak256 } from "../../settlement/engine/batch/keccak.ts";
import { canonicalJson } from "../toolkit/answer/canonicalJson.ts";

const encoder = new TextEncoder();

// The hash of a text as a contract takes it.
export const hashText = (text: string): Hex => bytesToHex(keccak256(encoder.encode(text)));

// What was asked, answered and promised is hashed as its canonical JSON, as a tool that signs its answers hashes it and the
// schema court reads it.
export const hashJson = (value: unknown): Hex => hashText(canonicalJson(value));
