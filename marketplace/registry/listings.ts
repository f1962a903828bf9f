import type { Address } from "viem";
import { type MicroUsdc, microUsdc } from "../../settlement/domain/money.ts";
import { address, amount, count, text } from "../../settlement/ledger/database/decode.ts";
import type { Param, Reader, Row, Sql } from "../../settlement/ledger/database/sql.ts";
import { toStorable } from "../../settlement/ledger/database/storable.ts";
import { hashJson } from "../schema/hashJson.ts";
import {
  type Category,
  isStaked,
  type Listing,
  type Method,
  type Registration,
  type Standing,
  type SuggestedPrompt,
} from "./listing.ts";
import { serverOf } from "./serverOf.ts";

// The rows of listings. Whoever changes one takes the next revision with it, in the same transaction and holding the counter
// until its end: so a process that has seen revision n has seen everything up to n.

export type NewListing = {
  registration: Registration;
  standing: Standing;
  methods: readonly Method[];
  warnings: readonly string[];
  nextPingAtMs: number;
};

const COLUMNS = [
  "tool_id",
  "name",
  "description",
  "category",
  "endpoint",
  "server",
  "default_execute_usd",
  "execute_prices",
  "suggested_prompts",
  "methods",
  "warnings",
  "refreshed_at",
  "owner",
  "price",
  "stake",
  "required_stake",
  "next_ping_at",
  "updated_at",
  "revision",
] as const;

// Lists a tool, or what has changed of it. Its history stays. Conflict: the owner has listed the endpoint as another tool.
export async function saveListing(sql: Sql, listing: NewListing, nowMs: number): Promise<Listing | "conflict"> {
  const { registration, standing, methods, warnings, nextPingAtMs } = listing;
  const { toolId, name, description, category, endpoint, defaultExecutePriceUsd } = registration;
  const revision = await nextRevision(sql);
  const taken = await sql.all("SELECT 1 FROM listings WHERE owner = $1 AND endpoint = $2 AND tool_id <> $3", [
    standing.owner,
    endpoint,
    toolId,
  ]);
  if (taken.length > 0) return "conflict";
  const values: Param[] = [
    toolId,
    name,
    description,
    category,
    endpoint,
    serverOf(endpoint),
    defaultExecutePriceUsd,
    JSON.stringify(registration.executePrices),
    JSON.stringify(registration.suggestedPrompts),
    JSON.stringify(methods),
    JSON.stringify(warnings),
    nowMs,
    standing.owner,
    standing.price,
    standing.stake,
    standing.requiredStake,
    nextPingAtMs,
    nowMs,
    revision,
  ];
  const places = values.map((_, i) => `$${i + 1}`).join(", ");
  const [row] = await sql.all(
    `INSERT INTO listings (${COLUMNS.join(", ")}, status, status_reason, verified, pings, pings_answered, failures_in_a_row,
       calls, calls_succeeded, registered_at)
     VALUES (${places}, 'active', NULL, 0, 1, 1, 0, 0, 0, $18)
     ON CONFLICT (tool_id) DO UPDATE SET ${COLUMNS.slice(1)
       .map((column) => `${column} = excluded.${column}`)
       .join(", ")}, status = 'active', status_reason = NULL, failures_in_a_row = 0, short_since = NULL
     RETURNING *`,
    values,
  );
  return listingFrom(row ?? {});
}

// The same for methods that were read again, of a server and under prices that may not be the listing's any more: then they are
// of no use. What the owner says in words is left as it is now.
export async function saveMethods(
  sql: Sql,
  listing: NewListing,
  nowMs: number,
): Promise<Listing | "conflict" | "changed"> {
  const { registration: read } = listing;
  await nextRevision(sql);
  const current = await findListing(sql, read.toolId);
  if (current === null || !isSameOffer(current, read)) return "changed";
  return saveListing(sql, { ...listing, registration: current }, nowMs);
}

// What methods are read from, and what they are then sold for.
const isSameOffer = (one: Registration, other: Registration) =>
  one.endpoint === other.endpoint &&
  one.defaultExecutePriceUsd === other.defaultExecutePriceUsd &&
  hashJson(one.executePrices) === hashJson(other.executePrices);

export type Texts = Pick<Registration, "name" | "description" | "category" | "suggestedPrompts">;

// Null if there is no such listing. It is read once it is locked, so that nothing is lost of what somebody else changes.
export async function saveTexts(
  sql: Sql,
  toolId: string,
  texts: Partial<Texts>,
  nowMs: number,
): Promise<Listing | null> {
  const revision = await nextRevision(sql);
  const listing = await findListing(sql, toolId);
  if (listing === null) return null;
  const { name, description, category, suggestedPrompts } = { ...listing, ...texts };
  const [row] = await sql.all(
    `UPDATE listings SET name = $2, description = $3, category = $4, suggested_prompts = $5, updated_at = $6, revision = $7
     WHERE tool_id = $1 RETURNING *`,
    [toolId, name, description, category, JSON.stringify(suggestedPrompts), nowMs, revision],
  );
  return row === undefined ? null : listingFrom(row);
}

// Null if there is no such listing any more.
export async function saveStanding(
  sql: Sql,
  toolId: string,
  standing: Standing,
  nowMs: number,
): Promise<Listing | null> {
  const { owner, price, stake, requiredStake } = standing;
  const revision = await nextRevision(sql);
  // The new owner may have listed the same endpoint as another tool; then this one stays the old owner's on paper, which
  // changes nothing: who may change a listing is asked of the chain.
  const [row] = await sql.all(
    `UPDATE listings SET price = $3, stake = $4, required_stake = $5, revision = $6,
       short_since = CASE WHEN $7 = 1 THEN NULL ELSE COALESCE(short_since, $8) END,
       owner = CASE WHEN EXISTS (SELECT 1 FROM listings o WHERE o.owner = $2 AND o.endpoint = listings.endpoint
         AND o.tool_id <> $1) THEN listings.owner ELSE $2 END
     WHERE tool_id = $1 RETURNING *`,
    [toolId, owner, price, stake, requiredStake, revision, Number(isStaked(standing)), nowMs],
  );
  return row === undefined ? null : listingFrom(row);
}

// Forgets listings that have been short of stake since then, that nobody has ever paid for, and that were left as they are: a stake can be
// had back and listed with again, and what it leaves behind would fill the disk.
export async function forgetAbandoned(sql: Sql, beforeMs: number, limit: number): Promise<number> {
  // Asked again of the row itself, which somebody may have changed meanwhile: PostgreSQL does not look for it a second time.
  const isAbandoned = "short_since < $1 AND paid_calls = 0 AND updated_at < $1 AND refreshed_at < $1";
  return sql.run(
    `DELETE FROM listings
     WHERE tool_id IN (SELECT tool_id FROM listings WHERE ${isAbandoned} LIMIT ${limit}) AND ${isAbandoned}`,
    [beforeMs],
  );
}

// Whoever else offers the address of a server that says whose it is offers it no longer. At another address of the same server there may
// be another tool, which says so when it is asked: it is asked now.
export async function delistOthers(
  sql: Sql,
  endpoint: string,
  toolIds: readonly string[],
  nowMs: number,
): Promise<Listing[]> {
  const revision = await nextRevision(sql);
  const others = (from: number) =>
    `status = 'active' AND tool_id NOT IN (${toolIds.map((_, i) => `$${i + from}`).join(", ")})`;
  const rows = await sql.all(
    `UPDATE listings SET status = 'delisted', status_reason = $3, revision = $4
     WHERE server = $1 AND endpoint = $2 AND ${others(5)} RETURNING *`,
    [serverOf(endpoint), endpoint, ANOTHER_TOOL, revision, ...toolIds],
  );
  await sql.run(
    `UPDATE listings SET next_ping_at = $3
     WHERE server = $1 AND endpoint <> $2 AND next_ping_at > $3 AND ${others(4)}`,
    [serverOf(endpoint), endpoint, nowMs, ...toolIds],
  );
  return rows.map(listingFrom);
}

export const ANOTHER_TOOL = "its server says that it is another tool";

// The listings that are due for a ping, taken so that no other process pings them too. Nobody buys from those without a stake.
export async function takeDuePings(sql: Sql, nowMs: number, againAtMs: number, limit: number): Promise<Listing[]> {
  const rows = await sql.all(
    `SELECT tool_id FROM listings WHERE next_ping_at <= $1 AND stake >= required_stake ORDER BY next_ping_at LIMIT ${limit} ${sql.locks.skipLocked}`,
    [nowMs],
  );
  const taken: Listing[] = [];
  for (const row of rows) {
    const [own] = await sql.all("UPDATE listings SET next_ping_at = $2 WHERE tool_id = $1 RETURNING *", [
      text(row, "tool_id"),
      againAtMs,
    ]);
    if (own !== undefined) taken.push(listingFrom(own));
  }
  return taken;
}

export type PingResult = { answered: boolean; maxFailures: number; reason: string; nextPingAtMs: number };

// Delists after so many failures in a row, and lists again after the first answer.
export async function savePing(sql: Sql, toolId: string, ping: PingResult): Promise<Listing | null> {
  const { answered, maxFailures, reason, nextPingAtMs } = ping;
  const revision = await nextRevision(sql);
  const [row] = await sql.all(
    answered
      ? `UPDATE listings SET pings = pings + 1, pings_answered = pings_answered + 1, failures_in_a_row = 0,
           status = 'active', status_reason = NULL, next_ping_at = $2, revision = $3
         WHERE tool_id = $1 RETURNING *`
      : `UPDATE listings SET pings = pings + 1, failures_in_a_row = failures_in_a_row + 1, next_ping_at = $2, revision = $3,
           status = CASE WHEN failures_in_a_row + 1 >= $4 THEN 'delisted' ELSE status END,
           status_reason = CASE WHEN failures_in_a_row + 1 >= $4 AND (status_reason IS NULL OR status_reason <> $6) THEN $5
             ELSE status_reason END
         WHERE tool_id = $1 RETURNING *`,
    answered
      ? [toolId, nextPingAtMs, revision]
      : [toolId, nextPingAtMs, revision, maxFailures, toStorable(reason), ANOTHER_TOOL],
  );
  return row === undefined ? null : listingFrom(row);
}

// Of those calls that cost something: how many an account has paid for, how much in all, and how many failed.
export type PayerCounts = { paid: number; spent: MicroUsdc; failed: number };
export type CallCounts = { calls: number; succeeded: number; payers: Map<Address, PayerCounts> };

export async function addCalls(sql: Sql, counts: ReadonlyMap<string, CallCounts>): Promise<void> {
  const revision = await nextRevision(sql);
  for (const [toolId, { calls, succeeded, payers }] of [...counts].sort(byName)) {
    const added = { paid: 0, earned: 0n, failed: 0, payers: 0 };
    for (const [account, more] of [...payers].sort(byName)) {
      const [before, after] = await addToPayer(sql, toolId, account, more);
      added.paid += more.paid;
      added.earned += countedSpending(after) - countedSpending(before);
      added.failed += countedFailures(after) - countedFailures(before);
      added.payers += Number(after.paid > 0) - Number(before.paid > 0);
    }
    await sql.run(
      `UPDATE listings SET calls = calls + $2, calls_succeeded = calls_succeeded + $3, paid_calls = paid_calls + $4,
         failed_calls = failed_calls + $5, payers = payers + $6, earned = earned + $7, revision = $8
       WHERE tool_id = $1`,
      [toolId, calls, succeeded, added.paid, added.failed, added.payers, added.earned, revision],
    );
  }
}

async function addToPayer(
  sql: Sql,
  toolId: string,
  account: Address,
  { paid, spent, failed }: PayerCounts,
): Promise<[before: PayerCounts, after: PayerCounts]> {
  const [row] = await sql.all(
    `INSERT INTO tool_payers (tool_id, account, paid, failed, spent) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (tool_id, account) DO UPDATE
       SET paid = tool_payers.paid + excluded.paid, failed = tool_payers.failed + excluded.failed,
         spent = tool_payers.spent + excluded.spent
     RETURNING paid, failed, spent`,
    [toolId, account, paid, failed, spent],
  );
  const found = row ?? {};
  const after = { paid: count(found, "paid"), spent: amount(found, "spent"), failed: count(found, "failed") };
  return [{ paid: after.paid - paid, spent: microUsdc(after.spent - spent), failed: after.failed - failed }, after];
}

// A call that fails costs nothing. So of one account no more of them count than it has paid for, and one: nobody ruins a name for free.
const countedFailures = ({ paid, failed }: PayerCounts) => Math.min(failed, paid + 1);

// What a wallet has paid itself comes back but for a tenth, so that one of them makes no great name.
const MAX_COUNTED = 10_000_000n;
const countedSpending = ({ spent }: PayerCounts) => (spent < MAX_COUNTED ? spent : MAX_COUNTED);

const byName = ([one]: [string, unknown], [other]: [string, unknown]) => (one < other ? -1 : 1);

export async function findListing(sql: Reader, toolId: string): Promise<Listing | null> {
  const [row] = await sql.all("SELECT * FROM listings WHERE tool_id = $1", [toolId]);
  return row === undefined ? null : listingFrom(row);
}

// Where somebody who follows the changes is.
export type Place = Pick<Listing, "revision" | "toolId">;

// What has changed since then, oldest change first.
export async function listChanged(sql: Reader, { revision, toolId }: Place, limit: number): Promise<Listing[]> {
  const rows = await sql.all(
    `SELECT * FROM listings WHERE revision > $1 OR (revision = $1 AND tool_id > $2)
     ORDER BY revision, tool_id LIMIT $3`,
    [revision, toolId, limit],
  );
  return rows.map(listingFrom);
}

async function nextRevision(sql: Sql): Promise<number> {
  const [row] = await sql.all(
    "UPDATE revisions SET revision = revision + 1 WHERE name = 'listings' RETURNING revision",
  );
  return count(row ?? {}, "revision");
}

function listingFrom(row: Row): Listing {
  const reason = row.status_reason;
  return {
    toolId: text(row, "tool_id"),
    name: text(row, "name"),
    description: text(row, "description"),
    category: row.category === null ? null : (text(row, "category") as Category),
    endpoint: text(row, "endpoint"),
    defaultExecutePriceUsd: row.default_execute_usd === null ? null : text(row, "default_execute_usd"),
    executePrices: JSON.parse(text(row, "execute_prices")) as Record<string, string>,
    suggestedPrompts: JSON.parse(text(row, "suggested_prompts")) as SuggestedPrompt[],
    methods: JSON.parse(text(row, "methods")) as Method[],
    warnings: JSON.parse(text(row, "warnings")) as string[],
    owner: address(row, "owner"),
    price: amount(row, "price"),
    stake: amount(row, "stake"),
    requiredStake: amount(row, "required_stake"),
    status: text(row, "status") === "active" ? { kind: "active" } : { kind: "delisted", reason: String(reason) },
    isVerified: count(row, "verified") === 1,
    pings: count(row, "pings"),
    pingsAnswered: count(row, "pings_answered"),
    failuresInARow: count(row, "failures_in_a_row"),
    calls: count(row, "calls"),
    callsSucceeded: count(row, "calls_succeeded"),
    paidCalls: count(row, "paid_calls"),
    failedCalls: count(row, "failed_calls"),
    payers: count(row, "payers"),
    earned: amount(row, "earned"),
    registeredAtMs: count(row, "registered_at"),
    refreshedAtMs: count(row, "refreshed_at"),
    updatedAtMs: count(row, "updated_at"),
    revision: count(row, "revision"),
  };
}
