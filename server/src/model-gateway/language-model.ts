import type { LanguageModel } from 'ai';
import type { DeclarativeAgent } from '../registration/index.js';

/**
 * The model that an agent's manifest names, with the creator's key. Provider packages are heavy and are loaded
 * when the first agent needs them. `fetch` is what makes its requests.
 */
export async function languageModel(
  settings: DeclarativeAgent['model'],
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const { provider, model, endpointUrl, key } = settings;
  const apiKey = key ?? '';
  if (provider === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ apiKey, fetch }).chat(model ?? '');
  }
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ apiKey, fetch })(model ?? '');
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: 'self_hosted',
    baseURL: endpointUrl ?? '',
    apiKey,
    fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(model ?? 'default');
}
