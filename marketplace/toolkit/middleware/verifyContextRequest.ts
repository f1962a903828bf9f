import { type ContextClaims, createVerifier, type Verifier, type VerifierOptions } from "./createVerifier.ts";

const MAX_VERIFIERS = 100;
const verifiers = new Map<string, Verifier>();

// The check of one Authorization header, for servers that no middleware here fits: the claims of its token, or an UnauthorizedError. As
// in the public SDKs, but for the audience, which must be given, and the marketplace, which can be.
export async function verifyContextRequest({
  authorizationHeader,
  ...options
}: VerifierOptions & { authorizationHeader: string | undefined }): Promise<ContextClaims> {
  const name = JSON.stringify(options);
  const verify = verifiers.get(name) ?? createVerifier(options);
  // Whoever makes up options with each request takes the place of what was not used for longest.
  verifiers.delete(name);
  verifiers.set(name, verify);
  const [oldest = name] = verifiers.keys();
  if (verifiers.size > MAX_VERIFIERS) verifiers.delete(oldest);
  return verify(authorizationHeader);
}
