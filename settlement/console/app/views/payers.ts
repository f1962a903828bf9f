import type { Exposure } from "../api/answers.ts";
import { ask } from "../api/ask.ts";
import { size } from "../page/format.ts";
import { badge, money, offsetOf, page, pages, table, toPayer } from "../page/parts.ts";
import { view } from "../view.ts";

const PAGE = 100;

export const payers = view<{ payers: Exposure[] }>({
  title: "Payers",
  needsLogin: true,
  load: ({ options }) => ask(`/v1/payers?limit=${PAGE}&offset=${offsetOf(options)}`),
  draw: ({ payers: rows }, { options }) =>
    page(
      "Payers",
      table({
        caption: "Payers, those with debts first",
        isTitled: false,
        rows,
        keyOf: ({ payer }) => payer,
        empty: "Nobody was charged yet.",
        columns: [
          { name: "Payer", cell: ({ payer }) => toPayer(payer) },
          {
            name: "",
            wide: true,
            cell: ({ debtUsd }) =>
              size(debtUsd) > 0 ? badge("refused until paid", "bad") : badge("may spend", "good"),
          },
          { name: "Pending", numeric: true, cell: ({ pendingUsd }) => money(pendingUsd) },
          { name: "Reserved", numeric: true, wide: true, cell: ({ heldUsd }) => money(heldUsd) },
          { name: "Debt", numeric: true, cell: ({ debtUsd }) => money(debtUsd) },
        ],
      }),
      pages("payers", offsetOf(options), rows.length, PAGE),
    ),
});
