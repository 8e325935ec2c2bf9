/** Works on items, so many at a time, in their order. Gives the results in the same order. */
export async function inParallel<Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = [...items].entries();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [index, item] of entries) results[index] = await work(item, index);
    }),
  );
  return results;
}
