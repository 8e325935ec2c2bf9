import {
  manifest,
  MANIFEST_MAX_BYTES,
  registerAgentBody,
  listingTerms,
  RENTAL_MODELS,
} from '@agent-rental/contract';
import { describe, expect, it } from 'vitest';
import { programIn, runProgram } from '../testing/run-program.js';
import { exampleAgents, sampleInput, type ExampleAgent } from './index.js';

const model = { provider: 'self_hosted' as const, endpoint_url: 'http://127.0.0.1:9/v1' };
const declarative = exampleAgents.filter((agent) => agent.mode === 'declarative');
const manifestOf = (agent: ExampleAgent) =>
  agent.mode === 'declarative' ? agent.manifest(model) : agent.manifest('http://127.0.0.1:9/');

describe('the example agents', () => {
  it('cover both packaging modes and every rental model', () => {
    expect(new Set(exampleAgents.map((agent) => agent.mode))).toEqual(new Set(['declarative', 'connected']));
    expect(new Set(exampleAgents.map((agent) => agent.terms.rental_model))).toEqual(new Set(RENTAL_MODELS));
  });

  describe.each(exampleAgents.map((agent) => [agent.name, agent] as const))('%s', (name, agent) => {
    it('has a manifest and terms that the contract accepts', () => {
      const written = manifestOf(agent);
      expect(manifest.parse(written).name).toBe(name);
      expect(JSON.stringify(written).length).toBeLessThan(MANIFEST_MAX_BYTES / 2);
      expect(listingTerms.parse(agent.terms)).toEqual(agent.terms);
      expect(registerAgentBody.safeParse({ ...written, listing: agent.terms }).success).toBe(true);
    });

    it('answers its sample input with the properties its output schema requires, and no others', async () => {
      const schema = manifestOf(agent).output_schema as { properties: object; required: string[] };
      const answer = agent.answer(await sampleInput(agent));
      expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(answer)));
      expect(Object.keys(answer)).toEqual(expect.arrayContaining(schema.required));
      expect(answer).toMatchObject({ ok: true });
    });

    it.each([undefined, null, 7, 'x', [], {}, { csv: 5, source: null, text: [] }])(
      'answers %j with a message and without an exception',
      (input) => {
        expect(agent.answer(input as never)).toMatchObject({ summary: expect.any(String) });
      },
    );
  });

  it.each(declarative.map((agent) => [agent.name, agent] as const))(
    '%s carries a program that needs nothing of its module and gives the same answer',
    async (_, agent) => {
      const program = programIn(agent.manifest(model).system_prompt ?? '');
      const input = await sampleInput(agent);
      expect(await runProgram(program, input)).toEqual(JSON.parse(JSON.stringify(agent.answer(input))));
    },
  );
});
