import pg from "pg";

// Counts how often PostgreSQL is asked something, from now on until the count is asked for.
export function countBursts(): () => number {
  const original = pg.Client.prototype.query;
  let bursts = 0;
  pg.Client.prototype.query = function query(this: pg.Client, ...args: unknown[]) {
    bursts += 1;
    return Reflect.apply(original, this, args);
  } as typeof original;
  return () => {
    pg.Client.prototype.query = original;
    return bursts;
  };
}
