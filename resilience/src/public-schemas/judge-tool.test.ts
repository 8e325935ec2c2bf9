import { Random } from '@agent-rental/test/support/random';
import { expect, it } from 'vitest';
import { judgeTool } from './judge-tool.js';

const WORKSPACE = { type: 'boolean', const: true };

/** Like a public server's tool: a parent of three alternatives, and a title with one text or several. */
const PAGE = {
  name: 'create-page',
  inputSchema: {
    type: 'object',
    properties: {
      parent: {
        anyOf: [
          { type: 'object', properties: { page_id: { type: 'string' } }, required: ['page_id'] },
          { type: 'object', properties: { workspace: WORKSPACE }, required: ['workspace'] },
          { type: 'string' },
        ],
      },
      title: { type: ['string', 'array'], items: { type: 'string' } },
      archived: { type: ['boolean', 'null'] },
    },
    required: ['parent'],
  },
};

it('the values of a schema like a public server’s are neither refused nor changed [ADP-10]', () => {
  const verdict = judgeTool(PAGE, 300, new Random(5));
  expect(verdict.values).toBeGreaterThan(200);
  expect(verdict).toMatchObject({ refused: [], changed: [] });
});
