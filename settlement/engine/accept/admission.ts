import { SettlementError } from "../../domain/errors.ts";
import type { Backlog } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";

export type Admission = {
  // Writes what may become so many charges, or refuses to while settlement does not keep up. `unused` says how many of them it did not
  // become.
  write<T>(charges: number, write: () => Promise<T>, unused?: (written: T) => number): Promise<T>;
};

type AdmissionContext = Pick<EngineContext, "clock" | "policy" | "report"> & {
  ledger: Pick<EngineContext["ledger"], "readBacklog">;
};

type Sample = Backlog & { atMs: number };

const LOOK_MS = 1_000;
const MAX_RETRY_MS = 30_000;

// Lets no more in than settlement takes out. New turns and holds are refused, in words and with a time to come back:
//   - while `maxCharges` wait for a batch, whatever the reason;
//   - while more waits than went into batches in the last `maxSeconds`, and it grows: settlement is at work and falls behind.
//     What one tick takes at once is never too much. A chain that is away takes nothing, and then only the first bound holds;
//   - while a write has waited for its commit for `maxLagMs`.
// What a hold was given for is already agreed, so captures and voids are never asked. Nothing that was acknowledged is touched.
export function createAdmission({ ledger, clock, policy, report }: AdmissionContext): Admission {
  const { maxCharges, maxSeconds, maxLagMs } = policy.admission;
  const takenAtOnce = policy.maxInFlight * policy.bounds.maxCharges;
  const windowMs = maxSeconds * 1_000;
  // One a second for as long as the window is.
  let samples: Sample[] = [];
  let looking: Promise<Sample> | null = null;
  // Oldest first. A write that was not committed when the ledger was looked at is not among what waits there.
  const writing = new Set<{ sinceMs: number; charges: number }>();
  let notInSample = 0;
  let refusing = false;

  async function look(): Promise<Sample> {
    const atMs = clock.nowMs();
    const sample = { ...(await ledger.readBacklog(atMs)), atMs };
    notInSample = [...writing].reduce((sum, { charges }) => sum + charges, 0);
    // A clock that was set back begins again.
    samples = [...samples.filter((old) => old.atMs < atMs && atMs - old.atMs <= windowMs), sample];
    return sample;
  }

  function newest(): Sample | Promise<Sample> {
    const last = samples.at(-1);
    const ageMs = last === undefined ? Number.NaN : clock.nowMs() - last.atMs;
    if (last !== undefined && ageMs >= 0 && ageMs < LOOK_MS) return last;
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  }

  function refusalOf(sample: Sample): { reason: string; retryMs: number } | null {
    const [oldest] = writing;
    const lagMs = oldest === undefined ? 0 : clock.nowMs() - oldest.sinceMs;
    if (lagMs > maxLagMs) return { reason: `a write has waited for ${lagMs} ms`, retryMs: LOOK_MS };
    const waiting = sample.due + notInSample;
    if (waiting >= maxCharges) return { reason: `${waiting} charges wait to be settled`, retryMs: MAX_RETRY_MS };
    const [first = sample] = samples;
    const taken = sample.taken - first.taken;
    if (waiting <= takenAtOnce || taken <= 0 || waiting <= taken || sample.due <= first.due) return null;
    const retryMs = Math.ceil(((waiting - taken) * (sample.atMs - first.atMs)) / taken);
    return { reason: `${waiting} charges wait and ${taken} were taken in ${maxSeconds} seconds`, retryMs };
  }

  function refuse(refusal: { reason: string; retryMs: number } | null): void {
    if (refusing !== (refusal !== null)) {
      refusing = refusal !== null;
      report(refusal === null ? { kind: "admitting" } : { kind: "overloaded", reason: refusal.reason });
    }
    if (refusal === null) return;
    throw new SettlementError("overloaded", `settlement does not keep up: ${refusal.reason}; try again later`, {
      retryable: true,
      retryAfterMs: Math.min(Math.max(refusal.retryMs, LOOK_MS), MAX_RETRY_MS),
    });
  }

  return {
    async write(charges, write, unused = () => 0) {
      const sample = newest();
      refuse(refusalOf(sample instanceof Promise ? await sample : sample));
      const own = { sinceMs: clock.nowMs(), charges };
      writing.add(own);
      notInSample += charges;
      // What became of nothing takes no room: else a list of which one is wrong would leave none for its turns one by one, however often
      // it comes.
      try {
        const written = await write();
        notInSample -= unused(written);
        return written;
      } catch (error) {
        if (error instanceof SettlementError && !error.retryable) notInSample -= charges;
        throw error;
      } finally {
        writing.delete(own);
      }
    },
  };
}
