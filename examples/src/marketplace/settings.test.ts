import { describe, expect, it } from 'vitest';
import { chooseModel, isLoopback } from './settings.js';

const offline = { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k' };
const choose = (environment: Record<string, string>) => chooseModel(environment, offline);

describe('chooseModel', () => {
  it('takes the offline model, by its name, when there is nothing else', () => {
    expect(choose({ OPENAI_API_KEY: '' })).toEqual({
      label: 'offline-example-model',
      model: { provider: 'self_hosted', model: 'offline-example-model', endpoint_url: offline.baseUrl },
      key: 'k',
    });
  });

  it.each([
    [{ OPENAI_API_KEY: 'a' }, { provider: 'openai' }],
    [{ ANTHROPIC_API_KEY: 'a' }, { provider: 'anthropic' }],
    [
      { ANTHROPIC_API_KEY: 'a', MODEL_NAME: 'm' },
      { provider: 'anthropic', model: 'm' },
    ],
    [
      { OPENAI_API_KEY: 'b', MODEL_BASE_URL: 'http://x/v1', MODEL_NAME: 'm', MODEL_API_KEY: 'a' },
      { provider: 'self_hosted', model: 'm', endpoint_url: 'http://x/v1' },
    ],
  ])('takes the model of the environment %j', (environment, model) => {
    expect(choose(environment)).toMatchObject({ key: 'a', model });
  });

  it('never repeats a key in its label', () => {
    expect(choose({ OPENAI_API_KEY: 'sk-secret' }).label).not.toContain('secret');
  });

  it('asks for missing settings', () => {
    expect(() => choose({ MODEL_BASE_URL: 'http://x/v1' })).toThrow('MODEL_NAME');
    expect(() => choose({ MODEL_BASE_URL: 'x', MODEL_NAME: 'm' })).toThrow('not a URL');
  });
});

describe('isLoopback', () => {
  it.each(['http://127.0.0.1:1/v1', 'http://127.9.9.9', 'http://localhost:11434/v1', 'http://[::1]:1'])(
    'knows %s',
    (url) => expect(isLoopback(url)).toBe(true),
  );
  it.each(['http://10.0.0.1', 'https://127.0.0.1.example', 'https://localhost.example', 'http://[::2]'])(
    'does not take %s for it',
    (url) => expect(isLoopback(url)).toBe(false),
  );
});
