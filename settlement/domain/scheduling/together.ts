// Waits for all of them, even if one fails: nothing goes on behind the back of whoever has asked.
export async function together<T extends readonly unknown[]>(
  work: readonly [...T],
): Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }> {
  const ends = await Promise.allSettled(work);
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return Promise.all(work) as Promise<{ -readonly [I in keyof T]: Awaited<T[I]> }>;
}
