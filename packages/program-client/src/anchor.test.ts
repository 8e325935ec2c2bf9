import { createRequire } from 'node:module';
import type * as Anchor from '@anchor-lang/core';
import type { Connection, PublicKey, Transaction, VersionedTransaction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { MARKETPLACE_IDL } from './idl.js';
import { DEPOSIT, Market, MONTH, PRICE } from './testing/market.js';

/** An Anchor provider on the embedded chain. */
function providerOf(market: Market) {
  const { chain } = market;
  const instructionsOf = (transaction: Transaction | VersionedTransaction) => {
    if (!('instructions' in transaction)) {
      throw new TypeError('Anchor builds legacy transactions.');
    }
    return transaction.instructions;
  };
  const getAccountInfoAndContext = (address: PublicKey) => {
    const found = chain.account(address);
    const value = found && {
      data: Buffer.from(found.data),
      owner: found.owner,
      lamports: Number(found.lamports),
      executable: false,
    };
    return Promise.resolve({ context: { slot: 1 }, value });
  };
  const connection = {
    commitment: 'confirmed',
    getAccountInfoAndContext,
    getAccountInfo: async (address: PublicKey) => (await getAccountInfoAndContext(address)).value,
  };
  return {
    connection: connection as unknown as Connection,
    publicKey: market.buyer,
    sendAndConfirm: (transaction: Transaction | VersionedTransaction) => {
      const outcome = chain.send(...instructionsOf(transaction));
      return outcome.error === null
        ? Promise.resolve(outcome.logs.join('\n'))
        : Promise.reject(Object.assign(new Error('Transaction failed'), { logs: outcome.logs }));
    },
    simulate: (transaction: Transaction | VersionedTransaction) => {
      const { logs, units } = chain.simulate(...instructionsOf(transaction));
      return Promise.resolve({ logs, unitsConsumed: Number(units), returnData: null, err: null });
    },
  };
}

// Anchor is CommonJS, and `BN` is not among the names that an ES import finds in it.
const require = createRequire(import.meta.url);

/** One of Anchor's readers of accounts. */
interface AccountType {
  fetch(at: PublicKey): Promise<Record<string, unknown>>;
}

/** Users are on both names of the same client. */
const clients = ['@anchor-lang/core', '@coral-xyz/anchor'].map(
  (name) => [name, require(name) as typeof Anchor] as const,
);

describe.each(clients)(
  '%s, from the IDL alone',
  (_, { Program, BN, EventParser, BorshCoder, AnchorError }) => {
    function setup(idl: Anchor.Idl = MARKETPLACE_IDL) {
      const market = new Market();
      const program = new Program<Anchor.Idl>(idl, providerOf(market));
      const method = (name: string, ...args: unknown[]) => {
        const build = program.methods[name];
        if (build === undefined) throw new Error(`No method ${name}`);
        return build(...args);
      };
      const accounts = program.account as unknown as Record<string, AccountType>;
      const fetch = (type: string, address: PublicKey) =>
        accounts[type]?.fetch(address) ?? Promise.reject(new Error(`No account type ${type}`));
      return { market, program, method, fetch };
    }

    const big = (value: bigint) => new BN(value.toString());
    const RUN = [...new Uint8Array(16).fill(9)];

    /** The error that Anchor reads in a refusal. */
    const failureOf = (sent: Promise<unknown>): Promise<unknown> =>
      sent.catch((error: unknown) => (error instanceof AnchorError ? error.error : error));

    it('lists, rents and charges, resolving the addresses that have seeds', async () => {
      const { market, method, fetch } = setup();
      const { creator, authority, buyer } = market;
      const at = market.addresses('anchor-agent');
      await method('createListing', 'anchor-agent', { perQuery: {} }, big(PRICE), big(DEPOSIT), 'ipfs://x')
        .accounts({ creator, authority })
        .rpc();
      expect(await fetch('listing', at.listing)).toMatchObject({
        rentalModel: { perQuery: {} },
        status: { active: {} },
        listingId: 'anchor-agent',
        metadataUri: 'ipfs://x',
      });
      await method('purchasePerQuery', big(DEPOSIT), big(PRICE))
        .accounts({ buyer, listing: at.listing })
        .rpc();
      await method('consumeQuery', big(1n), RUN, big(PRICE))
        .accounts({ authority, buyer, listing: at.listing })
        .rpc();
      const balance = await fetch('perQueryBalance', at.balance);
      expect(String(balance['balanceLamports'])).toBe(String(DEPOSIT - PRICE));
      expect(market.balance('anchor-agent').window).toBe(1n);
    });

    it('verifies access by view()', async () => {
      const { market, method } = setup();
      const id = market.list('subscription');
      const ask = (buyer: PublicKey): Promise<unknown> => method('verifyAccess', buyer, id).view();
      expect(await ask(market.buyer)).toBe(false);
      market.rent(id);
      expect(await ask(market.buyer)).toBe(true);
      market.chain.setTime(market.chain.now() + MONTH);
      expect(await ask(market.buyer)).toBe(false);
      expect(await method('verifyAccess', market.buyer, 'no-such-listing').view()).toBe(false);
    });

    it('reads our errors and the framework’s', async () => {
      const { market, method } = setup();
      const id = market.list('one_time');
      const { listing } = market.addresses(id);
      const purchase = (price: bigint) =>
        method('purchaseOneTime', big(price)).accounts({ buyer: market.buyer, listing });
      const errorCode = { code: 'PriceAboveLimit', number: 6101 };
      expect(await failureOf(purchase(1n).rpc())).toMatchObject({ errorCode });
      const wrong = purchase(PRICE).accountsPartial({ escrow: listing });
      const wrongCode = { code: 'AccountDiscriminatorMismatch', number: 3002 };
      expect(await failureOf(wrong.rpc())).toMatchObject({ errorCode: wrongCode });
    });

    it('reads the price history of a listing, and the error and the event of a charge at it [PRG-12, PRG-10]', async () => {
      const { market, method, fetch, program } = setup();
      const id = market.list('per_query');
      market.rent(id);
      const { authority, buyer } = market;
      const { listing } = market.addresses(id);
      market.updateListing(id, { priceLamports: PRICE / 2n });
      const charge = (price: bigint) =>
        method('consumeQuery', big(1n), RUN, big(price)).accounts({ authority, buyer, listing });
      const errorCode = { code: 'PriceChanged', number: 6104 };
      expect(await failureOf(charge(PRICE - 1n).rpc())).toMatchObject({ errorCode });
      const { logs } = market.chain.succeed(await charge(PRICE).instruction());
      const [event] = [...new EventParser(program.programId, new BorshCoder(program.idl)).parseLogs(logs)];
      expect([event?.name, String(event?.data.priceLamports)]).toEqual(['queryConsumed', String(PRICE)]);
      market.updateListing(id, { status: 'paused' });
      market.chain.setTime(market.chain.now() + 43_201n);
      market.updateListing(id, { status: 'active' });
      const state = await fetch('listing', listing);
      const { previousPriceLamports, priceChangedAt, pauseHistory } = market.listing(id);
      expect(String(state['previousPriceLamports'])).toBe(String(previousPriceLamports));
      expect(String(state['priceChangedAt'])).toBe(String(priceChangedAt));
      expect([String(state['pauseUnits']), state['pauseLatest'], state['pauseRemainder']]).toEqual([
        String(pauseHistory.units),
        pauseHistory.latest,
        1,
      ]);
    });

    it('of an older IDL, whose charges name no price, is refused in words [PRG-10]', async () => {
      const unpriced: Anchor.Idl = {
        ...MARKETPLACE_IDL,
        instructions: MARKETPLACE_IDL.instructions.map((instruction) => ({
          ...instruction,
          args: instruction.args.filter(
            ({ name }) => instruction.name !== 'consume_query' || name !== 'price_lamports',
          ),
        })),
      };
      const { market, method } = setup(unpriced);
      const id = market.list('per_query');
      market.rent(id);
      const { authority, buyer } = market;
      const { listing } = market.addresses(id);
      const charge = method('consumeQuery', big(1n), RUN).accounts({ authority, buyer, listing });
      expect(await failureOf(charge.rpc())).toMatchObject({
        errorCode: { code: 'InstructionDidNotDeserialize', number: 102 },
        errorMessage: 'The program could not deserialize the given instruction',
      });
      expect(market.balance(id).balanceLamports).toBe(DEPOSIT);
    });

    it('reads our events', () => {
      const { market, program } = setup();
      const id = market.list('one_time');
      const { logs } = market.rent(id);
      const parser = new EventParser(program.programId, new BorshCoder(program.idl));
      const events = [...parser.parseLogs(logs)];
      expect(events.map((event) => event.name)).toEqual(['oneTimePurchased']);
      expect(events[0]?.data).toMatchObject({ buyer: market.buyer });
      expect(String(events[0]?.data.priceLamports)).toBe(String(PRICE));
    });

    it('updates the protocol with and without its optional account', async () => {
      const { market, method, fetch } = setup();
      const { admin, chain } = market;
      const { protocol } = market.addresses('x');
      const nothing = [null, null, null, null, null, null];
      await method('updateProtocol', ...nothing.with(5, true as never))
        .accountsPartial({ admin, newTreasury: null } as object)
        .rpc();
      expect(await fetch('protocol', protocol)).toMatchObject({ paused: true, treasury: market.treasury });
      const newTreasury = chain.wallet();
      await method('updateProtocol', ...nothing)
        .accounts({ admin, newTreasury })
        .rpc();
      expect(await fetch('protocol', protocol)).toMatchObject({ treasury: newTreasury });
    });
  },
);
