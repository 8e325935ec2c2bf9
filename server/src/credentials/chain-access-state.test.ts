import {
  ACCESS_CREDENTIAL_OFFSETS,
  ACCOUNT_DISCRIMINATORS,
  ACCOUNT_SIZES,
  ACCOUNT_VERSION,
  LISTING_OFFSETS,
  MARKETPLACE_PROGRAM_ID,
  PER_QUERY_BALANCE_OFFSETS,
  type AccountName,
} from '@agent-rental/program-client';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Chain } from '../chain/index.js';
import { newWallet } from '../testing/index.js';
import { readChainAccessState } from './chain-access-state.js';

const ONE_TIME = 0;
type Found = Awaited<ReturnType<Chain['getAccountsOfTwo']>>;

function account(name: AccountName, bytes: Readonly<Record<number, number>> = {}) {
  const data = Buffer.alloc(ACCOUNT_SIZES[name]);
  data.set(ACCOUNT_DISCRIMINATORS[name]);
  data[8] = ACCOUNT_VERSION;
  for (const [offset, byte] of Object.entries(bytes)) data[Number(offset)] = byte;
  return { data, owner: MARKETPLACE_PROGRAM_ID, lamports: 1, executable: false };
}

const listing = account('Listing', { [LISTING_OFFSETS.rentalModel]: ONE_TIME });
const credential = account('AccessCredential', {
  [ACCESS_CREDENTIAL_OFFSETS.rentalModel]: ONE_TIME,
  [ACCESS_CREDENTIAL_OFFSETS.valid]: 1,
});
const GRANTED = [listing, credential, null];
const NONE = [listing, null, null];

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
  const PER_QUERY = 2;
  const prepaid = (balanceLamports: number) => [
    account('Listing', { [LISTING_OFFSETS.rentalModel]: PER_QUERY }),
    account('AccessCredential', {
      [ACCESS_CREDENTIAL_OFFSETS.rentalModel]: PER_QUERY,
      [ACCESS_CREDENTIAL_OFFSETS.valid]: 1,
    }),
    withBalance(balanceLamports),
  ];
  answers = [{ slot: 9n, accounts: prepaid(200), second: { slot: 9n, accounts: prepaid(7) } }];
  expect((await read())?.balance?.balanceLamports).toBe(7n);
});

/** A balance of so much: the field behind the listing. */
function withBalance(lamports: number) {
  const found = account('PerQueryBalance');
  found.data.writeBigUInt64LE(BigInt(lamports), PER_QUERY_BALANCE_OFFSETS.listing + 32);
  return found;
}
