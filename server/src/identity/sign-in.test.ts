import { describe, expect, it } from 'vitest';
import { isSignInFor, signInFor } from './sign-in.js';

const wallet = '7o5JQKMq5qJ7FntBcZW6cyTxW9ZGpiXeKEYCHjCnfuPk';
const nonce = 'ab'.repeat(32);
const issuedAt = Date.parse('2026-01-05T10:00:00.000Z') / 1000;
const offered = signInFor({ origin: 'https://market.example:8443', network: 'devnet' }, wallet, {
  nonce,
  issuedAt,
  expiresAt: issuedAt + 60,
});
const now = new Date('2026-01-05T10:00:30.000Z');
const accepted = (text: string, at = now) => isSignInFor(text, offered, at);

/** What a wallet signs for the offer, as the Wallet Standard's specification writes it. */
const full = `market.example:8443 wants you to sign in with your Solana account:
${wallet}

Sign in to the agent rental marketplace.

URI: https://market.example:8443
Version: 1
Chain ID: solana:devnet
Nonce: ${nonce}
Issued At: 2026-01-05T10:00:00.000Z
Expiration Time: 2026-01-05T10:01:00.000Z`;
const headline = 'market.example:8443 wants you to sign in with your Solana account:';

describe('a sign-in message', () => {
  it('as the offer asks for it is accepted [ID-54]', () => {
    expect(accepted(full)).toBe(true);
  });

  it.each([
    ['nothing but the nonce', `${headline}\n${wallet}\n\nNonce: ${nonce}`],
    ['no statement', full.replace('\nSign in to the agent rental marketplace.\n', '')],
    ['another statement', full.replace('Sign in to the', 'I agree to the')],
    ['the short name of the chain', full.replace('solana:devnet', 'devnet')],
    ['a page of the site as URI', full.replace('8443\nVersion', '8443/dashboard\nVersion')],
    [
      'a request id and resources',
      `${full}\nRequest ID: 7\nResources:\n- https://a.example\n- https://b.example`,
    ],
    ['a time before which it is not valid', `${full}\nNot Before: 2026-01-05T10:00:10.000Z`],
    ['that time just reached', `${full}\nNot Before: 2026-01-05T10:00:30.000Z`],
  ])('with %s is accepted', (_, text) => {
    expect(accepted(text)).toBe(true);
  });

  it.each([
    ['of another domain', full.replace('market.example:8443 wants', 'evil.example wants')],
    ['of the domain on another port', full.replace('market.example:8443 wants', 'market.example wants')],
    ['of another wallet', full.replace(wallet, '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin')],
    ['with another nonce', full.replace(nonce, 'cd'.repeat(32))],
    ['without a nonce', full.replace(`\nNonce: ${nonce}`, '')],
    ['with a URI of another site', full.replace('URI: https://market', 'URI: https://evil')],
    [
      'with a URI whose site only begins like this one',
      full.replace('URI: https://market.example:8443', 'URI: https://market.example:8443@evil.example'),
    ],
    ['with a URI that is none', full.replace('URI: https://market.example:8443', 'URI: here')],
    ['of another version', full.replace('Version: 1', 'Version: 2')],
    ['for another chain', full.replace('solana:devnet', 'solana:mainnet')],
    ['issued after the challenge ended', full.replace('At: 2026-01-05T10:00:00', 'At: 2026-01-05T10:01:00')],
    ['that has expired', full.replace('Time: 2026-01-05T10:01:00', 'Time: 2026-01-05T10:00:30')],
    ['that expires at no time', full.replace('Time: 2026-01-05T10:01:00.000Z', 'Time: never')],
    [
      'that expires at a time of another form',
      full.replace('Time: 2026-01-05T10:01:00.000Z', 'Time: Jan 5 2030'),
    ],
    ['that is not valid yet', `${full}\nNot Before: 2026-01-05T10:00:31.000Z`],
    ['with a field twice', full.replace('Version: 1', 'Version: 1\nVersion: 1')],
    [
      'with fields in another order',
      full.replace('Version: 1\nChain ID: solana:devnet', 'Chain ID: solana:devnet\nVersion: 1'),
    ],
    ['with an unknown field', `${full}\nAdmin: true`],
    ['with a line after its resources', `${full}\nResources:\n- https://a.example\nAdmin: true`],
    ['with a line after it', `${full}\n`],
    ['with a line before it', `\n${full}`],
    ['with Windows line ends', full.replaceAll('\n', '\r\n')],
    [
      'whose statement has lines that look like fields',
      `${headline}\n${wallet}\n\nHello\nNonce: ${nonce}\n\nNonce: ${'cd'.repeat(32)}`,
    ],
    [
      'whose statement has a second line',
      `${headline}\n${wallet}\n\nHello\nNonce: ${'cd'.repeat(32)}\n\nNonce: ${nonce}`,
    ],
    ['without a blank line after the wallet', full.replace(`${wallet}\n\n`, `${wallet}\nHello\n`)],
    ['to sign in to something else', full.replace('Solana account', 'Wallet account')],
    ['whose nonce stands in the statement', `${headline}\n${wallet}\n\nHello Nonce: ${nonce}`],
    ['of one line', headline],
    ['that is empty', ''],
    ['that is the challenge itself', `agent-rental:auth:${issuedAt}:${nonce}`],
  ])('%s is refused', (_, text) => {
    expect(accepted(text)).toBe(false);
  });
});
