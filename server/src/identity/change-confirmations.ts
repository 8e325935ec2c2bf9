import { createHash } from 'node:crypto';
import {
  canonicalJson,
  confirmationMessage,
  CONFIRMATION_HEADERS,
  type ConfirmedAction,
} from '@agent-rental/contract';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { Principal } from '../access/principal.js';
import { loginRequired } from '../access/scopes.js';
import type { Challenges } from './challenges.js';
import type { OriginsOf } from './origins.js';

/** A change that its request asks for. */
interface AskedChange {
  action: ConfirmedAction;
  listingId: string;
  /** The request's body; absent where it has none. */
  body?: object;
}

/** Checks that the wallet itself confirms a change of the place that gets renters' data. */
export interface ChangeConfirmations {
  /**
   * Takes the signature that the request carries, once.
   *
   * @throws ApiError 401 `unauthorized` for an API key, 401 `invalid_signature` without the wallet's fresh signature over
   * exactly this change; the message holds the text to sign.
   */
  require(principal: Principal, request: FastifyRequest, change: AskedChange): Promise<void>;
}

/** Makes the check. Challenges bring the time and that each counts once. */
export function createChangeConfirmations(
  challenges: Pick<Challenges, 'redeem'>,
  originsOf: OriginsOf,
): ChangeConfirmations {
  return {
    async require({ wallet, apiKey }, request, { action, listingId, body = {} }) {
      if (apiKey !== undefined) throw loginRequired();
      const change = {
        action,
        listing_id: listingId,
        change_sha256: createHash('sha256').update(canonicalJson(body)).digest('hex'),
        wallet,
        service: new URL(originsOf(request)[0]).host,
      };
      const challenge = headerOf(request, CONFIRMATION_HEADERS.challenge);
      const signature = headerOf(request, CONFIRMATION_HEADERS.signature);
      const refusal = () => {
        const text = confirmationMessage(change, '<challenge>');
        const name =
          request.host === change.service
            ? ''
            : ` The service is called ${change.service} here (its operator sets PUBLIC_URL), not as in the request.`;
        return new ApiError(
          'invalid_signature',
          "This decides where renters' data goes, so the wallet confirms it with a fresh signature.",
          { next: `${howToConfirm(wallet)}${name}\n\n${text}` },
        );
      };
      if (challenge === undefined || signature === undefined) throw refusal();
      try {
        await challenges.redeem({ wallet, challenge, signature }, ({ challenge: issued }) =>
          confirmationMessage(change, issued),
        );
      } catch (error) {
        if (error instanceof ApiError && error.code === 'invalid_signature') throw refusal();
        throw error;
      }
    },
  };
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : undefined;
}

function howToConfirm(wallet: string): string {
  const { challenge, signature } = CONFIRMATION_HEADERS;
  return (
    `Get a challenge with GET /v1/auth/challenge?wallet=${wallet}. Sign the UTF-8 bytes of the text below with the challenge as its last line. ` +
    `Send the request again with the headers ${challenge} and ${signature} (base58). A challenge counts once and for 60 ` +
    'seconds.'
  );
}
