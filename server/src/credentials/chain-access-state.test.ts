import {
  ACCESS_CREDENTIAL_OFFSETS,
  LISTING_OFFSETS,
  MARKETPLACE_PROGRAM_ID,
  PER_QUERY_BALANCE_OFFSETS,
} from '@agent-rental/program-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../chain/index.js';
import { newWallet, programAccount } from '../testing/index.js';
import { readChainAccessState } from './chain-access-state.js';

const ONE_TIME = 0;
const PER_QUERY = 2;
type Found = Awaited<ReturnType<Chain['getAccountsOfTwo']>>;

const listing = (model: number) => programAccount('Listing', { [LISTING_OFFSETS.rentalModel]: model });
const credential = (model: number) =>
  programAccount('AccessCredential', {
    [ACCESS_CREDENTIAL_OFFSETS.rentalModel]: model,
    [ACCESS_CREDENTIAL_OFFSETS.valid]: 1,
  });
const GRANTED = [listing(ONE_TIME), credential(ONE_TIME), null];
const NONE = [listing(ONE_TIME), null, null];

/** The answers of the two endpoints, call by call; the last one stays. */
let answers: Found[];
let asked: (bigint | undefined)[];
const read = () =>
  readChainAccessState(
    {
      programId: MARKETPLACE_PROGRAM_ID,
      getAccountsOfTwo: async (_, atLeast) => {
        asked.push(atLeast);
        return (answers.length > 1 ? answers.shift() : answers[0]) as Found;
      },
    },
    'a-listing',
    newWallet(),
  );
beforeEach(() => {
  asked = [];
});

describe('access that two endpoints show differently', () => {
  it.each([
    ['a newer', [GRANTED, NONE]],
    ['an older', [NONE, GRANTED]],
  ])('is not granted by a credential in %s answer alone [MON-40]', async (_, [accounts = [], other = []]) => {
    answers = [{ slot: 9n, accounts, second: { slot: 8n, accounts: other } }];
    await expect(read()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 5 });
    // The second was asked at the slot of the first.
    expect(asked).toEqual([undefined, 9n]);
  });

  it('is granted once the one that was a slot behind shows it too', async () => {
    answers = [
      { slot: 9n, accounts: GRANTED, second: { slot: 8n, accounts: NONE } },
      { slot: 9n, accounts: GRANTED, second: { slot: 9n, accounts: GRANTED } },
    ];
    expect(await read()).toMatchObject({ credential: { valid: true } });
  });

  it('with one endpoint is its word', async () => {
    answers = [{ slot: 9n, accounts: GRANTED }];
    expect(await read()).toMatchObject({ credential: { valid: true } });
    expect(asked).toEqual([undefined]);
  });
});

it('of two balances the lower one counts [MON-40]', async () => {
  const prepaid = (lamports: number) => {
    const balance = programAccount('PerQueryBalance');
    // The field behind the listing.
    balance.data.writeBigUInt64LE(BigInt(lamports), PER_QUERY_BALANCE_OFFSETS.listing + 32);
    return [listing(PER_QUERY), credential(PER_QUERY), balance];
  };
  answers = [{ slot: 9n, accounts: prepaid(200), second: { slot: 9n, accounts: prepaid(7) } }];
  expect((await read())?.balance?.balanceLamports).toBe(7n);
});
