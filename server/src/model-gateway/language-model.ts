import type { LanguageModelV3 } from '@ai-sdk/provider';
import { modelOrigin, VENDOR_URLS, type DeclarativeAgent } from '../registration/index.js';

/** A key was about to be sent to another origin than the one that it was given for. */
export class ForeignKeyError extends Error {
  override readonly name = 'ForeignKeyError';
}

/**
 * The model that an agent's manifest names, with the creator's key. Provider packages are heavy and are loaded when
 * the first agent needs them. `fetch` makes its requests.
 *
 * @throws ForeignKeyError for a key that was given for another origin than the model's.
 */
export async function languageModel(
  settings: DeclarativeAgent['model'],
  fetch: typeof globalThis.fetch,
): Promise<LanguageModelV3> {
  const { provider, model, endpointUrl, key, keyOrigin } = settings;
  const origin = modelOrigin(settings);
  if (key !== undefined && (keyOrigin === undefined || keyOrigin !== origin)) throw new ForeignKeyError();
  const apiKey = key ?? '';
  const boundFetch = onlyTo(origin, fetch);
  // The packages would take another URL from the environment of the server.
  switch (provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ baseURL: VENDOR_URLS.openai, apiKey, fetch: boundFetch }).chat(model ?? '');
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL: VENDOR_URLS.anthropic, apiKey, fetch: boundFetch })(model ?? '');
    }
    case 'self_hosted': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: 'self_hosted',
        baseURL: endpointUrl ?? '',
        apiKey,
        fetch: boundFetch,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(model ?? 'default');
    }
    default:
      return provider satisfies never;
  }
}

/** `fetch` that takes requests, which carry the key, to one origin and nowhere else. */
function onlyTo(origin: string | undefined, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (origin === undefined || !URL.canParse(url) || new URL(url).origin !== origin) {
      throw new ForeignKeyError();
    }
    return fetch(input, init);
  };
}
