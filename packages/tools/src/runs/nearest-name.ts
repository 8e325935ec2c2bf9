/** Highest number of edits between a name and its misspelling. */
const MAX_EDITS = 2;

/** The name that is nearest to a wrong one by its letters; undefined if none is near. */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const given = plainName(wrong);
  if (given === '') return undefined;
  return (
    names.find((name) => plainName(name) === given) ??
    names.find((name) => plainName(name).startsWith(given) || given.startsWith(plainName(name))) ??
    names.find((name) => edits(plainName(name), given) <= Math.min(MAX_EDITS, given.length - 2)) ??
    names.find((name) => wordsOf(name).some((word) => wordsOf(wrong).includes(word)))
  );
}

/** A name's letters and digits, in lower case. */
export function plainName(name: string): string {
  return wordsOf(name).join('');
}

/** The words of a name in snake, kebab or camel case. */
function wordsOf(name: string): string[] {
  return (
    name
      .slice(0, 60)
      .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}

/** The Levenshtein distance of two names. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const change = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min(change, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
