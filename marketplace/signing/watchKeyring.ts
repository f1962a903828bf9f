import { statSync } from "node:fs";
import { type Keyring, readKeyring } from "./keyring.ts";

// How long a rotation may take to be noticed.
const LOOK_EVERY_MS = 5_000;

// The keys as they are in the file now, read again when it has changed: a rotation needs no restart. A file that has become
// unreadable since changes nothing; the keys that were read last go on.
export function watchKeyring(path: string, { nowMs = () => performance.now() } = {}): () => Keyring {
  const versionOf = () => {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  };
  let keyring = readKeyring(path);
  let version = versionOf();
  let lookedMs = nowMs();

  return () => {
    if (nowMs() - lookedMs < LOOK_EVERY_MS) return keyring;
    lookedMs = nowMs();
    try {
      const seen = versionOf();
      if (seen !== version) {
        keyring = readKeyring(path);
        version = seen;
      }
    } catch {
      // Whoever operates the marketplace sees it at the next start, and nobody is refused for it now.
    }
    return keyring;
  };
}
