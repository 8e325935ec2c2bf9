import { createRequire } from 'node:module';
import type * as Anchor from '@anchor-lang/core';
import { LISTING_OFFSETS, MARKETPLACE_IDL } from '@agent-rental/program-client';
import type { Keypair, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localChain } from './chains/local-chain.js';
import { DEPOSIT, FEE, Market, PRICE } from './market.js';
import { Notifications, untilSubscribed } from './subscriptions.js';

// Anchor is CommonJS, and `BN` is not among the names that an ES import finds in it.
const require = createRequire(import.meta.url);

/** The same client under its present name and under its old name, which most programs still use. */
const clients = ['@anchor-lang/core', '@coral-xyz/anchor'].map(
  (name) => [name, require(name) as typeof Anchor] as const,
);

type Fields = Record<string, unknown>;

interface AccountNamespace {
  fetch(address: PublicKey): Promise<Fields>;
  all(
    filters?: { memcmp: { offset: number; bytes: string } }[],
  ): Promise<{ publicKey: PublicKey; account: Fields }[]>;
}

// On the embedded chain alone: this client confirms over the websocket. Surfnet says nothing there of a signature that
// landed before it was subscribed to.
describe.each(clients)(
  '%s, from the IDL alone',
  (name, { AnchorError, AnchorProvider, BN, Program, Wallet }) => {
    let market: Market;
    beforeAll(async () => {
      market = await Market.start(localChain);
    });
    afterAll(() => market.close());

    /** A `Program` as its user's code makes it, with a wallet that pays. */
    function programOf(wallet: Keypair) {
      const provider = new AnchorProvider(market.chain.connection, new Wallet(wallet), {
        commitment: 'confirmed',
      });
      const program = new Program<Anchor.Idl>(MARKETPLACE_IDL, provider);
      const accounts = program.account as unknown as Record<string, AccountNamespace>;
      return {
        program,
        method: (method: string, ...args: unknown[]) => {
          const build = program.methods[method];
          if (build === undefined) {
            throw new Error(`No method ${method}`);
          }
          return build(...args);
        },
        account: (type: string): AccountNamespace => {
          const found = accounts[type];
          if (found === undefined) {
            throw new Error(`No account ${type}`);
          }
          return found;
        },
      };
    }

    const big = (value: bigint) => new BN(value.toString());
    const text = (value: unknown) => String(value);
    const errorCodeOf = async (sent: Promise<unknown>): Promise<unknown> => {
      try {
        return await sent;
      } catch (error) {
        return error instanceof AnchorError ? error.error.errorCode : error;
      }
    };

    it('lists, rents, charges and withdraws, deriving every address that has seeds [PRG-2, PRG-12]', async () => {
      const { authority, buyer, creator } = market;
      const at = market.addresses('anchor-agent');
      const asCreator = programOf(creator);
      await asCreator
        .method('createListing', 'anchor-agent', { perQuery: {} }, big(PRICE), big(PRICE), 'ipfs://x')
        .accounts({ creator: creator.publicKey, authority: authority.publicKey })
        .signers([authority])
        .rpc();
      expect(await asCreator.account('listing').fetch(at.listing)).toMatchObject({
        creator: creator.publicKey,
        rentalModel: { perQuery: {} },
        status: { active: {} },
        listingId: 'anchor-agent',
      });

      await programOf(buyer)
        .method('purchasePerQuery', big(DEPOSIT), big(PRICE))
        .accounts({ buyer: buyer.publicKey, listing: at.listing })
        .rpc();
      const charge = (price: bigint) =>
        programOf(authority)
          .method('consumeQuery', big(1n), [...new Uint8Array(16).fill(9)], big(price))
          .accounts({ authority: authority.publicKey, buyer: buyer.publicKey, listing: at.listing });
      expect(await errorCodeOf(charge(PRICE + 1n).rpc())).toEqual({ code: 'PriceChanged', number: 6104 });
      await charge(PRICE).rpc();
      const balance = await asCreator.account('perQueryBalance').fetch(at.balance);
      expect(text(balance['balanceLamports'])).toBe(text(DEPOSIT - PRICE));
      expect(text(balance['highestSequence'])).toBe('1');

      await asCreator
        .method('withdrawEarnings', null)
        .accounts({ creator: creator.publicKey, listing: at.listing })
        .rpc();
      const escrow = await asCreator.account('escrow').fetch(at.escrow);
      expect([text(escrow['earningsLamports']), text(escrow['totalEarnedLamports'])]).toEqual([
        '0',
        text(PRICE - FEE),
      ]);
    });

    it('finds listings by their creator', async () => {
      const creator = await market.wallet(`${name} creator`);
      const { account, method } = programOf(creator);
      await method('createListing', 'found-agent', { oneTime: {} }, big(PRICE), big(0n), 'ipfs://x')
        .accounts({ creator: creator.publicKey, authority: market.authority.publicKey })
        .signers([market.authority])
        .rpc();
      const found = await account('listing').all([
        { memcmp: { offset: LISTING_OFFSETS.creator, bytes: creator.publicKey.toBase58() } },
      ]);
      expect(found.map((listing) => listing.account['listingId'])).toEqual(['found-agent']);
    });

    it('hears of a purchase', async () => {
      const { buyer } = market;
      const listingId = await market.list('heard-agent', 'one_time');
      const { listing } = market.addresses(listingId);
      const { program, method } = programOf(buyer);
      const purchases = new Notifications<{ event: Fields; signature: string }>();
      const listener = program.addEventListener(
        'oneTimePurchased',
        (event: Fields, _slot: number, signature: string) => purchases.push({ event, signature }),
      );
      await untilSubscribed(market);
      const signature = await method('purchaseOneTime', big(PRICE))
        .accounts({ buyer: buyer.publicKey, listing })
        .rpc();
      const [heard] = await purchases.matching(() => true, 1);
      await program.removeEventListener(listener);
      expect(heard?.signature).toBe(signature);
      expect(heard?.event).toMatchObject({ listing, buyer: buyer.publicKey });
      expect([text(heard?.event['priceLamports']), text(heard?.event['feeLamports'])]).toEqual([
        text(PRICE),
        text(FEE),
      ]);
    });

    it('views whether a wallet has access', async () => {
      const { buyer, treasury } = market;
      const listingId = await market.prepaid('viewed-agent');
      const { method } = programOf(treasury);
      const hasAccess = (wallet: PublicKey, id: string): Promise<unknown> =>
        method('verifyAccess', wallet, id).view();
      expect(await hasAccess(buyer.publicKey, listingId)).toBe(true);
      expect(await hasAccess(treasury.publicKey, listingId)).toBe(false);
      expect(await hasAccess(buyer.publicKey, 'no-such-agent')).toBe(false);
    });

    it('reads the errors of the program and of Anchor’s own checks [PRG-12]', async () => {
      const { buyer } = market;
      const listingId = await market.list('refusing-agent', 'one_time');
      const { escrow, listing } = market.addresses(listingId);
      const { method } = programOf(buyer);
      const purchase = (price: bigint) =>
        method('purchaseOneTime', big(price)).accounts({ buyer: buyer.publicKey, listing });
      expect(await errorCodeOf(purchase(1n).rpc())).toEqual({ code: 'PriceAboveLimit', number: 6101 });
      expect(await errorCodeOf(purchase(PRICE).accountsPartial({ listing: escrow }).rpc())).toEqual({
        code: 'AccountDiscriminatorMismatch',
        number: 3002,
      });
      const missing = method('topupBalance', big(PRICE), big(PRICE)).accounts({
        buyer: buyer.publicKey,
        listing,
      });
      expect(await errorCodeOf(missing.rpc())).toEqual({ code: 'CredentialNotFound', number: 6001 });
      await purchase(PRICE).rpc();
      expect(await errorCodeOf(purchase(PRICE + 1n).rpc())).toEqual({
        code: 'InvalidAccessType',
        number: 6005,
      });
    });

    it('updates the protocol with and without its optional account', async () => {
      const { admin, treasury } = market;
      const newTreasury = (await market.wallet('new treasury')).publicKey;
      const { account, method } = programOf(admin);
      const { protocol } = market.addresses('any');
      const update = (feeBps: number | null) =>
        method('updateProtocol', null, null, null, feeBps, null, null);
      await update(300)
        .accountsPartial({ admin: admin.publicKey, newTreasury: null } as object)
        .rpc();
      expect(await account('protocol').fetch(protocol)).toMatchObject({
        feeBps: 300,
        treasury: treasury.publicKey,
      });
      await update(null).accounts({ admin: admin.publicKey, newTreasury }).rpc();
      expect(await account('protocol').fetch(protocol)).toMatchObject({ feeBps: 300, treasury: newTreasury });
    });
  },
);
