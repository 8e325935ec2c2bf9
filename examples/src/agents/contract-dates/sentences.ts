/** A sentence of a text and the line it begins on, the first being 1. */
export interface Sentence {
  line: number;
  text: string;
}

/** A text without a full stop is cut here, so that no pattern ever sees a very long string. */
const LONGEST = 4_000;

const CLAUSE_START = /^\s*(?:\d{1,3}(?:\.\d{1,3}){0,5}[.)]?|\([a-z]{1,4}\)|[A-Z][.)]|[-•*])\s/;
const SENTENCE_END = /[.;!?]["”’)\]]?\s+(?=["“‘([]?[\p{Lu}\d])/gu;
const ABBREVIATION =
  /(?:\b(?:No|Nos|Inc|Ltd|Co|Corp|Mr|Mrs|Ms|Dr|Art|Sec|Cl|Para|vs|approx|St|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)|\be\.g|\bi\.e|\b\p{Lu}|^\s*\d{1,3}(?:\.\d{1,3})*)\.\s+$/u;

/** Splits a contract into sentences: at full stops and semicolons, blank lines, and numbered clauses. */
export function splitSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let block = '';
  let starts: { offset: number; line: number }[] = [];
  const flush = () => {
    sentences.push(...splitBlock(block, starts));
    block = '';
    starts = [];
  };
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '' || CLAUSE_START.test(line)) flush();
    for (let from = 0; from < line.length; from += LONGEST) {
      const piece = line.slice(from, from + LONGEST);
      if (block.length + piece.length > LONGEST) flush();
      starts.push({ offset: block.length, line: index + 1 });
      block += `${piece.trim()} `;
    }
  }
  flush();
  return sentences;
}

function splitBlock(block: string, starts: { offset: number; line: number }[]): Sentence[] {
  const sentences: Sentence[] = [];
  let from = 0;
  let at = 0;
  const push = (end: number) => {
    while ((starts[at + 1]?.offset ?? Infinity) <= from) at += 1;
    const text = block.slice(from, end).trim();
    if (text !== '') sentences.push({ line: starts[at]?.line ?? 1, text });
    from = end;
  };
  for (const { 0: mark, index } of block.matchAll(SENTENCE_END)) {
    const end = index + mark.length;
    if (!ABBREVIATION.test(block.slice(Math.max(from, end - 30), end))) push(end);
  }
  push(block.length);
  return sentences;
}
