import { describe, expect, it } from 'vitest';
import { listingIdOf, RESERVED_TOOL_NAMES, TOOL_NAME_MAX_LENGTH, toolName } from './tool-name.js';

describe('toolName', () => {
  it('is the listing id with underscores', async () => {
    expect(await toolName('invoice-reader-k3x7qa')).toBe('invoice_reader_k3x7qa');
  });

  it.each([
    '9-lives-aaaaaa',
    'search_listings',
    'run-agent',
    '',
    'ÄÖÜ',
    'x'.repeat(200),
    '-',
    'a b',
    'A-aaaaaa',
  ])('is safe for every provider with any id (%j)', async (id) => {
    const name = await toolName(id);
    expect(name).toMatch(/^[a-z][a-z0-9_]{0,39}$/);
    expect(name.length).toBeLessThanOrEqual(TOOL_NAME_MAX_LENGTH);
    expect(RESERVED_TOOL_NAMES.has(name)).toBe(false);
    expect(await toolName(id)).toBe(name);
  });

  it('differs for ids that would read alike', async () => {
    const ids = [
      '9-lives-aaaaaa',
      'lives-aaaaaa',
      'a-9-lives-aaaaaa',
      '8-lives-aaaaaa',
      'lives_aaaaaa',
      'Lives-aaaaaa',
    ];
    const names = await Promise.all(ids.map(toolName));
    expect(new Set(names).size).toBe(ids.length);
  });

  it.each(['invoice-reader-k3x7qa', 'a-1-2-aaaaaa'])('tells the listing id again (%s)', async (id) => {
    expect(listingIdOf(await toolName(id))).toBe(id);
  });

  it('has no listing id if it is not an id with underscores', async () => {
    for (const id of ['9-lives-aaaaaa', 'Lives-aaaaaa', 'lives', `${'x'.repeat(40)}-aaaaaa`])
      expect(listingIdOf(await toolName(id))).toBeUndefined();
    for (const name of [
      ...RESERVED_TOOL_NAMES,
      'invoice-reader-k3x7qa',
      'Invoice_reader_k3x7qa',
      '',
      '_aaaaaa',
    ])
      expect(listingIdOf(name)).toBeUndefined();
  });

  it('cannot be another tool: ids end in six base32 characters and no reserved name does', () => {
    for (const name of RESERVED_TOOL_NAMES) expect(name).not.toMatch(/_[a-z2-7]{6}$/);
  });
});
