import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server';
import type { AskedState } from '../calls/approvals.js';
import { secretsOf, type CarriedSecret } from './signed-token.js';

/** Signs the state that a client carries from a question to its answer, and reads it by any valid secret. */
export function createAskedStateCodec(carriedSecret: CarriedSecret): RequestStateCodec<AskedState> {
  const codecs = () => secretsOf(carriedSecret).map((key) => createRequestStateCodec<AskedState>({ key }));
  return {
    mint: async (payload, context) => {
      const [key] = secretsOf(carriedSecret);
      return createRequestStateCodec<AskedState>({ key }).mint(payload, context);
    },
    verify: async (state, context) => {
      let wrong: unknown;
      for (const codec of codecs()) {
        try {
          return await codec.verify(state, context);
        } catch (error) {
          wrong ??= error;
        }
      }
      throw wrong;
    },
  };
}
