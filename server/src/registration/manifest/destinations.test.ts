import { describe, expect, it } from 'vitest';
import { redirectingMembers } from './destinations.js';
import type { PrivatePart } from './private-part.js';
import { mergePatch } from '../update.js';

const SELF_HOSTED = { provider: 'self_hosted', model: 'm', endpoint_url: 'https://model.example/v1' };
const OPENAI = { provider: 'openai', model: 'm' };
const WEB = { name: 'web_fetch', scope: 'read_only' };

const declarative = (fields: Record<string, unknown> = {}): PrivatePart => ({
  mode: 'declarative',
  systemPrompt: 'Read.',
  tools: [],
  model: { provider: 'self_hosted', endpointUrl: SELF_HOSTED.endpoint_url },
  salt: '',
  manifest: { name: 'a', system_prompt: 'Read.', model: SELF_HOSTED, ...fields },
});
const connected: PrivatePart = {
  mode: 'connected',
  entrypointUrl: 'https://agent.example/',
  webhookSecret: 's',
  salt: '',
  manifest: { name: 'a', entrypoint_url: 'https://agent.example/', model: SELF_HOSTED },
};
const modelAt = (endpoint_url: string) => ({ model: { ...SELF_HOSTED, endpoint_url } });
const AGENT_AND_MODEL = ['entrypoint_url', 'model.provider', 'model.endpoint_url'];
const membersOf = (base: PrivatePart, changes: Record<string, unknown>, bringsKey = false) =>
  redirectingMembers(base, mergePatch(base.manifest ?? {}, changes), bringsKey);

describe('a change of the place that gets renters’ data', () => {
  it.each<[string, PrivatePart, Record<string, unknown>, string[]]>([
    ['another endpoint', declarative(), modelAt('https://evil.example/v1'), ['model.endpoint_url']],
    ['another path at the origin', declarative(), modelAt('https://model.example/b'), ['model.endpoint_url']],
    ['another provider', declarative(), { model: OPENAI }, ['model.provider', 'model.endpoint_url']],
    ['another entrypoint', connected, { entrypoint_url: 'https://evil.example/' }, ['entrypoint_url']],
    [
      'an entrypoint in place of a prompt',
      declarative(),
      { system_prompt: null, entrypoint_url: 'https://evil.example/' },
      AGENT_AND_MODEL,
    ],
    ['a prompt in place', connected, { entrypoint_url: null, system_prompt: 'x' }, AGENT_AND_MODEL],
    ['access to the web', declarative(), { tools: [WEB] }, ['tools']],
    [
      'the prompt of one on the web',
      declarative({ tools: [WEB] }),
      { system_prompt: 'y' },
      ['system_prompt'],
    ],
    ['values of the wrong form', declarative(), { model: 'evil' }, ['model.provider', 'model.endpoint_url']],
  ])('is %s [ID-52]', (_, base, changes, members) => {
    expect(membersOf(base, changes)).toEqual(members);
  });

  it.each<[string, PrivatePart, Record<string, unknown>]>([
    ['a description', declarative(), { description: 'x', timeout_seconds: 5, output_schema: {} }],
    ['a prompt without the web', declarative(), { system_prompt: 'y' }],
    ['another model at the same place', declarative(), { model: { ...SELF_HOSTED, model: 'n' } }],
    ['the same values', connected, { entrypoint_url: 'https://agent.example/', model: SELF_HOSTED }],
    ['the model of a connected agent', connected, { model: OPENAI }],
    ['other tools', declarative(), { tools: [{ name: 'read_input', scope: 'input_only' }] }],
    ['the web taken away', declarative({ tools: [WEB] }), { tools: null }],
  ])('is not %s', (_, base, changes) => {
    expect(membersOf(base, changes)).toEqual([]);
  });

  it('is a key, wherever it goes [ID-52]', () => {
    expect(membersOf(declarative(), { description: 'x' }, true)).toEqual(['model_key']);
  });

  it('is judged by its parts where an older release kept no manifest', () => {
    const { manifest: _, ...old } = declarative();
    const whole = { ...modelAt('https://evil.example/'), system_prompt: 'Read.' };
    expect(redirectingMembers(old as PrivatePart, whole, false)).toEqual(['model.endpoint_url']);
  });
});
