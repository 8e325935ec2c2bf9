import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { KeyRing } from '../service-keys/index.js';

/**
 * Signs a card with the service's key of cards, whose public part is at `jku`. It gets two signatures: over its JSON, as the
 * protocol says, and over the card without its schemes. The client of `@a2a-js/sdk` 1.3.0 loses these before it verifies.
 */
export async function signCard(ring: KeyRing, card: AgentCard, jku: string): Promise<AgentCard> {
  const { kid, secret } = ring.present('cards');
  const sign = generateAgentCardSignature(ed25519PrivateKey(secret), { alg: 'EdDSA', typ: 'JOSE', kid, jku });
  // Typed as the SDK's cards, whose JSON it reads before it signs.
  const exact = await sign(AgentCard.toJSON(card) as AgentCard);
  const reduced = await sign(card);
  return { ...card, signatures: [...exact.signatures, ...reduced.signatures] };
}
