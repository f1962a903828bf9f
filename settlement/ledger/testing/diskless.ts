import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const MEMORY = "/dev/shm";
// Containers often have 64 MB of it, which is not enough for everybody who runs at the same time.
const ROOM_BYTES = 500_000_000;

// Where ledgers are of which a test asks nothing about the disk: in memory, where there is room and we may write, so that nobody waits
// for a disk that others keep busy. What is promised of disks is tested on one, by durability.test.ts and whoever else says so.
export const DISKLESS = hasRoom(MEMORY) ? MEMORY : tmpdir();

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM_BYTES;
  } catch {
    return false;
  }
}
