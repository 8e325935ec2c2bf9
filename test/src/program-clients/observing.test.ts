import {
  ACCOUNT_DISCRIMINATORS,
  ACCOUNT_SIZES,
  decodeEvents,
  decodeListing,
  decodePerQueryBalance,
  decodeProgramError,
  LISTING_OFFSETS,
  MARKETPLACE_PROGRAM_ID,
  type PerQueryBalance,
  purchaseOneTime,
  withdrawEarnings,
} from '@agent-rental/program-client';
import { type Logs, SendTransactionError, Transaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect, it } from 'vitest';
import { DEPOSIT, Market, PRICE } from './market.js';
import { onEveryChain } from './on-every-chain.js';
import { Notifications, untilSubscribed } from './subscriptions.js';

/** The byte of this rental model: its place in the IDL's enum. */
const SUBSCRIPTION = 1;

onEveryChain(Market.start, (at) => {
  it('notifies subscribers of every event with its signature, in order, and of changed accounts', async () => {
    const market = at();
    const { authority, creator } = market;
    const { connection } = market.chain;
    const listingId = await market.prepaid('observed-agent');
    const logs = new Notifications<Logs>();
    const balances = new Notifications<PerQueryBalance>();
    const { balance } = market.addresses(listingId);
    const watchers = [
      connection.onAccountChange(balance, ({ data }) => balances.push(decodePerQueryBalance(data))),
      connection.onLogs(MARKETPLACE_PROGRAM_ID, logs.push, 'confirmed'),
    ] as const;
    await untilSubscribed(market);

    const sent = [
      await market.send(market.charge(listingId, 1n), authority),
      await market.send(market.charge(listingId, 2n), authority),
      await market.send(withdrawEarnings({ creator: creator.publicKey, listingId }), creator),
    ];
    const isSent = (of: Logs) => sent.some(({ signature }) => signature === of.signature);
    const seen = await logs.matching(isSent, sent.length);
    expect(seen.map(({ signature, err }) => ({ signature, err }))).toEqual(
      sent.map(({ signature }) => ({ signature, err: null })),
    );
    expect(seen.map((of) => of.logs)).toEqual(sent.map((outcome) => outcome.logs));
    expect(seen.flatMap((of) => decodeEvents(of.logs))).toEqual(sent.flatMap(({ events }) => events));
    const changes = await balances.matching(() => true, 2);
    expect(changes.map(({ highestSequence, balanceLamports }) => [highestSequence, balanceLamports])).toEqual(
      [
        [1n, DEPOSIT - PRICE],
        [2n, DEPOSIT - 2n * PRICE],
      ],
    );
    await connection.removeAccountChangeListener(watchers[0]);
    await connection.removeOnLogsListener(watchers[1]);
  });

  it('gives web3.js the logs of a refused transaction, and they hold the error', async () => {
    const market = at();
    const { buyer, treasury } = market;
    const listingId = await market.list('dear-agent', 'one_time');
    const purchase = purchaseOneTime({
      buyer: buyer.publicKey,
      listingId,
      treasury: treasury.publicKey,
      maxPriceLamports: PRICE - 1n,
    });
    const failure: unknown = await market.chain.connection
      .sendTransaction(new Transaction().add(purchase), [buyer])
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SendTransactionError);
    expect(decodeProgramError(failure)).toMatchObject({ code: 6101, name: 'PriceAboveLimit' });
  });

  it('finds accounts by their fields [PRG-12]', async () => {
    const market = at();
    await market.list('found-agent', 'subscription');
    const found = await market.chain.connection.getProgramAccounts(MARKETPLACE_PROGRAM_ID, {
      filters: [
        { dataSize: ACCOUNT_SIZES.Listing },
        { memcmp: { offset: 0, bytes: bs58.encode(ACCOUNT_DISCRIMINATORS.Listing) } },
        { memcmp: { offset: LISTING_OFFSETS.creator, bytes: market.creator.publicKey.toBase58() } },
        { memcmp: { offset: LISTING_OFFSETS.rentalModel, bytes: bs58.encode([SUBSCRIPTION]) } },
      ],
    });
    expect(found.map(({ account }) => decodeListing(account.data).listingId)).toEqual(['found-agent']);
  });
});
