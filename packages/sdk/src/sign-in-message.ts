import type { SignInInput } from '@agent-rental/contract';
import { UntrustedChallengeError, type ReadChallenge } from './challenge.js';

/** Loopback names of this machine. */
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Longest validity of a signed login. */
const MOST_SECONDS = 300;
const STATEMENT = 'Sign in to the agent rental marketplace.';
const CHAIN = /^solana:(?:localnet|devnet|mainnet)$/;

/** The expected wallet and domain of a sign-in. */
export interface SignInSite {
  /** Host, and port if there is one. */
  readonly domain: string;
  /** Base58. */
  readonly wallet: string;
}

/**
 * Makes the sign-in message for this site, this wallet and one challenge, as input of `solana:signIn`. It has only checked
 * fields of the service's offer. With a message for another marketplace this service could log in there.
 *
 * @throws UntrustedChallengeError if the offer is for another site, wallet, challenge or time
 */
export function checkedSignIn(
  offered: SignInInput | undefined,
  challenge: ReadChallenge,
  { domain: own, wallet }: SignInSite,
): SignInInput {
  if (offered === undefined) {
    throw new UntrustedChallengeError('the service offers no sign-in message that names its domain.');
  }
  const { domain } = offered;
  if (!isSameSite(domain, own)) {
    throw new UntrustedChallengeError(
      `the service asks to sign in to ${shown(domain)}, and is reached as ${own}. If ${shown(domain)} is the ` +
        'marketplace that you mean, give it to the client as domain.',
    );
  }
  const [issuedMs, endMs] = [Date.parse(offered.issuedAt), Date.parse(offered.expirationTime)];
  const isAsKnown =
    offered.address === wallet &&
    isOrigin(offered.uri, domain) &&
    offered.nonce === challenge.nonce &&
    CHAIN.test(offered.chainId) &&
    issuedMs === challenge.issuedAt * 1000 &&
    endMs > issuedMs &&
    endMs <= issuedMs + MOST_SECONDS * 1000;
  if (!isAsKnown) {
    throw new UntrustedChallengeError('the sign-in message is not for this wallet, challenge and time.');
  }
  return {
    domain,
    address: wallet,
    statement: STATEMENT,
    uri: new URL(offered.uri).origin,
    version: '1',
    chainId: offered.chainId,
    nonce: challenge.nonce,
    issuedAt: new Date(issuedMs).toISOString(),
    expirationTime: new Date(endMs).toISOString(),
  };
}

/** The text of a Sign In With Solana message, for a wallet that signs only texts. */
export function signInText(input: SignInInput): string {
  return [
    `${input.domain} wants you to sign in with your Solana account:`,
    input.address,
    '',
    input.statement,
    '',
    `URI: ${input.uri}`,
    `Version: ${input.version}`,
    `Chain ID: ${input.chainId}`,
    `Nonce: ${input.nonce}`,
    `Issued At: ${input.issuedAt}`,
    `Expiration Time: ${input.expirationTime}`,
  ].join('\n');
}

/** Whether two domains are the same host and port, or both on this machine, where ports may be forwarded. */
function isSameSite(domain: string, own: string): boolean {
  return domain === own || (isLoopback(domain) && isLoopback(own));
}

function isLoopback(domain: string): boolean {
  return LOOPBACK.has(domain.replace(/:\d{1,5}$/, ''));
}

function isOrigin(uri: string, domain: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { host, protocol } = new URL(uri);
  return host === domain && (protocol === 'https:' || protocol === 'http:');
}

/** Text of the service for an error message: short, without control characters. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
