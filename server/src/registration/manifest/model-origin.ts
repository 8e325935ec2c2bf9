import { type ModelProvider } from '@agent-rental/contract';
/** Where the vendors' own APIs are. */
export const VENDOR_URLS = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
} as const;

/** Names the model of a manifest. */
export interface ModelAddress {
  provider: ModelProvider;
  endpointUrl?: string | undefined;
}

/** Scheme, host and port that a model is asked at; undefined where the manifest names no URL. */
export function modelOrigin({ provider, endpointUrl }: ModelAddress): string | undefined {
  switch (provider) {
    case 'openai':
    case 'anthropic':
      return new URL(VENDOR_URLS[provider]).origin;
    case 'self_hosted':
      return endpointUrl !== undefined && URL.canParse(endpointUrl) ? new URL(endpointUrl).origin : undefined;
    default:
      return provider satisfies never;
  }
}
