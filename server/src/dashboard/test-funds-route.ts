import { TEST_FUNDS_PATH, testFundsBody, type TestFundsGiven } from '@agent-rental/contract';
import { isPublicKey } from '@agent-rental/ed25519';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import type { TestFunds } from '../chain/index.js';
import { ApiError } from '../errors/api-error.js';
import { checkBySchema } from '../http/check-by-schema.js';

/** Gives the development wallet its test money. Only the embedded default has this route. */
export function testFundsRoute(app: FastifyInstance, giveTestFunds: TestFunds): void {
  app.post(TEST_FUNDS_PATH, { config: { auth: 'none' } }, async ({ body }): Promise<TestFundsGiven> => {
    if (body === undefined || body === null) {
      throw new ApiError('invalid_request', 'A JSON body is required.', {
        next: 'Send it with Content-Type: application/json.',
      });
    }
    const checked = checkBySchema(testFundsBody, body);
    if ('problem' in checked) throw new ApiError('invalid_request', `The body ${checked.problem}.`);
    const { wallet } = testFundsBody.parse(checked.value);
    return { balance_lamports: Number(await giveTestFunds(addressOf(wallet))) };
  });
}

/** @throws ApiError for an invalid address, or one without a private key, such as the system program's. */
function addressOf(text: string): PublicKey {
  const bytes = bs58.decodeUnsafe(text);
  if (bytes === undefined || !isPublicKey(bytes)) {
    throw new ApiError('invalid_request', 'wallet: is not the address of a wallet.');
  }
  return new PublicKey(bytes);
}
