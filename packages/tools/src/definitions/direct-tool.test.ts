import type { JsonObject } from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { defineDirectTool } from './direct-tool.js';
import type { DescribedListing } from './direct-tool-definition.js';

const LISTING: DescribedListing = {
  id: 'echo-aaaaaa',
  title: 'Echo',
  description: 'Says it again.',
  rental_model: 'per_query',
  price_lamports: 2_000_000,
  input_schema: { type: 'object', properties: { text: { type: 'string', minLength: 1 } } },
};

describe("a direct tool's definition", () => {
  it('is made once of the same words and schema', async () => {
    const first = await defineDirectTool(LISTING);
    expect(await defineDirectTool(structuredClone(LISTING))).toBe(first);
  });

  it('says that an agent fails, in the words of the marketplace, before its creator’s [REG-142]', async () => {
    const { description } = await defineDirectTool({ ...LISTING, failing_since: '2026-01-05T10:00:00.000Z' });
    expect(description).toMatch(/have failed since 2026-01-05\. Its creator says: /);
    expect((await defineDirectTool(LISTING)).description).not.toContain('It fails');
  });

  it.each(['valueOf', 'toString', 'constructor', '__proto__', 'hasOwnProperty', 'toJSON'])(
    'is made of a schema with a member called %s, and once',
    async (name) => {
      const schema = `{"type":"object","properties":{"${name}":{"type":"string"}}}`;
      const listing = () => ({ ...LISTING, input_schema: JSON.parse(schema) as JsonObject });
      const first = await defineDirectTool(listing());
      expect(await defineDirectTool(listing())).toBe(first);
    },
  );

  it.each<Partial<DescribedListing>>([
    { title: 'Echoes' },
    { description: 'Says it twice.' },
    { rental_model: 'one_time' },
    { price_lamports: 3_000_000 },
    { failing_since: '2026-01-05T10:00:00.000Z' },
    { input_schema: { type: 'object', properties: { text: { type: 'string', minLength: 2 } } } },
  ])('differs if the listing differs (%j)', async (change) => {
    const first = await defineDirectTool(LISTING);
    const second = await defineDirectTool({ ...LISTING, ...change });
    expect({ ...second, input: second.input.schema }).not.toEqual({ ...first, input: first.input.schema });
  });

  it.each<Partial<DescribedListing>>([
    { description: 'x'.repeat(5_000) },
    { input_schema: { type: 'object', examples: Array.from({ length: 1_000 }, () => ({ text: 'x' })) } },
  ])('is made again if the creator’s text is too long for the cache (%#)', async (change) => {
    const first = await defineDirectTool({ ...LISTING, ...change });
    const second = await defineDirectTool({ ...LISTING, ...change });
    expect(second).not.toBe(first);
    expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  });

  it('is kept while it is used, and not for ever', async () => {
    const used = await defineDirectTool({ ...LISTING, id: 'used-aaaaaa' });
    const unused = await defineDirectTool({ ...LISTING, id: 'unused-aaaaaa' });
    const seen = new Set([used]);
    for (let index = 0; index < 4_000; index += 1) {
      await defineDirectTool({ ...LISTING, id: `other-${index}-aaaaaa` });
      if (index % 500 === 0) seen.add(await defineDirectTool({ ...LISTING, id: 'used-aaaaaa' }));
    }
    expect(seen.size).toBe(1);
    expect(await defineDirectTool({ ...LISTING, id: 'unused-aaaaaa' })).not.toBe(unused);
  });
});
