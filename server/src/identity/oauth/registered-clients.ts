import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { readClientMetadata, type ClientMetadata } from './client-metadata.js';
import type { KeyRing, ServiceKey } from '../../service-keys/index.js';
import { OAuthError } from './oauth-error.js';

const PREFIX = 'arc_';
const PROOF_BYTES = 24;
/** With it a client id fits into any address bar, header and field. */
const MOST_ID_CHARACTERS = 1_800;

const content = z.strictObject({
  n: z.string(),
  s: z.string().optional(),
  r: z.array(z.string()),
  t: z.int(),
});

/** A client that registered itself (RFC 7591). */
interface RegisteredClient extends ClientMetadata {
  registeredAt: Date;
}

/** Registers clients and knows them again. */
export interface RegisteredClients {
  /**
   * Registers a client. Returns the answer of RFC 7591, section 3.2.1: the client's id and its used metadata.
   *
   * @throws OAuthError `invalid_redirect_uri` or `invalid_client_metadata`
   */
  register(value: unknown): Record<string, unknown>;
  /** The client of an id that was given out here; undefined for any other. */
  read(id: string): RegisteredClient | undefined;
}

/**
 * The id of a client holds its metadata, with a proof (RFC 7591, appendix A.5.2). So strangers cannot fill the
 * database, every replica knows every client, and nothing needs to be cleaned up.
 */
export function createRegisteredClients(ring: KeyRing): RegisteredClients {
  const proofOf = ({ secret }: ServiceKey, payload: string) =>
    createHmac('sha256', secret).update(payload).digest().subarray(0, PROOF_BYTES).toString('base64url');
  return {
    register(value) {
      const { client, raw } = readClientMetadata(value);
      const registeredAt = Math.floor(Date.now() / 1000);
      const payload = Buffer.from(
        JSON.stringify({
          n: client.name,
          ...(client.site === undefined ? {} : { s: client.site }),
          r: client.redirectUris,
          t: registeredAt,
        }),
      ).toString('base64url');
      const id = `${PREFIX}${payload}.${proofOf(ring.present('clients'), payload)}`;
      if (id.length > MOST_ID_CHARACTERS) {
        throw new OAuthError(
          'invalid_client_metadata',
          'The redirect URIs are too long together: register fewer, or use a client id metadata document.',
        );
      }
      return {
        client_id: id,
        client_id_issued_at: registeredAt,
        client_name: client.name,
        ...(raw.client_uri == null ? {} : { client_uri: raw.client_uri }),
        redirect_uris: client.redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        // Whichever was asked for: a secret that every copy of a program has is none.
        token_endpoint_auth_method: 'none',
      };
    },

    read(id) {
      const [, payload = '', proof = ''] = /^arc_([\w-]+)\.([\w-]+)$/.exec(id) ?? [];
      // As text: the same bytes have several spellings, and an id has one.
      const given = Buffer.from(proof);
      const isOurs = (key: ServiceKey) => {
        const right = Buffer.from(proofOf(key, payload));
        return given.length === right.length && timingSafeEqual(given, right);
      };
      if (!ring.accepted('clients').some(isOurs)) return undefined;
      const { n, s, r, t } = content.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
      return { name: n, site: s, redirectUris: r, registeredAt: new Date(t * 1000) };
    },
  };
}
