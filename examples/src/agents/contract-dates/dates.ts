import type { Sentence } from './sentences.js';

/** A date as it is written. `iso` is null when day and month cannot be told apart, or there is no such day. */
export interface ContractDate {
  line: number;
  text: string;
  iso: string | null;
  sentence: string;
}

/** A period of time, such as "within thirty (30) days after receipt of the invoice". */
export interface Deadline {
  line: number;
  text: string;
  amount: number;
  /** Singular, for instance `business day`. */
  unit: string;
  sentence: string;
}

const SENTENCE_SHOWN = 240;

const MONTH_NAMES = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(?:January|February|March|April|May|June|July|August|September|October|November|December|' +
  String.raw`(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)`;

/** Every way of writing a date that is read; the groups of one way share a number. */
const DATE = new RegExp(
  [
    String.raw`\b(?<y1>\d{4})-(?<m1>\d{2})-(?<d1>\d{2})\b`,
    String.raw`\b(?<d2>\d{1,2})(?:st|nd|rd|th)?\s{1,3}(?:day\s{1,3}of\s{1,3})?(?<m2>${MONTH}),?\s{1,3}(?<y2>\d{4})\b`,
    String.raw`\b(?<m3>${MONTH})\s{1,3}(?<d3>\d{1,2})(?:st|nd|rd|th)?,?\s{1,3}(?<y3>\d{4})\b`,
    String.raw`(?<![\d./])(?<a>\d{1,2})(?<separator>[/.])(?<b>\d{1,2})\k<separator>(?<y4>\d{4})(?!\d|[./]\d)`,
  ].join('|'),
  'gi',
);

const NUMBER_WORDS: [string, number][] = [
  ['one', 1],
  ['two', 2],
  ['three', 3],
  ['four', 4],
  ['five', 5],
  ['six', 6],
  ['seven', 7],
  ['eight', 8],
  ['nine', 9],
  ['ten', 10],
  ['eleven', 11],
  ['twelve', 12],
  ['fourteen', 14],
  ['fifteen', 15],
  ['eighteen', 18],
  ['twenty-one', 21],
  ['twenty-four', 24],
  ['twenty', 20],
  ['thirty-six', 36],
  ['thirty', 30],
  ['forty-five', 45],
  ['forty-eight', 48],
  ['sixty', 60],
  ['seventy-two', 72],
  ['ninety', 90],
];

/** A number, in figures or words or both, and a unit of time, with the words around it that say how it counts. */
const PERIOD = new RegExp(
  String.raw`\b(?:(?:within|not?\s{1,3}(?:later|more|less|fewer)\s{1,3}than|at\s{1,3}least|for|upon|on|after|every)\s{1,3})?` +
    String.raw`(?:an?\s{1,3}(?:initial\s{1,3})?(?:period|term)\s{1,3}of\s{1,3})?` +
    String.raw`(?:(?<word>${NUMBER_WORDS.map(([word]) => word).join('|')})\s{1,3}\(?)?(?<digits>(?<![\d.,/-])\d{1,4})?\)?\s{0,3}` +
    String.raw`(?<unit>(?:business\s{1,3}|working\s{1,3}|calendar\s{1,3})?(?:hour|day|week|month|year))s?\b['’]?` +
    String.raw`(?:\s{1,3}(?:of|after|from|before|prior\s{1,3}to|following|(?:prior\s{1,3})?(?:written\s{1,3})?notice)\b[^.;,]{0,80})?`,
  'gi',
);

/** Finds the dates of a sentence. */
export function datesIn({ line, text }: Sentence): ContractDate[] {
  return [...text.matchAll(DATE)].map((match) => ({
    line,
    text: match[0],
    iso: isoOf(match.groups ?? {}),
    sentence: text.slice(0, SENTENCE_SHOWN),
  }));
}

/** Finds the periods of a sentence. */
export function deadlinesIn({ line, text }: Sentence): Deadline[] {
  return [...text.matchAll(PERIOD)].flatMap((match) => {
    const { word, digits, unit } = match.groups ?? {};
    const spelled = NUMBER_WORDS.find(([known]) => known === word?.toLowerCase())?.[1];
    const amount = digits === undefined ? spelled : Number(digits);
    if (amount === undefined || unit === undefined) return [];
    const deadline: Deadline = {
      line,
      text: match[0].trim(),
      amount,
      unit: unit.toLowerCase().replace(/\s+/g, ' '),
      sentence: text.slice(0, SENTENCE_SHOWN),
    };
    return [deadline];
  });
}

function isoOf(groups: Record<string, string | undefined>): string | null {
  const { a, b, separator } = groups;
  if (a !== undefined && b !== undefined) {
    // 03/04/2025 is the third of April to some and the fourth of March to others; 03.04.2025 is not.
    const dayFirst = separator === '.' || Number(a) > 12 || a === b;
    if (!dayFirst && Number(b) <= 12) return null;
    return isoDate(groups['y4'], dayFirst ? b : a, dayFirst ? a : b);
  }
  const named = groups['m2'] ?? groups['m3'];
  const month = named && `${MONTH_NAMES.indexOf(named.slice(0, 3).toLowerCase()) + 1}`;
  return isoDate(
    groups['y1'] ?? groups['y2'] ?? groups['y3'],
    groups['m1'] ?? month,
    groups['d1'] ?? groups['d2'] ?? groups['d3'],
  );
}

/** The date as ISO 8601, or null for one such as 31 June. */
function isoDate(year = '', month = '', day = ''): string | null {
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = Date.parse(`${iso}T00:00:00Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(iso) ? iso : null;
}
