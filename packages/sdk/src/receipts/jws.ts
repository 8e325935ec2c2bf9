import { verifySignature } from '@agent-rental/ed25519';
import * as z from 'zod';
import { WrongPart } from './verification.js';

/** The type of a receipt's JWS. No other signed message has it. */
const TYPE = 'agent-rental-receipt';
/** Much larger than any receipt. */
const MAX_JWS_CHARACTERS = 65_536;
const KEY_BYTES = 32;

const header = z.object({
  alg: z.literal('EdDSA'),
  typ: z.literal(TYPE),
  kid: z.string(),
  // A reader must refuse critical members that it does not know (RFC 7515, section 4.1.11).
  crit: z.never().optional(),
});
const jwkSet = z.object({ keys: z.array(z.unknown()).max(1_000) });
const jwk = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  kid: z.string(),
  exp: z.number().optional(),
  revoked: z.unknown().optional(),
});

/** The content of a receipt's JWS with a valid signature. */
interface VerifiedJws {
  /** The signed bytes. */
  payload: Uint8Array;
  /** The end of the key's use in Unix seconds; absent for a key in use. */
  keySignsUntil: number | undefined;
}

/**
 * Checks a receipt's JWS by the service's keys.
 *
 * @throws WrongPart `jws`
 */
export function verifiedPayload(jws: string, jwks: unknown): VerifiedJws {
  const wrong = (reason: string) => new WrongPart('jws', reason);
  const parts = jws.length > MAX_JWS_CHARACTERS ? [] : jws.split('.');
  const [protectedHeader, payload, signature] = parts.map(fromBase64Url);
  if (parts.length !== 3 || !protectedHeader || !payload || !signature) throw wrong('It is no compact JWS.');
  const said = header.safeParse(jsonOf(protectedHeader));
  if (!said.success) throw wrong(`Its header is no receipt header (alg EdDSA, typ ${TYPE}).`);
  const set = jwkSet.safeParse(jwks);
  if (!set.success) throw wrong('The keys are no JWK set.');
  const key = set.data.keys
    .map((each) => jwk.safeParse(each).data)
    .find((each) => each?.kid === said.data.kid);
  const publicKey = key && fromBase64Url(key.x);
  if (!publicKey || publicKey.length !== KEY_BYTES) throw wrong('None of the keys is the one that it names.');
  if (key.revoked !== undefined)
    throw wrong('Its key has leaked, and is revoked. Ask for the receipt again: another key signs it.');
  const message = new TextEncoder().encode(jws.slice(0, jws.lastIndexOf('.')));
  if (!verifySignature({ signature, message, publicKey })) throw wrong('Its signature is not right.');
  return { payload, keySignsUntil: key.exp };
}

/** The JSON value of UTF-8 bytes; undefined for other bytes. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** Bytes of base64url without padding, in the one form that encodes them; undefined for other text. */
function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const encoded = btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return encoded === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
}
