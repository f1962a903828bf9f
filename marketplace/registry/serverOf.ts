const ESCAPE = /%[0-9a-f]{2}/gi;
// What needs no escape means the same without one (RFC 3986).
const UNRESERVED = /[\w.~-]/;

function unescaped(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return UNRESERVED.test(character) ? character : octet;
}

// Which server an endpoint leads to, in one spelling. Names and paths in capitals, the port that goes without saying, a query and slashes
// too many lead to the same one for most servers; those of whom it is not so say which tool they are.
export function serverOf(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint);
  const path = pathname
    .replaceAll(ESCAPE, unescaped)
    .replaceAll(/\/{2,}/g, "/")
    .replace(/\/$/, "")
    .toLowerCase();
  return origin.replace(/\.(?=:\d+$|$)/, "") + path;
}
