import { createClient } from '@agent-rental/sdk';
import { schemaViolations } from '@agent-rental/server/testing';
import { createStandIn, STAND_IN_API_KEY } from '@agent-rental/stand-in';
import { compileInput, rentedToolset } from '@agent-rental/tools';
import { Validator } from '@cfworker/json-schema';
import { describe, expect, it } from 'vitest';
import { CORPUS_SIZE, schemaCorpus } from './corpus.js';
import {
  anthropicBreaches,
  definitionBreaches,
  geminiBreaches,
  openAiBreaches,
} from '@agent-rental/test/support/provider-rules';

type Json = Record<string, unknown>;

const corpus = schemaCorpus();
const ID = 'echo-aaaaaa';

/** Rents a listing with this schema. @returns its direct tool, and a call that returns the agent's input. */
async function rented(schema: object) {
  const standIn = createStandIn([{ id: ID, input_schema: schema as never }]);
  const { fetch } = standIn;
  const client = createClient({ baseUrl: 'http://m.invalid', apiKey: STAND_IN_API_KEY, fetch, retries: 0 });
  const tool = (await rentedToolset(client).list()).at(-1);
  if (tool === undefined) throw new Error('no tool');
  return {
    tool,
    async call(input: unknown): Promise<unknown> {
      const result = await tool.invoke({ agent_id: ID, task: 't', input });
      expect(result.status, result.text).toBe('completed');
      return (standIn.requests.at(-1)?.body as Json | undefined)?.['input'];
    },
  };
}

describe('a corpus of schemas', () => {
  it(`has ${CORPUS_SIZE} different schemas, each with inputs`, () => {
    expect(new Set(corpus.map(({ schema }) => JSON.stringify(schema))).size).toBe(CORPUS_SIZE);
    expect(corpus.filter(({ examples }) => examples.length === 0)).toEqual([]);
  });

  it.each(corpus)(
    '$name is published in a form that OpenAI, Anthropic and Gemini accept [ADP-10]',
    async ({ schema }) => {
      const { tool } = await rented(schema);
      const parameters = tool.inputSchema as Json;
      expect(definitionBreaches(tool)).toEqual([]);
      expect(openAiBreaches(parameters)).toEqual([]);
      expect(anthropicBreaches(parameters)).toEqual([]);
      expect(geminiBreaches(parameters)).toEqual([]);
    },
  );

  it.each(corpus)('$name accepts every valid input, and forwards it unchanged [ADP-10]', async (entry) => {
    const { schema, examples } = entry;
    const { call } = await rented(schema);
    const validator = new Validator(compileInput(schema).schema, '2020-12', false);
    for (const example of examples) {
      expect(schemaViolations(schema, example)).toEqual([]);
      expect(validator.validate(example).errors, JSON.stringify(example)).toEqual([]);
      expect(await call(example)).toEqual(example);
    }
  });
});
