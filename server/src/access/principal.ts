import type { ApiKeyScope, SpendingPolicy } from '@agent-rental/contract';

/** Who calls: the wallet, and how it showed that. */
export interface Principal {
  /** Wallet address, base58. */
  readonly wallet: string;
  /** The name for counting its requests: the API key or app, or the wallet. */
  readonly rateKey: string;
  /** The address of the request, or its network, for counting. */
  readonly address?: string | undefined;
  /** The thumbprint of the key that its token is bound to (RFC 9449); absent: a bearer. */
  readonly boundTo?: string | undefined;
  /** The API key that was sent, or the connected app whose token was; absent after a wallet's own login. */
  readonly apiKey?: {
    readonly id: string;
    readonly scopes: readonly ApiKeyScope[];
    readonly policy: SpendingPolicy | null;
  };
}
