import type { ModelProvider } from '@agent-rental/contract';
import { afterEach, expect, it, vi } from 'vitest';
import { modelOrigin, type DeclarativeAgent } from '../registration/index.js';
import { ForeignKeyError, languageModel } from './language-model.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Asks a model with a `fetch` that only notes where it is sent. */
async function askedAt(model: DeclarativeAgent['model']): Promise<string[]> {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    asked.push(input instanceof Request ? input.url : String(input));
    return new Response('{}', { status: 401 });
  };
  const made = await languageModel(model, fetch);
  if (typeof made === 'string' || !('doGenerate' in made)) throw new Error('It is not a model.');
  await Promise.resolve(
    made.doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }),
  ).catch(() => undefined);
  return asked;
}

type Vendor = Exclude<ModelProvider, 'self_hosted'>;

/** Where each vendor is asked. */
const ADDRESSES: Readonly<Record<Vendor, string>> = {
  openai: 'https://api.openai.com/v1/chat/completions',
  anthropic: 'https://api.anthropic.com/v1/messages',
};

it.each(Object.entries(ADDRESSES) as [Vendor, string][])(
  'a key for %s goes there, and not to a base URL of the environment [REG-16]',
  async (provider, url) => {
    vi.stubEnv(`${provider.toUpperCase()}_BASE_URL`, 'https://evil.example/v1');
    const model = { provider, model: 'm', key: 'k', keyOrigin: modelOrigin({ provider }) };
    expect(await askedAt(model)).toEqual([url]);
  },
);

it('a key for an own endpoint goes to its origin [REG-16]', async () => {
  const endpointUrl = 'https://models.example:8443/v1';
  const model = {
    provider: 'self_hosted',
    endpointUrl,
    key: 'k',
    keyOrigin: 'https://models.example:8443',
  } as const;
  expect(await askedAt(model)).toEqual(['https://models.example:8443/v1/chat/completions']);
  await expect(askedAt({ ...model, endpointUrl: 'https://evil.example/v1' })).rejects.toThrow(
    ForeignKeyError,
  );
});
