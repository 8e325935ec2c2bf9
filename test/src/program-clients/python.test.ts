import { fileURLToPath } from 'node:url';
import { MARKETPLACE_IDL } from '@agent-rental/program-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Market } from './market.js';
import { TEST_CHAINS } from './on-every-chain.js';
import { IS_QUICK } from '../support/form.js';
import { pythonInFullForm, runPython } from '../support/toolchains/python-environment.js';

const python = (file: string): string => fileURLToPath(new URL(`python/${file}`, import.meta.url));
const [anchorpy, solders] = [
  await pythonInFullForm(python('anchorpy-requirements.txt')),
  await pythonInFullForm(python('solders-requirements.txt')),
];

function interpreterOf(environment: typeof anchorpy): string {
  if ('missing' in environment) {
    throw new Error(`No Python with the packages: ${environment.missing}`);
  }
  return environment.python;
}

describe.skipIf(IS_QUICK).each(TEST_CHAINS)('Python, from the IDL alone, on $name', (kind) => {
  let market: Market;
  beforeAll(async () => {
    market = await Market.start(kind);
  });
  afterAll(() => market.close());

  /** A job for a script, and the results that it must find. */
  async function jobFor(listingId: string) {
    await market.list(listingId, 'one_time');
    const { credential, listing } = market.addresses(listingId);
    return {
      job: {
        rpc_url: market.chain.rpcUrl,
        idl: MARKETPLACE_IDL,
        secret_key: [...market.buyer.secretKey],
        listing_id: listingId,
      },
      rented: {
        address: credential.toBase58(),
        buyer: market.buyer.publicKey.toBase58(),
        listing: listing.toBase58(),
        rental_model: 'OneTime',
        valid: true,
      },
    };
  }

  it('anchorpy rents, reads the credential and names an error', async () => {
    const { job, rented } = await jobFor('anchorpy-agent');
    const answer = await runPython(interpreterOf(anchorpy), python('anchorpy_client.py'), job);
    expect(answer).toMatchObject({
      refused: { code: 6101 },
      credential: {
        ...rented,
        purchased_at: Number((await market.credential('anchorpy-agent')).purchasedAt),
      },
    });
    expect(await market.hasAccess('anchorpy-agent')).toBe(true);
  });

  it('solders rents, reads the credential, verifies access and names an error', async () => {
    const { job, rented } = await jobFor('solders-agent');
    const answer = await runPython(interpreterOf(solders), python('solders_client.py'), job);
    expect(answer).toMatchObject({
      refused: { rpc_code: -32_002, code: 6101, name: 'PriceAboveLimit' },
      has_access: [[0], [1]],
      credential: {
        ...rented,
        purchased_at: Number((await market.credential('solders-agent')).purchasedAt),
      },
    });
  });
});
