const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const HEADER_BYTES = 33;
const END = Buffer.from("IEND");
// A page that shows it unpacks four bytes for each pixel, however small the file is.
export const MAX_SIDE = 4_096;

// How large a PNG is, from its first chunk; null for what is none.
export function readPng(bytes: Buffer): { width: number; height: number } | null {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return null;
  if (bytes.toString("latin1", 12, 16) !== "IHDR" || bytes.lastIndexOf(END) < HEADER_BYTES) return null;
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const isSide = (length: number) => length > 0 && length <= MAX_SIDE;
  return isSide(width) && isSide(height) ? { width, height } : null;
}
