import type { Session } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { h } from "../page/dom.ts";
import { count, size, usd } from "../page/format.ts";
import { badge, type Column, meter, money, offsetOf, page, pages, since, table, toPayer, when } from "../page/parts.ts";
import { view } from "../view.ts";

const PAGE = 50;

export const sessions = view<{ sessions: Session[] }>({
  title: "Sessions",
  needsLogin: true,
  load: ({ options }) => ask(`/v1/sessions?limit=${PAGE}&offset=${offsetOf(options)}`),
  draw: ({ sessions: rows }, { options }) =>
    page(
      "Sessions",
      sessionsTable("Sessions, newest first", rows, { isTitled: false }),
      pages("sessions", offsetOf(options), rows.length, PAGE),
    ),
});

export function sessionsTable(caption: string, rows: readonly Session[], { isTitled = true, ofOne = false } = {}) {
  const columns: Column<Session>[] = [
    { name: "Session", cell: ({ sessionId }) => h("code", { class: "name", title: sessionId }, sessionId) },
    { name: "Status", cell: ({ status }) => badge(status) },
    { name: "Payer", wide: true, cell: ({ payer }) => toPayer(payer) },
    { name: "Spent", numeric: true, cell: ({ spent }) => usd(spent) },
    { name: "Of", numeric: true, cell: ({ maxSpend }) => usd(maxSpend) },
    {
      name: "Budget",
      wide: true,
      cell: ({ spent, remaining, maxSpend }) => {
        const held = size(maxSpend) - size(spent) - size(remaining);
        return meter(
          [
            { part: size(spent), class: "settled" },
            { part: held, class: "pending" },
          ],
          size(maxSpend),
        );
      },
    },
    { name: "Waiting", numeric: true, wide: true, cell: ({ pendingAccruedUsd }) => money(pendingAccruedUsd) },
    { name: "Calls waiting", numeric: true, wide: true, cell: ({ pendingAccruedCount }) => count(pendingAccruedCount) },
    { name: "Opened", numeric: true, wide: true, cell: ({ openedAt }) => since(openedAt) },
    { name: "Ends", numeric: true, wide: true, cell: ({ expiresAt }) => when(expiresAt) },
  ];
  return table({
    caption,
    isTitled,
    rows,
    keyOf: ({ sessionId }) => sessionId,
    empty: "No session yet. One is opened with POST /v1/sessions, or by a payer with its API key.",
    columns: ofOne ? columns.filter(({ name }) => name !== "Payer") : columns,
  });
}
