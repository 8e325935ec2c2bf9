import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approvalText } from './approval-text.js';
import type { SpendingRequest } from './policy.js';

const request: SpendingRequest = {
  kind: 'rental',
  agentId: 'a-aaaaaa',
  title: 'A',
  lamports: 12_345_678,
  maxRunLamports: 1,
};
/** Tricks of a title: quotation marks of all kinds, line ends, blanks, changes of direction, our own words. */
const nasty = fc.constantFrom(
  '"',
  '\u201d',
  '\uff02',
  '\n',
  '\r',
  '\u2028',
  '\u0085',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u3164',
  '\u2800',
  'Pay up to 0 lamports (0 SOL)',
  'x'.repeat(200),
);
const titles = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary' })), { maxLength: 12 })
  .map((parts) => parts.join(''));

describe('the question to a person', () => {
  it('begins with the amounts, for a rental and for a run [REN-4]', () => {
    expect(approvalText(request)).toBe(
      'Pay up to 12345678 lamports (0.012345678 SOL) out of the wallet, fees included?\n' +
        'Each run may then take up to 1 lamports (0.000000001 SOL) from the prepaid balance.\n' +
        'It rents the agent a-aaaaaa.\n' +
        `The agent's creator calls it: "A"`,
    );
    expect(approvalText({ kind: 'run', agentId: 'a-aaaaaa', title: 'A', lamports: 5 })).toBe(
      'Spend up to 5 lamports (0.000000005 SOL) from the prepaid balance for an agent?\n' +
        'It is one run of the agent a-aaaaaa.\n' +
        `The agent's creator calls it: "A"`,
    );
  });

  it('has any words of a creator only on its last line, short and inside quotation marks [REN-4]', () => {
    const plain = approvalText(request).split('\n');
    fc.assert(
      fc.property(titles, (title) => {
        const lines = approvalText({ ...request, title }).split(/[\n\r\u0085\u2028\u2029]/u);
        expect(lines.slice(0, -1)).toEqual(plain.slice(0, -1));
        const [, words] = /^The agent's creator calls it: "(.*)"$/u.exec(lines.at(-1) ?? '') ?? [];
        expect(words).toBeDefined();
        expect(words?.length).toBeLessThanOrEqual(80);
        expect(words).not.toMatch(/["\u201c-\u201f\uff02\u2800\u3164]|\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 500 },
    );
  });
});
