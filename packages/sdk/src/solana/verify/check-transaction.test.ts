import { TRANSACTION_SCOPES, type TransactionRequest } from '@agent-rental/contract';
import {
  closeListing,
  consumeQuery,
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findProtocolAddress,
  MARKETPLACE_IDL,
  purchaseOneTime,
  purchasePerQuery,
  purchaseSubscription,
  renewSubscription,
  topupBalance,
  updateListing,
  withdrawEarnings,
} from '@agent-rental/program-client';
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  type PublicKey,
} from '@solana/web3.js';
import { describe, expect, test } from 'vitest';
import * as solana from '../index.js';
import {
  checkProposal,
  inspectProposal,
  isUntrustedTransaction,
  type SignOptions,
  type UntrustedReason,
} from '../index.js';
import {
  authority,
  BLOCKHASH,
  HONEST,
  honest,
  listingId,
  proposalOf,
  QUOTE,
  rentOf,
  toBase64,
  treasury,
  wallet,
  withStranger,
} from '../testing/proposals.js';
import { LIGHTHOUSE_PROGRAM_ID } from './wallet-guard.js';

const address = wallet.publicKey.toBase58();
const stranger = Keypair.generate();
const buyer = wallet.publicKey;
const cap = 5_000_000n;
const renter = { buyer, listingId };
const month = { ...renter, treasury, durationSeconds: 2_592_000 };
const quarter = { ...renter, treasury, durationSeconds: 7_776_000 };
const deposit = { ...renter, depositLamports: 9_000_000n, maxPriceLamports: cap };
const owner = { creator: wallet.publicKey, listingId };
const update = { ...owner, priceLamports: 7_000_000n, metadataUri: 'ipfs://y' };

/** The reason of a proposal's refusal; undefined if it is accepted. */
function reasonOf(
  proposal: Parameters<typeof checkProposal>[0],
  request: TransactionRequest,
  options: Parameters<typeof checkProposal>[3] = {},
): UntrustedReason | undefined {
  try {
    checkProposal(proposal, request, address, options);
    return undefined;
  } catch (error) {
    if (isUntrustedTransaction(error)) return error.reason;
    throw error;
  }
}

/** An instruction with other accounts or data, or for another program. */
function altered(
  { keys, programId, data }: TransactionInstruction,
  changes: Partial<Pick<TransactionInstruction, 'keys' | 'programId' | 'data'>>,
): TransactionInstruction {
  return new TransactionInstruction({ keys, programId, data, ...changes });
}

/** An instruction with another account at one place. */
function swapped(
  instruction: TransactionInstruction,
  index: number,
  pubkey: PublicKey,
): TransactionInstruction {
  const keys = instruction.keys.map((key, at) => (at === index ? { ...key, pubkey } : key));
  return altered(instruction, { keys });
}

/** The place of an account by its name in the IDL. */
function placeOf(instructionName: string, account: string): number {
  const found = MARKETPLACE_IDL.instructions.find(({ name }) => name === instructionName);
  return found?.accounts.findIndex(({ name }) => name === account) ?? -1;
}

const transfer = SystemProgram.transfer({ fromPubkey: buyer, toPubkey: stranger.publicKey, lamports: 1 });
/** The treasury and keys of the chain. Without them the check would not see a stranger in their place. */
const known = { treasury, authorities: [authority.publicKey] };
const PROPOSALS = Object.entries(HONEST);
const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
/** An instruction of Lighthouse; 2 to 17 are assertions. */
const guard = (kind: number) =>
  new TransactionInstruction({
    programId: LIGHTHOUSE_PROGRAM_ID,
    keys: [{ pubkey: stranger.publicKey, isSigner: false, isWritable: false }],
    data: Buffer.from([kind, 4, 0, 0]),
  });
const unitPrice = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });

test('there is an honest proposal of every action', () => {
  const proposed = new Set(Object.values(HONEST).map(({ request }) => request.action));
  expect([...proposed].toSorted()).toEqual(Object.keys(TRANSACTION_SCOPES).toSorted());
});

test('there is a function for every action', () => {
  const functions = Object.keys(TRANSACTION_SCOPES).map((name) => (name === 'topup' ? 'topUp' : name));
  expect(functions.filter((name) => !(name in solana))).toEqual([]);
});

test.each(PROPOSALS)('an honest proposal to %s is accepted', (_, { request, instructions }) => {
  expect(reasonOf(proposalOf(instructions), request)).toBeUndefined();
  expect(reasonOf(proposalOf(instructions), request, known)).toBeUndefined();
});

test.each(PROPOSALS)('a proposal to %s may have assertions of the wallet', (_, { request, instructions }) => {
  for (const kind of [2, 5, 17]) {
    const guarded = [guard(kind), ...instructions, guard(kind)];
    expect(reasonOf(proposalOf(guarded), request, known), `assertion ${kind}`).toBeUndefined();
  }
});

describe.each(PROPOSALS)('a hostile proposal to %s is refused', (name, { request, instructions }) => {
  const [first, ...rest] = instructions as [TransactionInstruction, ...TransactionInstruction[]];
  /** The reason of the refusal of other instructions. */
  const refused = (hostile: TransactionInstruction[], options?: Parameters<typeof checkProposal>[3]) =>
    reasonOf(proposalOf(hostile), request, options);

  test('paid by another wallet', () => {
    expect(reasonOf(proposalOf(instructions, stranger.publicKey), request)).toBe('payer');
  });

  test('with a transfer beside it, before or after', () => {
    expect(refused([...instructions, transfer])).toBe('program');
    expect(refused([transfer, ...instructions])).toBe('program');
  });

  test('with a write of Lighthouse beside it, or an assertion on a writable account', () => {
    expect(refused([...instructions, guard(0)])).toBe('program');
    expect(refused([...instructions, guard(1)])).toBe('program');
    expect(refused([...instructions, guard(18)])).toBe('program');
    const onWritable = { pubkey: stranger.publicKey, isSigner: false, isWritable: true };
    expect(refused([...instructions, altered(guard(5), { keys: [onWritable] })])).toBe('account');
  });

  test('through another program', () => {
    expect(refused(instructions.map((one) => altered(one, { programId: stranger.publicKey })))).toBe(
      'program',
    );
  });

  test('with each account swapped', () => {
    for (const [at, instruction] of instructions.entries()) {
      for (const index of instruction.keys.keys()) {
        const hostile = instructions.with(at, swapped(instruction, index, stranger.publicKey));
        expect(refused(hostile, known), `account ${index}`).toBe('account');
      }
    }
  });

  test('for another listing', () => {
    const other = { ...request, listing_id: 'invoice-reader-aaaaaa' };
    expect(['account', 'argument']).toContain(reasonOf(proposalOf(instructions), other));
  });

  test('with another signer', () => {
    const key = { pubkey: stranger.publicKey, isSigner: true, isWritable: false };
    expect(refused([altered(first, { keys: [...first.keys, key] }), ...rest])).toBe('account');
    expect(refused([altered(limit(50_000), { keys: [key] }), ...instructions])).toBe('network_fee');
  });

  // A signer, a writable and a readable account without an instruction.
  test.each([
    [{ signers: 1, readonly: 0 }, 'signer'],
    [{ signers: 0, readonly: 0 }, 'account'],
    [{ signers: 0, readonly: 1 }, 'account'],
  ])('with an account that it does not use: %o', (header, reason) => {
    const proposal = withStranger(proposalOf(instructions), stranger.publicKey, header);
    expect(reasonOf(proposal, request)).toBe(reason);
  });

  test('with a read-only account made writable', () => {
    const writable = instructions.map((one) =>
      altered(one, { keys: one.keys.map((key) => ({ ...key, isWritable: true })) }),
    );
    // Between them, withdrawing and closing write to everything that they name.
    expect(refused(writable)).toBe(name === 'close' ? undefined : 'account');
  });

  test('twice, not at all, or with another instruction of ours', () => {
    const charge = { buyer, authority: buyer, treasury, listingId, sequence: 1n, priceLamports: 1n };
    const consume = consumeQuery({ ...charge, runId: new Uint8Array(16) });
    const unknown = altered(first, { data: Buffer.alloc(9, 7) });
    for (const hostile of [
      [...instructions, ...instructions],
      [],
      [...instructions, consume],
      [consume],
      [...instructions, unknown],
    ])
      expect(refused(hostile)).toBe('instruction');
  });

  test('for any other action [TXN-16]', () => {
    const others = Object.values(HONEST).filter((other) => other.request.action !== request.action);
    for (const other of others) {
      // These two are one instruction, for another buyer.
      const isPair = [request.action, other.request.action].sort().join() === 'reclaim,revoke';
      const reason = reasonOf(proposalOf(instructions), other.request);
      expect(reason, other.request.action).toMatch(isPair ? 'account' : /instruction|argument/);
    }
  });

  test('with accounts hidden in a lookup table', () => {
    const table = new AddressLookupTableAccount({
      key: stranger.publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: instructions.flatMap(({ keys }) => keys.map(({ pubkey }) => pubkey)),
      },
    });
    const message = new TransactionMessage({ payerKey: buyer, recentBlockhash: BLOCKHASH, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message([table]));
    const proposal = { transaction: toBase64(transaction.serialize()), quote: QUOTE };
    expect(reasonOf(proposal, request)).toBe('lookup_table');
  });

  test('with a huge priority fee, by price or by limit', () => {
    const most = limit(100_000);
    const deprecated = altered(most, { data: Buffer.from([0, ...most.data.subarray(1), 0, 0, 0, 0]) });
    for (const budget of [
      [most, unitPrice(1_000_001n)],
      [unitPrice(500_000n)],
      [unitPrice(2n ** 64n - 1n)],
      [most, most],
      [deprecated],
      [altered(most, { data: most.data.subarray(0, 3) })],
    ])
      expect(refused([...budget, ...instructions])).toBe('network_fee');
    // A small fee is allowed, and any that the caller allows.
    const small = withFee(proposalOf([most, unitPrice(1_000_000n), ...instructions]), 100_000);
    expect(reasonOf(small, request)).toBeUndefined();
    const dear = withFee(proposalOf([unitPrice(1_000_000n), ...instructions]), 1_400_000);
    expect(reasonOf(dear, request, { maxPriorityFeeLamports: 2_000_000n })).toBeUndefined();
  });
});

describe('a hostile proposal is refused', () => {
  const pause = proposalOf(honest('pause').instructions).transaction;

  test.each([
    ['rent one_time', purchaseOneTime({ ...renter, treasury, maxPriceLamports: cap + 1n }), 'price'],
    ['rent subscription', purchaseSubscription({ ...month, maxPriceLamports: cap + 1n }), 'price'],
    ['rent subscription', purchaseSubscription({ ...quarter, maxPriceLamports: cap }), 'argument'],
    ['renew', renewSubscription({ ...quarter, maxPriceLamports: cap + 1n }), 'price'],
    ['renew', renewSubscription({ ...month, maxPriceLamports: cap }), 'argument'],
    ['topup', topupBalance({ ...renter, amountLamports: cap, maxPriceLamports: cap + 1n }), 'price'],
    ['topup', topupBalance({ ...renter, amountLamports: cap + 1n, maxPriceLamports: cap }), 'argument'],
    ['rent per_query', purchasePerQuery({ ...deposit, maxPriceLamports: 9_000_001n }), 'price'],
    ['rent per_query', purchasePerQuery({ ...deposit, depositLamports: 9_000_001n }), 'argument'],
    ['update', updateListing({ ...update, priceLamports: 1_000n }), 'argument'],
    ['update', updateListing({ ...update, metadataUri: 'ipfs://z' }), 'argument'],
    ['update', updateListing({ ...update, minDepositLamports: 1n }), 'argument'],
    ['update', updateListing({ ...update, status: 'paused' }), 'argument'],
    ['pause', updateListing({ ...owner, status: 'active' }), 'argument'],
    ['pause', updateListing({ ...owner, status: 'paused', priceLamports: 1_000n }), 'argument'],
    ['resume', updateListing({ ...owner, status: 'paused' }), 'argument'],
    ['withdraw', withdrawEarnings(owner), 'argument'],
    ['close', withdrawEarnings({ ...owner, amountLamports: 1n }), 'argument'],
  ])('to %s with another value', (name, first, reason) => {
    const { request, instructions } = honest(name);
    expect(reasonOf(proposalOf(instructions.with(0, first)), request)).toBe(reason);
  });

  test('to publish on other terms than those named', () => {
    const { instructions } = honest('publish');
    const request = (price_lamports: number, rental_model: 'one_time' | 'subscription') =>
      ({ action: 'publish', listing_id: listingId, listing: { rental_model, price_lamports } }) as const;
    expect(reasonOf(proposalOf(instructions), request(5_000_000, 'one_time'))).toBeUndefined();
    expect(reasonOf(proposalOf(instructions), request(5_000_001, 'one_time'))).toBe('argument');
    expect(reasonOf(proposalOf(instructions), request(5_000_000, 'subscription'))).toBe('argument');
  });

  test('to publish without the co-signature, or with one of another key', () => {
    const { request, instructions } = honest('publish');
    const proposal = proposalOf(instructions);
    const transaction = VersionedTransaction.deserialize(Buffer.from(proposal.transaction, 'base64'));
    transaction.signatures[1] = new Uint8Array(64);
    const unsigned = { ...proposal, transaction: toBase64(transaction.serialize()) };
    expect(reasonOf(unsigned, request)).toBe('signature');
    const place = placeOf('create_listing', 'authority');
    const other = proposalOf([swapped(instructions[0]!, place, stranger.publicKey)]);
    expect(reasonOf(other, request)).toBe('signature');
    expect(reasonOf(other, request, { authorities: [authority.publicKey] })).toBe('account');
  });

  test('to rent with an account of another part as the treasury, though the treasury is not known', () => {
    const { request, instructions } = honest('rent one_time');
    const listing = findListingAddress(listingId).address;
    const place = placeOf('purchase_one_time', 'treasury');
    for (const pubkey of [
      buyer,
      listing,
      findEscrowAddress(listing).address,
      findAccessCredentialAddress(buyer, listing).address,
      findProtocolAddress().address,
      SystemProgram.programId,
    ]) {
      expect(reasonOf(proposalOf([swapped(instructions[0]!, place, pubkey)]), request)).toBe('account');
    }
  });

  test('to withdraw and close, when only one of them was asked for', () => {
    const both = proposalOf(honest('close').instructions);
    expect(reasonOf(both, { action: 'withdraw', listing_id: listingId })).toBe('instruction');
    const turned = proposalOf([closeListing(owner), withdrawEarnings(owner)]);
    expect(reasonOf(turned, honest('close').request)).toBe('instruction');
  });

  test.each([
    ['nothing', ''],
    ['no base64', '***'],
    ['noise', toBase64(new Uint8Array(300).fill(7))],
    ['more than a packet', toBase64(new Uint8Array(1_300))],
    ['a cut transaction', pause.slice(0, -40)],
    ['a transaction with bytes after it', toBase64(new Uint8Array([...Buffer.from(pause, 'base64'), 0]))],
  ])('that is malformed: %s', (_, transaction) => {
    expect(reasonOf({ transaction, quote: QUOTE }, honest('pause').request)).toBe('malformed');
  });
});

describe('a price', () => {
  const open = { action: 'rent', listing_id: listingId } as const;
  const approve: SignOptions['approve'] = () => true;
  const oneTime = (maxPriceLamports: bigint) =>
    proposalOf([purchaseOneTime({ buyer, listingId, treasury, maxPriceLamports })]);
  const perQuery = (depositLamports: bigint, maxPriceLamports: bigint) =>
    proposalOf([purchasePerQuery({ buyer, listingId, depositLamports, maxPriceLamports })]);

  test('without an agreement is refused [TXN-16]', () => {
    expect(reasonOf(oneTime(1_000n), open)).toBe('price');
    expect(reasonOf(perQuery(1_000n, 1_000n), open)).toBe('price');
    expect(reasonOf(perQuery(1_000n, 1_000n), { ...open, max_price_lamports: 1_000 })).toBe('price');
  });

  test('for approval comes from the transaction, and never from the quote [TXN-16]', () => {
    const shown = (proposal: ReturnType<typeof proposalOf>) => inspectProposal(proposal, open, address).quote;
    const [rent, balanceRent] = [rentOf('AccessCredential'), rentOf('PerQueryBalance')];
    expect(shown(oneTime(7_000_000n))).toEqual({
      price_lamports: 7_000_000,
      max_price_lamports: 7_000_000,
      rent_lamports: rent,
      network_fee_lamports: 5_000,
      total_lamports: 7_005_000 + rent,
    });
    expect(shown(perQuery(7_000_000n, 6_000_000n))).toEqual({
      price_lamports: 7_000_000,
      max_price_lamports: 6_000_000,
      max_run_lamports: 6_000_000,
      rent_lamports: rent + balanceRent,
      network_fee_lamports: 5_000,
      total_lamports: 7_005_000 + rent + balanceRent,
    });
    const beyond = () => shown(perQuery(2n ** 64n - 1n, 1_000n));
    expect(beyond).toThrow('agrees to 18446744073709551615 lamports');
  });

  test.each([
    ['another price', oneTime(5_000_000n), { price_lamports: 1_000 }],
    ['a higher price', oneTime(5_000_000n), { price_lamports: 5_000_001 }],
    ['another agreed price', oneTime(5_000_000n), { max_price_lamports: 1_000 }],
    ['no agreed price', oneTime(5_000_000n), { max_price_lamports: undefined }],
    ['another deposit', perQuery(500_000_000n, 1_000n), { price_lamports: 10_000_000 }],
    ['another price per run', perQuery(5_000_000n, 5_000_000n), { max_price_lamports: 1_000 }],
    ['a lower network fee', oneTime(5_000_000n), { network_fee_lamports: 0 }],
    ['a higher network fee', oneTime(5_000_000n), { network_fee_lamports: 10_000 }],
    ['more rent than accounts cost', oneTime(5_000_000n), { rent_lamports: 10_000_000 }],
  ])('that is quoted with %s is refused, approved or not [TXN-16]', (_, proposal, quote) => {
    const lying = { ...proposal, quote: { ...proposal.quote, ...quote } };
    expect(reasonOf(lying, open, { approve })).toBe('quote');
    expect(() => inspectProposal(lying, open, address)).toThrow(/lamports.*the marketplace's quote says/);
  });

  test('with a wrong top-up amount in the quote is refused [TXN-16]', () => {
    const { request, instructions } = honest('topup');
    expect(reasonOf(proposalOf(instructions, buyer, { price_lamports: 1_000 }), request)).toBe('quote');
  });

  test('may be quoted below the agreed price if the terms have a cap', () => {
    const capped = { ...open, max_price_lamports: 5_000_000 };
    const proposal = oneTime(5_000_000n);
    const cheaper = { ...proposal, quote: { ...proposal.quote, price_lamports: 4_000_000 } };
    expect(reasonOf(cheaper, capped)).toBeUndefined();
    expect(inspectProposal(cheaper, capped, address).quote).toMatchObject({ price_lamports: 5_000_000 });
    expect(reasonOf(cheaper, open, { approve })).toBe('quote');
  });

  test('of accounts that cost less rent than on other networks is accepted', () => {
    const { transaction, quote } = oneTime(5_000_000n);
    const cheaper = { transaction, quote: { ...quote, rent_lamports: 1 } };
    expect(reasonOf(cheaper, open, { approve })).toBeUndefined();
  });

  test('with a cap in the terms stays under the cap, with any quote', () => {
    const capped = { ...open, max_price_lamports: 1_000 };
    expect(reasonOf(oneTime(1_001n), capped, { approve })).toBe('price');
    expect(reasonOf(oneTime(1_000n), capped, { approve })).toBeUndefined();
  });

  test('of another rental model than the terms are for is refused', () => {
    const capped = { ...open, max_price_lamports: 5_000_000 };
    const windows = { ...capped, duration_seconds: 2_592_000 } as const;
    const subscription = proposalOf(honest('rent subscription').instructions);
    for (const [proposal, terms] of [
      [oneTime(1_000n), windows],
      [perQuery(1_000n, 1_000n), windows],
      [oneTime(1_000n), { ...open, deposit_lamports: 1_000 }],
      [subscription, { ...windows, deposit_lamports: 1_000 }],
      [subscription, capped],
    ] as const)
      expect(reasonOf(proposal, terms)).toBe('instruction');
  });
});

/** A proposal with its priority fee in the quote. */
function withFee({ transaction, quote }: ReturnType<typeof proposalOf>, lamports: number) {
  return { transaction, quote: { ...quote, network_fee_lamports: quote.network_fee_lamports + lamports } };
}
