import pg from "pg";

// Longer than any server takes to end a connection.
const END_MS = 30_000;

// Everything but the rows: tables, indices, and what is set for the database.
const SHAPE = `
  SELECT
    (SELECT string_agg(pg_describe_object('pg_class'::regclass, oid, 0) || ' ' || relnatts, ', ' ORDER BY relname)
     FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations,
    (SELECT COUNT(*) FROM pg_db_role_setting
     WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())) AS settings`;

const shapes = new Map<string, Promise<string>>();

// Empties the tables of a copy of a template for the next test, which takes a small part of the time of another copy. False if that
// cannot be, because somebody has changed more than rows.
export async function emptyDatabase(server: string, name: string, template: string): Promise<boolean> {
  return withClient(`${server}/${name}`, async (client) => {
    await client.query(
      `SELECT pg_terminate_backend(pid, ${END_MS}) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    const expected = shapes.get(template) ?? withClient(`${server}/${template}`, shapeOf);
    shapes.set(template, expected);
    if ((await shapeOf(client)) !== (await expected)) return false;
    const { rows } = await client.query<{ tablename: string }>(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'",
    );
    const deletions = rows.map(({ tablename }) => `DELETE FROM ${tablename};`).join(" ");
    // In whatever order, because all of them are emptied.
    await client.query(`SET session_replication_role = replica; ${deletions}`);
    return true;
  });
}

const shapeOf = async (client: pg.Client) => JSON.stringify((await client.query(SHAPE)).rows);

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
