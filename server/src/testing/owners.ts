import { randomUUID } from 'node:crypto';
import type { SpendingPolicy } from '@agent-rental/contract';
import { ownerOf, type Owner } from '../access/owner.js';

/** A wallet that logged in. */
export const loginOf = (wallet: string): Owner => ownerOf({ wallet, rateKey: wallet });

/** A new API key of a wallet. */
export const newKeyOf = (wallet: string, policy: SpendingPolicy | null = null): Owner =>
  ownerOf({ wallet, rateKey: wallet, apiKey: { id: randomUUID(), scopes: ['run'], policy } });
