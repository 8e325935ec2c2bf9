/** A match of a search. */
interface Match {
  /** Counted from 1. */
  line: number;
  /** Character offset of the match in the whole text. */
  offset: number;
  /** The line, or the part of a long line around the match. */
  text: string;
}

/**
 * Finds the first match of a regular expression on each line of a text.
 *
 * Also sent as source text to the evaluator, so it uses nothing from outside itself.
 */
export function findMatches(text: string, source: string, flags: string, maxResults: number): Match[] {
  const excerptCharacters = 300;
  const pattern = new RegExp(source, flags);
  const matches: Match[] = [];
  let lineStart = 0;
  for (let line = 1; lineStart <= text.length && matches.length < maxResults; line += 1) {
    const newline = text.indexOf('\n', lineStart);
    const lineEnd = newline < 0 ? text.length : newline;
    const content = text.slice(lineStart, lineEnd);
    const match = pattern.exec(content);
    if (match !== null) {
      const from = Math.max(0, Math.min(match.index - 60, content.length - excerptCharacters));
      const excerpt = content.slice(from, from + excerptCharacters);
      matches.push({ line, offset: lineStart + match.index, text: excerpt });
    }
    lineStart = lineEnd + 1;
  }
  return matches;
}
