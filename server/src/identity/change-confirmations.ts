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

/** A text for a wallet to sign with a fresh challenge. */
interface AskedText {
  /** One sentence for a caller that sends no signature. */
  why: string;
  /** @param service the host that the wallet signs in to */
  textOf(service: string, challenge: string): string;
}

/** Checks that the wallet itself confirms a request. */
export interface ChangeConfirmations {
  /**
   * Takes the signature that the request carries for a change of the place that gets renters' data, once.
   *
   * @throws ApiError 401 `unauthorized` for an API key, 401 `invalid_signature` without the wallet's fresh signature over
   * exactly this change; the message holds the text to sign.
   */
  require(principal: Principal, request: FastifyRequest, change: AskedChange): Promise<void>;
  /** Takes the signature over another text, once, and gives it. @throws as `require`. */
  requireText(principal: Principal, request: FastifyRequest, text: AskedText): Promise<string>;
}

/** Makes the check. Challenges bring the time and that each counts once. */
export function createChangeConfirmations(
  challenges: Pick<Challenges, 'redeem'>,
  originsOf: OriginsOf,
): ChangeConfirmations {
  const requireText: ChangeConfirmations['requireText'] = async (
    { wallet, apiKey },
    request,
    { why, textOf },
  ) => {
    if (apiKey !== undefined) throw loginRequired();
    const service = new URL(originsOf(request)[0]).host;
    const challenge = headerOf(request, CONFIRMATION_HEADERS.challenge);
    const signature = headerOf(request, CONFIRMATION_HEADERS.signature);
    const refusal = () => {
      const name =
        request.host === service
          ? ''
          : ` The service is called ${service} here (its operator sets PUBLIC_URL), not as in the request.`;
      return new ApiError('invalid_signature', why, {
        next: `${howToConfirm(wallet)}${name}\n\n${textOf(service, '<challenge>')}`,
      });
    };
    if (challenge === undefined || signature === undefined) throw refusal();
    try {
      await challenges.redeem({ wallet, challenge, signature }, ({ challenge: issued }) =>
        textOf(service, issued),
      );
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_signature') throw refusal();
      throw error;
    }
    return signature;
  };
  return {
    requireText,
    async require(principal, request, { action, listingId, body = {} }) {
      const { wallet } = principal;
      const changeSha256 = createHash('sha256').update(canonicalJson(body)).digest('hex');
      await requireText(principal, request, {
        why: "This decides where renters' data goes, so the wallet confirms it with a fresh signature.",
        textOf: (service, challenge) =>
          confirmationMessage(
            { action, listing_id: listingId, change_sha256: changeSha256, wallet, service },
            challenge,
          ),
      });
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
