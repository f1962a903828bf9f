import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { type SignAnswersOptions, signAnswers } from "../marketplace/toolkit/index.ts";
import { answer, method } from "./method.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 100_000;

const date = (example: string) =>
  z.iso
    .date()
    .describe("a day, as YYYY-MM-DD")
    .meta({ examples: [example] });
const holidays = z
  .array(z.iso.date())
  .max(10_000)
  .default([])
  .describe("days on which nobody settles, beside weekends");

// Dates as contracts count them. Whoever relies on one wants somebody to answer for it, so its answers are signed: the one
// line is `signAnswers`.
export function createDates(signing?: SignAnswersOptions): McpServer {
  const plain = new McpServer({ name: "dates", version: "1.0.0" });
  const server = signing === undefined ? plain : signAnswers(plain, signing);

  server.registerTool(
    "settlement_date",
    method({
      description: "The day on which a trade settles: so many business days after it.",
      price: "0.005",
      input: { trade: date("2026-11-13"), days: z.number().int().min(0).max(60).default(2), holidays },
      output: { settlement: z.iso.date(), skipped: z.array(z.iso.date()) },
    }),
    ({ trade, days, holidays }) => {
      const closed = new Set(holidays);
      const skipped: string[] = [];
      let day = Date.parse(trade);
      for (let remaining = days, i = 0; (remaining > 0 || isClosed(day, closed)) && i < MAX_DAYS; i++) {
        if (isClosed(day, closed)) skipped.push(dayOf(day));
        day += DAY_MS;
        if (!isClosed(day, closed)) remaining--;
      }
      return answer({ settlement: dayOf(day), skipped });
    },
  );

  server.registerTool(
    "business_days",
    method({
      description: "How many business days lie between two days, the first included and the last not.",
      price: "0.005",
      input: { from: date("2026-11-02"), to: date("2026-11-16"), holidays },
      output: { days: z.number().int(), businessDays: z.number().int() },
    }),
    ({ from, to, holidays }) => {
      const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
      if (days < 0 || days > MAX_DAYS) throw new Error(`from must be before to, by at most ${MAX_DAYS} days`);
      const closed = new Set(holidays);
      const open = Array.from({ length: days }, (_, i) => Date.parse(from) + i * DAY_MS).filter(
        (day) => !isClosed(day, closed),
      );
      return answer({ days, businessDays: open.length });
    },
  );

  server.registerTool(
    "year_fraction",
    method({
      description: "The part of a year between two days, as interest is counted.",
      price: "0.005",
      input: {
        from: date("2026-01-31"),
        to: date("2026-07-31"),
        convention: z.enum(["30/360", "ACT/360", "ACT/365"]).default("ACT/365"),
      },
      output: { days: z.number().int(), fraction: z.number() },
    }),
    ({ from, to, convention }) => {
      const days = convention === "30/360" ? days360(from, to) : (Date.parse(to) - Date.parse(from)) / DAY_MS;
      return answer({ days, fraction: days / (convention === "ACT/365" ? 365 : 360) });
    },
  );

  return server;
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);

const isClosed = (day: number, holidays: ReadonlySet<string>) =>
  new Date(day).getUTCDay() % 6 === 0 || holidays.has(dayOf(day));

// Every month has 30 days; the 31st counts as the 30th, at the end only if the beginning does too.
function days360(from: string, to: string): number {
  const [fromYear = 0, fromMonth = 0, fromDay = 0] = from.split("-").map(Number);
  const [toYear = 0, toMonth = 0, toDay = 0] = to.split("-").map(Number);
  const start = Math.min(fromDay, 30);
  const end = start === 30 ? Math.min(toDay, 30) : toDay;
  return 360 * (toYear - fromYear) + 30 * (toMonth - fromMonth) + end - start;
}
