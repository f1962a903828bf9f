const STARTS = [0, 8, 12, 16, 20];

// The first 32 hexadecimal digits as a UUID is written. The one place that cuts; the console has its own, because a browser
// checks a proof with nothing but what it was served.
export function uuidOf(digits: string): string {
  return STARTS.map((start, i) => digits.slice(start, STARTS[i + 1] ?? 32)).join("-");
}

// A UUID of version 8 (RFC 9562: its contents are the application's own) from the first digits of a hash.
export function uuidFromDigest(digest: string): string {
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return uuidOf(`${digest.slice(0, 12)}8${digest.slice(13, 16)}${variant}${digest.slice(17)}`);
}
