import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CliEnvironment } from '../cli-environment.js';
import { findModelKey, requireModelKey, testModelKey } from './model-key.js';

const folder = mkdtempSync(join(tmpdir(), 'agent rental key '));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'key.txt'), 'of-a-file\n');

const ENVIRONMENT: CliEnvironment = {
  variables: { OPENAI_API_KEY: 'of-openai', OTHER: 'of-a-variable' },
  folder,
  signal: new AbortController().signal,
  out: () => undefined,
  write: () => undefined,
  err: () => undefined,
};
const project = (provider: string, model: object = { model: 'm' }) => ({
  body: { system_prompt: 'Answer.', model: { provider, ...model } },
  notes: [],
  faults: [],
});
const CONNECTED = { body: { entrypoint_url: 'https://agent.example/' }, notes: [], faults: [] };

describe('the key of a model', () => {
  it.each([
    [undefined, 'of-openai', 'OPENAI_API_KEY'],
    [true, 'of-openai', 'OPENAI_API_KEY'],
    ['OTHER', 'of-a-variable', 'OTHER'],
    ['key.txt', 'of-a-file', 'the named file'],
  ] as const)('is found by the source %s', (source, key, from) => {
    expect(findModelKey(project('openai'), source, ENVIRONMENT)).toMatchObject({ key, from });
  });

  it('is never repeated where it was given in place of a name', () => {
    const given = 'sk-a-key-in-place-of-a-name';
    expect(() => findModelKey(project('openai'), given, ENVIRONMENT)).toThrow(
      /name of a file or of a variable/,
    );
    expect(() => findModelKey(project('openai'), given, ENVIRONMENT)).not.toThrow(new RegExp(given));
  });

  it('belongs to no connected agent, and is not asked for one', async () => {
    expect(await requireModelKey(CONNECTED, undefined, ENVIRONMENT)).toBeUndefined();
    expect(() => findModelKey(CONNECTED, 'OTHER', ENVIRONMENT)).toThrow(/--model-key/);
  });

  it('is asked for at a terminal alone, where its vendor requires one', async () => {
    const asked: string[] = [];
    const askSecret = async (question: string) => {
      asked.push(question);
      return ' typed ';
    };
    const terminal = { ...ENVIRONMENT, askSecret };
    expect(await requireModelKey(project('anthropic'), undefined, terminal)).toMatchObject({ key: 'typed' });
    expect(await requireModelKey(project('self_hosted'), undefined, terminal)).toBeUndefined();
    expect(asked).toHaveLength(1);
    await expect(requireModelKey(project('anthropic'), undefined, ENVIRONMENT)).rejects.toThrow(
      /Set ANTHROPIC_API_KEY, or name a file: --model-key FILE/,
    );
  });
});

describe('the test of a key', () => {
  const calls: { url: string; headers: Headers; body: string }[] = [];
  const answering = (status: number | 'none') =>
    (async (url: string, init: { headers: Record<string, string>; body: string }) => {
      calls.push({ url, headers: new Headers(init.headers), body: init.body });
      if (status === 'none') throw new TypeError('fetch failed');
      return new Response('{}', { status });
    }) as unknown as typeof fetch;
  const told: string[] = [];
  const test = (provider: string, status: number | 'none', model?: object) => {
    const found = findModelKey(project(provider, model), 'OTHER', ENVIRONMENT);
    if (found === undefined) throw new Error('There is a key.');
    const environment = { ...ENVIRONMENT, err: (line: string) => void told.push(line) };
    return testModelKey(found, environment, answering(status));
  };
  const OWN = { endpoint_url: 'https://models.example/v1/' };

  it.each([
    [
      'openai',
      'https://api.openai.com/v1/chat/completions',
      'authorization',
      'Bearer of-a-variable',
      undefined,
    ],
    ['anthropic', 'https://api.anthropic.com/v1/messages', 'x-api-key', 'of-a-variable', undefined],
    [
      'self_hosted',
      'https://models.example/v1/chat/completions',
      'authorization',
      'Bearer of-a-variable',
      OWN,
    ],
  ] as const)(
    'asks %s one question, with the key in its header alone',
    async (provider, url, header, value, model) => {
      await test(provider, 200, model);
      const { url: asked, headers, body } = calls.at(-1) ?? { url: '', headers: new Headers(), body: '' };
      expect([asked, headers.get(header)]).toEqual([url, value]);
      expect(body).toContain('Are you there?');
      expect(asked + body).not.toContain('of-a-variable');
    },
  );

  it.each([
    [
      'openai',
      401,
      undefined,
      /The key of the model in OTHER is wrong: api\.openai\.com refuses it with 401/,
    ],
    ['anthropic', 403, undefined, /The key .* is wrong/],
    ['openai', 404, undefined, /model\.model is wrong: api\.openai\.com has no model "m"/],
    ['self_hosted', 401, OWN, /The key .* is wrong/],
    ['self_hosted', 404, OWN, /model\.endpoint_url is wrong: .* answers 404/],
    ['self_hosted', 302, OWN, /model\.endpoint_url is wrong/],
    ['self_hosted', 'none', OWN, /model\.endpoint_url is wrong, or its model is not running/],
  ] as const)(
    'of %s that ends with %s names the wrong part, and not the key',
    async (provider, status, model, words) => {
      const error = await test(provider, status, model).catch((caught: Error) => caught);
      expect(String(error)).toMatch(words);
      expect(String(error)).not.toContain('of-a-variable');
    },
  );

  it.each([400, 429, 500] as const)('of a vendor that answers %s proves nothing', async (status) => {
    await expect(test('openai', status)).resolves.toBeUndefined();
  });

  it('is left to the marketplace where the vendor is out of reach from here', async () => {
    await test('openai', 'none');
    expect(told.at(-1)).toContain('so the key is not tested');
  });
});
