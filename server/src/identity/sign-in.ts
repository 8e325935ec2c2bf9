import type { SignInInput } from '@agent-rental/contract';

/** The site that a wallet signs in to. */
export interface SignInSite {
  /** For instance `https://marketplace.example`. */
  origin: string;
  network: 'localnet' | 'devnet' | 'mainnet';
}

const HEADLINE = ' wants you to sign in with your Solana account:';
const FIELDS = [
  'URI',
  'Version',
  'Chain ID',
  'Nonce',
  'Issued At',
  'Expiration Time',
  'Not Before',
  'Request ID',
] as const;
const RESOURCES = 'Resources:';

/** A Sign In With Solana message, taken apart. */
interface SignInMessage {
  domain: string;
  address: string;
  fields: Partial<Record<(typeof FIELDS)[number], string>>;
}

/** The input of the Wallet Standard's `solana:signIn`, without changes. */
export function signInFor(
  site: SignInSite,
  wallet: string,
  { nonce, issuedAt, expiresAt }: { nonce: string; issuedAt: number; expiresAt: number },
): SignInInput {
  return {
    domain: new URL(site.origin).host,
    address: wallet,
    statement: 'Sign in to the agent rental marketplace.',
    uri: site.origin,
    version: '1',
    chainId: `solana:${site.network}`,
    nonce,
    issuedAt: new Date(issuedAt * 1000).toISOString(),
    expirationTime: new Date(expiresAt * 1000).toISOString(),
  };
}

/**
 * Whether a message has the offered values: this site, this wallet, and the nonce of one challenge. Optional fields
 * must match where they are present. Additional fields are ignored.
 */
export function isSignInFor(text: string, offered: SignInInput, now: Date): boolean {
  const message = parseSignInMessage(text);
  if (!message) return false;
  const { domain, address, fields } = message;
  if (domain !== offered.domain || address !== offered.address || fields.Nonce !== offered.nonce)
    return false;
  const chain = fields['Chain ID'];
  const issuedAt = timeOf(fields['Issued At']);
  const expiresAt = timeOf(fields['Expiration Time']);
  const notBefore = timeOf(fields['Not Before']);
  return (
    (fields.URI === undefined || isWithin(fields.URI, offered.uri)) &&
    (fields.Version === undefined || fields.Version === offered.version) &&
    (chain === undefined || chain === offered.chainId || `solana:${chain}` === offered.chainId) &&
    // A wallet's clock may be off: only the challenge's own expiry counts.
    (issuedAt === undefined || issuedAt < Date.parse(offered.expirationTime)) &&
    (expiresAt === undefined || expiresAt > now.getTime()) &&
    (notBefore === undefined || notBefore <= now.getTime())
  );
}

/**
 * Reads a message line by line: headline, address, a statement of one line, then the fields in their order,
 * each at most once. A statement of several lines is refused, because it could look like fields.
 */
function parseSignInMessage(text: string): SignInMessage | undefined {
  const lines = text.split('\n');
  const [headline = '', address = ''] = lines;
  if (!headline.endsWith(HEADLINE)) return undefined;
  let rest = lines.slice(2);
  // Blank line, statement, blank line; or a blank line alone before the fields.
  if (rest.length > 0 && rest.shift() !== '') return undefined;
  if (rest.length > 0 && !isField(rest[0] ?? '')) {
    rest.shift();
    if (rest.length > 0 && rest.shift() !== '') return undefined;
  }
  const fields: SignInMessage['fields'] = {};
  for (const name of FIELDS) {
    if (!rest[0]?.startsWith(`${name}: `)) continue;
    fields[name] = rest[0].slice(name.length + 2);
    rest = rest.slice(1);
  }
  if (rest[0] === RESOURCES) rest = rest.slice(1).filter((line) => !line.startsWith('- '));
  if (rest.length > 0) return undefined;
  return { domain: headline.slice(0, -HEADLINE.length), address, fields };
}

function isField(line: string): boolean {
  return line === RESOURCES || FIELDS.some((name) => line.startsWith(`${name}: `));
}

/** Milliseconds. NaN for a text that is no time: every comparison with it fails. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
}

function isWithin(uri: string, origin: string): boolean {
  return URL.canParse(uri) && new URL(uri).origin === new URL(origin).origin;
}
