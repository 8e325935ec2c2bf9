import type { Sentence } from './sentences.js';

/** A duty or prohibition of a party. `party` is null where the sentence names none before the verb. */
export interface Duty {
  line: number;
  party: string | null;
  prohibited: boolean;
  duty: string;
}

const DUTY_SHOWN = 400;

const DUTY_VERB =
  /\b(?:shall|must|agrees?\s{1,3}(?:not\s{1,3})?to|undertakes?\s{1,3}(?:not\s{1,3})?to|(?:is|are)\s{1,3}(?:required|obliged|obligated)\s{1,3}to|may\s{1,3}not)\b/gi;

/** Phrases with `shall` that define or interpret and oblige no party. */
const NO_DUTY =
  /^shall\s{1,3}(?:mean|have\s{1,3}the\s{1,3}meaning|be\s{1,3}(?:deemed|construed|governed))\b/i;

const ROLES =
  'Service Provider|Supplier|Customer|Client|Contractor|Subcontractor|Consultant|Landlord|Tenant|Lessor|Lessee|' +
  'Licensor|Licensee|Buyer|Seller|Purchaser|Vendor|Employer|Employee|Provider|Company|Borrower|Lender|Guarantor|' +
  'Recipient|Receiving Party|Disclosing Party|Processor|Controller|Distributor|Agent|Principal';
const EVERYONE =
  '(?:each|either|neither|every|any|no|the other)\\s{1,3}party|(?:both\\s{1,3}|the\\s{1,3})?parties';

const DEFINITION =
  /\(\s{0,3}(?:hereinafter,?\s{1,3})?(?:referred\s{1,3}to\s{1,3}as\s{1,3})?(?:the\s{1,3})?["“'‘](?:the\s{1,3})?(\p{Lu}[\p{L}\d&.-]{1,30}(?: [\p{L}\d&.-]{1,30}){0,3})["”'’]\s{0,3}\)/gu;

/** Last words of defined terms that are things. */
const THINGS =
  /(?:Agreement|Contract|Services?|Fees?|Goods|Products?|Terms?|Deliverables?|Date|Information|Software|Premises|Property|Schedule|Project|Price|Period|Amounts?|Data|Work|Works|System|Site|Deposit|Rent|Territory|Purpose)$/;

/** The names that a contract gives its parties: `(the "Supplier")`, and usual roles that it mentions. */
export function partiesOf(text: string): string[] {
  const defined = [...text.matchAll(DEFINITION)].map((match) => match[1] ?? '');
  const roles = text.match(new RegExp(String.raw`\b(?:${ROLES})\b`, 'g')) ?? [];
  const parties = new Set([...defined, ...roles].filter((name) => name !== '' && !THINGS.test(name)));
  return [...parties].slice(0, 50);
}

/** Finds duties in sentences, given the names of the parties. */
export function dutyFinder(parties: readonly string[]): (sentence: Sentence) => Duty[] {
  const names = parties.map((name) => name.replaceAll('.', String.raw`\.`));
  const longestFirst = names.sort((a, b) => b.length - a.length);
  const named = longestFirst.length > 0 ? `|(?:${longestFirst.join('|')})` : '';
  // "the Supplier's obligations shall" names no duty of the Supplier, hence no possessive.
  const mention = new RegExp(
    String.raw`(?<![\p{L}\d])(?:(?:${EVERYONE})${named})(?![\p{L}\d]|['’]s?\b)`,
    'giu',
  );

  return ({ line, text }) => {
    const verbs = [...text.matchAll(DUTY_VERB)];
    const duties: Duty[] = [];
    let subjectFrom = 0;
    let party: string | null = null;
    for (const [index, verb] of verbs.entries()) {
      // A second verb without a subject, "shall deliver and shall install", keeps the first one's.
      party = subjectOf(text.slice(subjectFrom, verb.index), mention) ?? (index > 0 ? party : null);
      const next = verbs[index + 1]?.index;
      const upToNext = text.slice(verb.index, next);
      subjectFrom = verb.index + verb[0].length;
      if (NO_DUTY.test(upToNext)) continue;
      const duty = next === undefined ? upToNext : withoutNextSubject(upToNext);
      const prohibited =
        /\bnot\b/i.test(verb[0]) ||
        /^(?:shall|must)\s{1,3}(?:not|never)\b/i.test(duty) ||
        /^(?:neither|no)\b/i.test(party ?? '');
      duties.push({ line, party, prohibited, duty: duty.trim().slice(0, DUTY_SHOWN) });
    }
    return duties;
  };
}

/**
 * The party that is the subject of a verb, from the words before it. "If the Customer is late, the Supplier, at its own
 * cost, shall" gives Supplier. Words between commas right before the verb are skipped. Then words after the last comma
 * count first.
 */
function subjectOf(before: string, mention: RegExp): string | null {
  let words = before.trim();
  while (words.endsWith(',')) {
    const opening = words.lastIndexOf(',', words.length - 2);
    words = words.slice(0, opening < 0 ? -1 : opening).trim();
  }
  const clause = words.slice(words.lastIndexOf(',') + 1);
  for (const part of [clause, words]) {
    const last = [...part.matchAll(mention)].at(-1);
    if (last !== undefined) return last[0].replace(/\s+/g, ' ').replace(/^the /i, '');
  }
  return null;
}

/** "shall deliver the goods and the Customer", before another "shall", gives "shall deliver the goods". */
function withoutNextSubject(duty: string): string {
  const joint = [...duty.matchAll(/[,;]?\s*\b(?:and|but|or)\b|[,;]/gi)].at(-1);
  return joint === undefined ? duty : duty.slice(0, joint.index);
}
