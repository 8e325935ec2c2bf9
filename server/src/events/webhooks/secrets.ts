import { WEBHOOK_SECRET_OVERLAP_HOURS } from '@agent-rental/contract';
import type { SealedPlace } from '../../database/sealed-places.js';
import type { Keys } from '../../platform/keys.js';
import { newWebhookSecret } from '../../platform/standard-webhooks.js';

/** The secrets of a webhook, as they are sealed. */
interface Secrets {
  present: string;
  /** Signs beside the present one until then, in milliseconds since 1970. */
  previous?: { secret: string; until: number };
}

/** Binds sealed secrets to their webhook. */
const contextOf = (id: string) => `webhook:${id}`;

/** Where the secrets of webhooks are sealed. */
export const SEALED_WEBHOOKS: SealedPlace = {
  name: 'webhooks',
  table: 'webhooks',
  id: ['id'],
  column: 'sealed_secrets',
  contextOf: ([id]) => contextOf(String(id)),
};

const open = (keys: Keys, id: string, sealed: Buffer): Secrets =>
  JSON.parse(keys.open(sealed, contextOf(id)).toString('utf8')) as Secrets;

/** A new secret of a webhook, and its stored form. The secret sealed before signs beside it for a while. */
export function newSecret(keys: Keys, id: string, replaced?: Buffer): { secret: string; sealed: Buffer } {
  const secrets: Secrets = { present: newWebhookSecret() };
  if (replaced) {
    const until = Date.now() + WEBHOOK_SECRET_OVERLAP_HOURS * 3_600_000;
    secrets.previous = { secret: open(keys, id, replaced).present, until };
  }
  return { secret: secrets.present, sealed: keys.seal(JSON.stringify(secrets), contextOf(id)) };
}

/** The secrets that sign now, the present one first. */
export function signingSecrets(keys: Keys, { id, sealed }: { id: string; sealed: Buffer }): string[] {
  const { present, previous } = open(keys, id, sealed);
  return previous && previous.until > Date.now() ? [present, previous.secret] : [present];
}
