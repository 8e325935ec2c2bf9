import type { LanguageModel } from 'ai';
import type { OutboundHttp } from '../platform/outbound-http.js';
import type { DeclarativeAgent } from '../registration/index.js';

/**
 * The model that an agent's manifest names, with the creator's key. Provider packages are heavy and are loaded
 * when the first agent needs them.
 */
export async function languageModel(
  settings: DeclarativeAgent['model'],
  outbound: OutboundHttp,
): Promise<LanguageModel> {
  const { provider, model, endpointUrl, key } = settings;
  const apiKey = key ?? '';
  if (provider === 'openai') {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ apiKey, fetch: outbound.fetch }).chat(model ?? '');
  }
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ apiKey, fetch: outbound.fetch })(model ?? '');
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: 'self_hosted',
    baseURL: endpointUrl ?? '',
    apiKey,
    fetch: outbound.fetch,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(model ?? 'default');
}
