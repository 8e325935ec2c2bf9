import { PREVIOUS_SECRET_HOURS } from '@agent-rental/contract';
import type { Keys } from '../platform/keys.js';
import { ApiError } from '../errors/api-error.js';
import { findOwnListing, notYours } from './own-listing.js';
import { modelOrigin } from './manifest/model-origin.js';
import { openPrivatePart, sealPrivatePart, type PrivatePart } from './manifest/private-part.js';
import type { RegistrationRepository } from './repository.js';
import type { RunnableVersion } from './versions/runnable-versions.js';
import { newWebhookSecret } from '../platform/standard-webhooks.js';

/** How long calls are signed with the replaced secret too. */
const PREVIOUS_SECRET_MS = PREVIOUS_SECRET_HOURS * 60 * 60 * 1000;

/** Asks the wallet to confirm a change; throws when it does not. */
type Confirm = () => Promise<void>;

/**
 * Replaces the secrets that a creator keeps with us. It makes no new version, because nothing changes for a renter.
 * Every method calls `confirm` once the change is known to be possible.
 */
export interface CreatorSecrets {
  /** @throws ApiError `listing_not_found`, or `invalid_request` for a connected agent, which has no key here. */
  setModelKey(wallet: string, listingId: string, modelKey: string, confirm: Confirm): Promise<void>;
  /** @throws ApiError `listing_not_found`, or `invalid_request` for an agent that is not connected. */
  rotateWebhookSecret(
    wallet: string,
    listingId: string,
    confirm: Confirm,
  ): Promise<{ webhookSecret: string; previousValidUntil: Date }>;
}

export function createCreatorSecrets(repository: RegistrationRepository, keys: Keys): CreatorSecrets {
  const change = async (
    wallet: string,
    listingId: string,
    confirm: Confirm,
    to: (part: PrivatePart) => PrivatePart,
    /** Of an older version that can run; undefined where nothing of it changes. */
    olderTo: (older: PrivatePart, present: PrivatePart) => PrivatePart | undefined,
    replacedUntil?: Date,
  ) => {
    const { listing, version } = await findOwnListing(repository, wallet, listingId);
    // An impossible change needs no signature.
    const present = to(openPrivatePart(keys, version.id, version.private_part));
    await confirm();
    const resealed = (each: RunnableVersion, isPresent: boolean) => {
      const part = openPrivatePart(keys, each.id, each.private_part);
      const changed = isPresent ? to(part) : olderTo(part, present);
      return changed === undefined ? each.private_part : sealPrivatePart(keys, each.id, changed);
    };
    const found = await repository.reseal(listing.id, wallet, resealed, replacedUntil);
    if (!found) throw notYours();
  };
  return {
    async setModelKey(wallet, listingId, key, confirm) {
      const withKey = (part: PrivatePart) => {
        if (part.mode === 'declarative') {
          const { droppedKeyOrigin: _, ...model } = part.model;
          return { ...part, model: { ...model, key, keyOrigin: modelOrigin(model) } };
        }
        throw new ApiError(
          'invalid_request',
          'This agent is connected: it runs at its creator’s, and no model key is kept for it here.',
        );
      };
      await change(wallet, listingId, confirm, withKey, (older, present) =>
        older.mode === 'declarative' &&
        present.mode === 'declarative' &&
        older.model.key !== undefined &&
        older.model.keyOrigin === present.model.keyOrigin
          ? withKey(older)
          : undefined,
      );
      // A run that could not be made without the key can be made now.
      await repository.requestLook(listingId);
    },

    async rotateWebhookSecret(wallet, listingId, confirm) {
      const webhookSecret = newWebhookSecret();
      const until = Date.now() + PREVIOUS_SECRET_MS;
      const previousValidUntil = new Date(until);
      const withSecret = (part: PrivatePart) => {
        if (part.mode === 'connected') {
          return { ...part, webhookSecret, previousWebhookSecret: { secret: part.webhookSecret, until } };
        }
        throw new ApiError(
          'invalid_request',
          'This agent is declarative: it is not called, and has no webhook secret.',
        );
      };
      // A creator has one secret for all versions of an agent.
      const olderWithSecret = (older: PrivatePart) =>
        older.mode === 'connected' ? withSecret(older) : undefined;
      await change(wallet, listingId, confirm, withSecret, olderWithSecret, previousValidUntil);
      return { webhookSecret, previousValidUntil };
    },
  };
}
