// A view says what to ask and draws the answer; everything else (asking again, logging in, errors, focus) is done for it.
export type View<T = unknown> = {
  title: string;
  // Whether it shows something of a single payer.
  needsLogin?: boolean;
  load: (place: Place) => Promise<T>;
  draw: (data: T, place: Place, page: Page) => HTMLElement;
  // Whether nothing of this can change any more, so that asking again is of no use.
  isDone?: (data: T) => boolean;
  everyMs?: number;
};

// Where the reader is: #/batches/0x12?minutes=60 has the name "batches", the id "0x12" and one option.
export type Place = { name: string; id: string | null; options: URLSearchParams };

export type Page = {
  // Draws the same data again, for instance with another cursor.
  redraw(): void;
  // Asks again.
  reload(): void;
};

export const view = <T>(definition: View<T>): View => definition as View;
