import { datesIn, deadlinesIn, type ContractDate, type Deadline } from './dates.js';
import { dutyFinder, partiesOf, type Duty } from './duties.js';
import { splitSentences } from './sentences.js';

/**
 * The dates, periods and duties of a contract, found by wording and not by meaning. Every listed item is in the text, word
 * for word. Unusual wording may be missing.
 */
interface ContractReading {
  ok: boolean;
  summary: string;
  parties: string[];
  dates: ContractDate[];
  deadlines: Deadline[];
  duties: Duty[];
  /** How many entries of all three lists were left out because a list was too long. */
  omitted: number;
}

/** Longest list in an answer. */
const MOST_ENTRIES = 200;

/** Reads a contract given as text or as `{text}`. Never throws: whatever else arrives gets a message. */
export function readContract(input: unknown): ContractReading {
  const text = typeof input === 'string' ? input : (Object(input) as { text?: unknown }).text;
  if (typeof text !== 'string' || text.trim() === '') {
    const summary = 'Send the text of the contract, as it is or as {"text": "..."}.';
    return { ok: false, summary, parties: [], dates: [], deadlines: [], duties: [], omitted: 0 };
  }
  const sentences = splitSentences(text);
  const parties = partiesOf(text);
  const dates = sentences.flatMap(datesIn);
  const deadlines = sentences.flatMap(deadlinesIn);
  const duties = sentences.flatMap(dutyFinder(parties));
  const omitted = [dates, deadlines, duties].map((list) => Math.max(0, list.length - MOST_ENTRIES));
  return {
    ok: true,
    summary: `${sentences.length} sentences: ${dates.length} dates, ${deadlines.length} deadlines, ${duties.length} duties.`,
    parties,
    dates: dates.slice(0, MOST_ENTRIES),
    deadlines: deadlines.slice(0, MOST_ENTRIES),
    duties: duties.slice(0, MOST_ENTRIES),
    omitted: omitted.reduce((sum, count) => sum + count, 0),
  };
}
