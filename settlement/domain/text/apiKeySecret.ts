import { hash, randomBytes } from "node:crypto";
import type { Hex } from "viem";

const PREFIX = "sk_live_";
const SECRET_BYTES = 32;

export const API_KEY_PATTERN = /sk_live_[A-Za-z0-9_-]{43}/;

export const createApiKeySecret = () => PREFIX + randomBytes(SECRET_BYTES).toString("base64url");

export const hashOfSecret = (secret: string): Hex => `0x${hash("sha256", secret)}`;
