import type { AgentCard } from '@a2a-js/sdk';
import { generateAgentCardSignature } from '@a2a-js/sdk';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { KeyRing } from '../service-keys/index.js';

/** Signs a card with the service's key of cards, whose public part is at `jku`. */
export function signCard(ring: KeyRing, card: AgentCard, jku: string): Promise<AgentCard> {
  const { kid, secret } = ring.present('cards');
  return generateAgentCardSignature(ed25519PrivateKey(secret), { alg: 'EdDSA', typ: 'JOSE', kid, jku })(card);
}
