import type { ApiKeyScope } from '../identity/identity.js';

/** The scope that an API key needs for an operation. The token of a wallet's login has every scope. */
export type RequiredScope =
  /** Any one of these scopes. */
  | readonly [ApiKeyScope, ...ApiKeyScope[]]
  /** The scope of the body's `action`. */
  | { readonly byAction: Readonly<Record<string, ApiKeyScope>> }
  /** No API key may call: the operation takes only the token of a wallet's login. */
  | 'login';

/** A requirement in words, for people. */
export function describeRequiredScope(required: RequiredScope): string {
  if (required === 'login') return "The token of a wallet's login; no API key may do this.";
  if ('byAction' in required) {
    const scopes = Object.entries(required.byAction).map(([action, scope]) => `\`${action}\`: \`${scope}\``);
    return `API keys need the scope of their action: ${scopes.join(', ')}.`;
  }
  return `API keys need the scope ${required.map((scope) => `\`${scope}\``).join(' or ')}.`;
}
