/** The place of a likely secret in a value. It never holds the secret. */
export interface FoundSecret {
  /** Dotted, as in `listing.sample_output.0`. */
  readonly path: string;
  /** The likely kind, for instance "a key of OpenAI". */
  readonly kind: string;
}

/** The most places that are reported. More places have the same mistake. */
const MOST_FOUND = 20;
const LONGEST_PATH = 200;
/** Different characters of a real secret, at least. A placeholder repeats few. */
const LEAST_DISTINCT = 8;

/** No form is shorter. */
const SHORTEST = 20;
/** Each match has one of these. A text without them is read once, and not once for each form. */
const MARKS = /sk-|A[KS]IA|gh[pousr]_|github_pat_|ark_|whsec_|eyJ|-----BEGIN|\[/;

/** A match starts at the start of a word, so that each text is read once. */
const START = '(?<![\\w-])';

/**
 * Well-known forms, the more special one first. A fixed form has no placeholders. A mixed form has capitals and digits, which
 * words lack.
 */
const FORMS: readonly { kind: string; form: RegExp; isFixed?: true; isMixed?: true }[] = [
  { kind: 'a key of Anthropic', form: new RegExp(`${START}sk-ant-[\\w-]{20,}`, 'g'), isMixed: true },
  { kind: 'a key of OpenAI', form: new RegExp(`${START}sk-[\\w-]{20,}`, 'g'), isMixed: true },
  { kind: 'an access key of AWS', form: new RegExp(`${START}(?:AKIA|ASIA)[A-Z0-9]{16}(?![\\w-])`, 'g') },
  {
    kind: 'a token of GitHub',
    form: new RegExp(`${START}(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\\w{30,})`, 'g'),
  },
  { kind: 'an API key of this marketplace', form: new RegExp(`${START}ark_(?:dev|live)_\\w{16,}`, 'g') },
  { kind: 'a webhook secret', form: new RegExp(`${START}whsec_[\\w+/=]{20,}`, 'g') },
  {
    kind: 'a token (JWT)',
    form: new RegExp(`${START}eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]{16,}`, 'g'),
  },
  { kind: 'a private key', form: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g, isFixed: true },
  {
    kind: 'the key of a Solana wallet',
    form: /\[\s{0,20}(?:\d{1,3}\s{0,20},\s{0,20}){63}\d{1,3}\s{0,20}\]/g,
    isFixed: true,
  },
];

/**
 * Finds likely secrets: keys of OpenAI, Anthropic, AWS, GitHub and this marketplace, private keys, keys of Solana wallets and
 * JWTs. Placeholders and examples of documentation are no secrets.
 *
 * @param path of the value itself; empty for a whole body
 */
export function findSecrets(value: unknown, path = ''): FoundSecret[] {
  const found: FoundSecret[] = [];
  const waiting: { value: unknown; path: string }[] = [{ value, path }];
  while (waiting.length > 0 && found.length < MOST_FOUND) {
    const next = waiting.pop();
    if (next === undefined) break;
    if (typeof next.value === 'string') {
      const kind = kindOf(next.value);
      if (kind !== undefined) found.push({ path: next.path, kind });
    } else if (isWalletKey(next.value)) {
      found.push({ path: next.path, kind: 'the key of a Solana wallet' });
    } else if (typeof next.value === 'object' && next.value !== null) {
      for (const [name, member] of Object.entries(next.value).toReversed()) {
        // The name of a member may be a secret, too, and is never repeated.
        const kind = kindOf(name);
        if (kind !== undefined) found.push({ path: next.path, kind });
        const below = next.path === '' ? name : `${next.path}.${name}`;
        waiting.push({
          value: member,
          path: kind === undefined && below.length <= LONGEST_PATH ? below : next.path,
        });
      }
    }
  }
  return found.slice(0, MOST_FOUND);
}

function kindOf(text: string): string | undefined {
  if (text.length < SHORTEST || !MARKS.test(text)) return undefined;
  for (const { kind, form, isFixed, isMixed } of FORMS) {
    for (const [match] of text.matchAll(form)) {
      if (isMixed === true && !(/\d/.test(match) && /[A-Z]/.test(match))) continue;
      if (isFixed === true || (new Set(match).size >= LEAST_DISTINCT && !match.includes('EXAMPLE')))
        return kind;
    }
  }
  return undefined;
}

/** A keypair file of Solana's tools: 64 bytes as numbers. */
function isWalletKey(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 64 &&
    value.every((byte) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255) &&
    new Set(value).size >= LEAST_DISTINCT
  );
}
