import { readFileSync } from 'node:fs';
import { PublicKey } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { isAccountDecodeError } from '../accounts/account-decode-error.js';
import {
  ACCESS_CREDENTIAL_OFFSETS,
  ACCOUNT_DISCRIMINATORS,
  ACCOUNT_SIZES,
  accountName,
  decodeAccessCredential,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  decodeProtocol,
  ESCROW_OFFSETS,
  LISTING_OFFSETS,
  PER_QUERY_BALANCE_OFFSETS,
} from '../accounts/accounts.js';
import { MAX_LISTING_ID_BYTES } from '../accounts/addresses.js';
import { MAX_SEQUENCE_JUMP } from '../accounts/charge-window.js';
import { chargesOf } from './charges.js';
import { decodeInstruction } from './decode-instruction.js';
import { decodeProgramError, FRAMEWORK_ERRORS, PROGRAM_ERRORS, splitChargeError } from './errors.js';
import { decodeEvents } from './events.js';
import { MARKETPLACE_IDL } from '../idl.js';
import { consumeQuery } from '../instructions/access.js';
import { createListing, updateListing } from '../instructions/listing.js';
import {
  MAX_FEE_BPS,
  MAX_METADATA_URI_BYTES,
  MAX_PRICE_LAMPORTS,
  MIN_PRICE_LAMPORTS,
  PREVIOUS_PRICE_SECONDS,
  SUBSCRIPTION_PERIOD_SECONDS,
} from '../pricing.js';
import {
  PAUSE_UNIT_SECONDS,
  PAUSE_WINDOW_SECONDS,
  RECLAIM_AFTER_PAUSED_SECONDS,
} from '../accounts/reclaim.js';
import { Market, PRICE } from '../testing/market.js';
import { SCENARIOS } from '../testing/scenarios.js';

const PROGRAM = MARKETPLACE_IDL.address;

describe('the IDL', () => {
  it('is the same as JSON and as a module', () => {
    const json: unknown = JSON.parse(readFileSync(new URL('../generated/idl.json', import.meta.url), 'utf8'));
    expect(MARKETPLACE_IDL).toEqual(json);
  });

  it('agrees with the constants of this client', () => {
    const constants = new Map(MARKETPLACE_IDL.constants.map(({ name, value }) => [name, BigInt(value)]));
    const expected = {
      MAX_LISTING_ID_BYTES,
      MAX_METADATA_URI_BYTES,
      MAX_FEE_BPS,
      MIN_PRICE_LAMPORTS,
      MAX_PRICE_LAMPORTS,
      SUBSCRIPTION_PERIOD_SECONDS,
      MAX_SEQUENCE_JUMP,
      PREVIOUS_PRICE_SECONDS,
      PAUSE_WINDOW_SECONDS,
      PAUSE_UNIT_SECONDS,
      RECLAIM_AFTER_PAUSED_SECONDS,
    };
    for (const [name, value] of Object.entries(expected)) {
      expect([name, constants.get(name)]).toEqual([name, BigInt(value)]);
    }
  });

  it('has the instructions that the specification names, verify_access, consume_queries, moderate_listing and fund_balance [PRG-1]', () => {
    const names =
      'close_listing consume_queries consume_query create_listing fund_balance initialize_protocol moderate_listing ' +
      'purchase_one_time purchase_per_query purchase_subscription renew_subscription revoke_access revoke_per_query_access ' +
      'topup_balance update_listing update_protocol verify_access withdraw_earnings';
    expect(MARKETPLACE_IDL.instructions.map(({ name }) => name).toSorted()).toEqual(names.split(' '));
  });

  it('describes every instruction, account and argument in words', () => {
    const undocumented = MARKETPLACE_IDL.instructions.flatMap((instruction) =>
      [instruction, ...instruction.accounts, ...instruction.args]
        .filter((part) => (part.docs ?? []).length === 0)
        .map((part) => `${instruction.name} ${part.name}`),
    );
    expect(undocumented).toEqual([]);
    expect(MARKETPLACE_IDL.events).toHaveLength(15);
  });
});

describe('accounts', () => {
  function samples() {
    const market = new Market();
    const id = market.list('per_query');
    market.rent(id);
    const at = market.addresses(id);
    const data = {
      Protocol: market.chain.data(at.protocol),
      Listing: market.chain.data(at.listing),
      Escrow: market.chain.data(at.escrow),
      AccessCredential: market.chain.data(at.credential),
      PerQueryBalance: market.chain.data(at.balance),
    };
    return { market, at, data };
  }
  const decoders = {
    Protocol: decodeProtocol,
    Listing: decodeListing,
    Escrow: decodeEscrow,
    AccessCredential: decodeAccessCredential,
    PerQueryBalance: decodePerQueryBalance,
  };
  const names = Object.keys(decoders) as (keyof typeof decoders)[];

  it('have the sizes and discriminators that the chain has [PRG-12]', () => {
    const { data } = samples();
    for (const name of names) {
      expect(data[name].length).toBe(ACCOUNT_SIZES[name]);
      expect([...data[name].subarray(0, 8)]).toEqual([...ACCOUNT_DISCRIMINATORS[name]]);
      expect(accountName(data[name])).toBe(name);
    }
    expect(accountName(new Uint8Array(100))).toBeNull();
    expect(accountName(new Uint8Array())).toBeNull();
  });

  it('have their searchable fields where the offsets say [PRG-12]', () => {
    const { market, at, data } = samples();
    const key = (bytes: Uint8Array, offset: number) => new PublicKey(bytes.subarray(offset, offset + 32));
    expect(key(data.AccessCredential, ACCESS_CREDENTIAL_OFFSETS.buyer)).toEqual(market.buyer);
    expect(key(data.AccessCredential, ACCESS_CREDENTIAL_OFFSETS.listing)).toEqual(at.listing);
    expect(data.AccessCredential[ACCESS_CREDENTIAL_OFFSETS.rentalModel]).toBe(2);
    expect(data.AccessCredential[ACCESS_CREDENTIAL_OFFSETS.valid]).toBe(1);
    expect(key(data.PerQueryBalance, PER_QUERY_BALANCE_OFFSETS.buyer)).toEqual(market.buyer);
    expect(key(data.PerQueryBalance, PER_QUERY_BALANCE_OFFSETS.listing)).toEqual(at.listing);
    expect(key(data.Escrow, ESCROW_OFFSETS.listing)).toEqual(at.listing);
    expect(key(data.Listing, LISTING_OFFSETS.creator)).toEqual(market.creator);
    expect(data.Listing[LISTING_OFFSETS.rentalModel]).toBe(2);
    expect(data.Listing[LISTING_OFFSETS.status]).toBe(0);
    const id = data.Listing.subarray(LISTING_OFFSETS.listingId + 4, LISTING_OFFSETS.listingId + 11);
    expect(new TextDecoder().decode(id)).toBe('agent-1');
  });

  it('are refused when they are cut or of another type or version', () => {
    const { data } = samples();
    const reason = (decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): string => {
      try {
        decode(bytes);
        return 'decoded';
      } catch (error) {
        return isAccountDecodeError(error) ? `${error.account} ${error.reason}` : String(error);
      }
    };
    for (const name of names) {
      const decode = decoders[name];
      expect(reason(decode, data[name])).toBe('decoded');
      expect(reason(decode, data[name].subarray(0, -1))).toBe(`${name} too_short`);
      expect(reason(decode, new Uint8Array())).toBe(`${name} too_short`);
      expect(reason(decode, new Uint8Array(500))).toBe(`${name} wrong_discriminator`);
      const other = Uint8Array.from(data[name]);
      other[8] = 2;
      expect(reason(decode, other)).toBe(`${name} unsupported_version`);
    }
    const { listingId } = LISTING_OFFSETS;
    const badText = Uint8Array.from(data.Listing).fill(0xff, listingId + 4, listingId + 5);
    const longText = Uint8Array.from(data.Listing).fill(0xff, listingId, listingId + 4);
    for (const bad of [badText, longText]) expect(reason(decodeListing, bad)).toBe('Listing malformed');
    const badModel = Uint8Array.from(data.AccessCredential);
    badModel[ACCESS_CREDENTIAL_OFFSETS.rentalModel] = 9;
    expect(reason(decodeAccessCredential, badModel)).toBe('AccessCredential malformed');
  });
});

describe('decodeInstruction', () => {
  it('reads back every instruction that the builders make', () => {
    for (const { name, accounts } of MARKETPLACE_IDL.instructions) {
      const { instruction } = SCENARIOS[name as keyof typeof SCENARIOS](0);
      const decoded = decodeInstruction(instruction.data, instruction.keys);
      expect(decoded?.name).toBe(name);
      expect(Object.keys(decoded?.accounts ?? {})).toHaveLength(accounts.length);
    }
  });

  it('gives arguments and accounts by name', () => {
    const { instruction } = SCENARIOS.consume_query(0);
    const addresses = instruction.keys.map((key) => key.pubkey);
    const decoded = decodeInstruction(instruction.data, addresses);
    const runId = new Uint8Array(16).fill(7);
    expect(decoded?.args).toEqual({ sequence: 201n, runId, priceLamports: PRICE });
    expect(decoded?.accounts['perQueryBalance']).toEqual(instruction.keys[6]?.pubkey);
  });

  it('gives every charge of a batch with its own accounts [MON-9]', () => {
    const { instruction, market, listingId } = SCENARIOS.consume_queries(0);
    const decoded = decodeInstruction(instruction.data, instruction.keys);
    const charges = chargesOf(decoded);
    expect(charges).toEqual(
      [0, 1].map((place) => ({
        sequence: 201n,
        runId: new Uint8Array(16).fill(place),
        priceLamports: PRICE,
        authority: market?.authority,
        listing: market?.addresses(listingId).listing,
        accessCredential: instruction.keys[5 + 2 * place]?.pubkey,
        perQueryBalance: instruction.keys[6 + 2 * place]?.pubkey,
      })),
    );
    const single = SCENARIOS.consume_query(0).instruction;
    expect(chargesOf(decodeInstruction(single.data, single.keys))).toMatchObject([
      { sequence: 201n, perQueryBalance: single.keys[6]?.pubkey },
    ]);
    // The program refuses one with too few accounts, and makes none of its charges.
    expect(chargesOf(decodeInstruction(instruction.data, instruction.keys.slice(0, -1)))).toEqual([]);
    expect(chargesOf(null)).toEqual([]);
    const other = SCENARIOS.topup_balance(0).instruction;
    expect(chargesOf(decodeInstruction(other.data, other.keys))).toEqual([]);
  });

  it('ends at the bytes of a batch, however many charges they claim', () => {
    const { data, keys } = SCENARIOS.consume_queries(0).instruction;
    for (const count of [0, 1, 3, 2 ** 32 - 1]) {
      const claimed = Buffer.from(data);
      claimed.writeUInt32LE(count, 8);
      expect(decodeInstruction(claimed, keys)).toBeNull();
    }
  });

  it('keeps options apart from their absence', () => {
    const { market } = SCENARIOS.update_listing(0);
    const creator = market?.creator ?? PublicKey.default;
    const { data, keys } = updateListing({ creator, listingId: 'x', priceLamports: 5n, status: 'active' });
    expect(decodeInstruction(data, keys)?.args).toEqual({
      priceLamports: 5n,
      minDepositLamports: null,
      metadataUri: null,
      paused: false,
    });
  });

  it('is null for anything else', () => {
    const { data, keys } = SCENARIOS.consume_query(0).instruction;
    const longer = Buffer.concat([data, Buffer.from([0])]);
    for (const other of [data.subarray(0, -1), longer, new Uint8Array(8), new Uint8Array()])
      expect(decodeInstruction(other, keys)).toBeNull();
    expect(decodeInstruction(data, keys.slice(0, -1))).toBeNull();
  });
});

describe('builders', () => {
  const key = new PublicKey(new Uint8Array(32).fill(5));
  const charge = { authority: key, buyer: key, listingId: 'x', treasury: key, priceLamports: 1n };

  it('refuse values that do not fit their type', () => {
    const run = { ...charge, sequence: 1n, runId: new Uint8Array(16) };
    expect(() => consumeQuery({ ...run, sequence: -1n })).toThrow(RangeError);
    expect(() => consumeQuery({ ...run, sequence: 2n ** 64n })).toThrow(RangeError);
    expect(() => consumeQuery({ ...run, runId: new Uint8Array(15) })).toThrow(TypeError);
    const { priceLamports: _, ...unpriced } = run;
    const words = new TypeError('priceLamports must be a whole number.');
    expect(() => consumeQuery(unpriced as never)).toThrow(words);
    const terms = {
      rentalModel: 'weekly' as never,
      priceLamports: 1n,
      minDepositLamports: 1n,
      metadataUri: '',
    };
    const listing = { creator: key, authority: key, listingId: 'x', ...terms };
    expect(() => createListing(listing)).toThrow(TypeError);
  });

  it('derive every address under another program id', () => {
    const programId = new PublicKey(new Uint8Array(32).fill(6));
    const ours = consumeQuery({ ...charge, sequence: 1n, runId: new Uint8Array(16) });
    const other = consumeQuery({ ...charge, programId, sequence: 1n, runId: new Uint8Array(16) });
    expect(other.programId).toEqual(programId);
    const derived = [1, 2, 3, 5, 6];
    expect(derived.filter((at) => other.keys[at]?.pubkey.equals(ours.keys[at]?.pubkey ?? key))).toEqual([]);
  });
});

describe('decodeEvents', () => {
  const closed = MARKETPLACE_IDL.events.find(({ name }) => name === 'ListingClosed')?.discriminator ?? [];
  const log = `Program data: ${Buffer.from(closed).toString('base64')}`;

  it('reads only the logs of the program itself', () => {
    const market = new Market();
    const { logs } = market.rent(market.list('one_time'));
    expect(decodeEvents(logs)).toHaveLength(1);
    const line = logs.find((each) => each.startsWith('Program data: ')) ?? '';
    const stranger = 'Stranger1111111111111111111111111111111111';
    const around = (id: string) => [`Program ${id} invoke [1]`, line, `Program ${id} success`];
    expect(decodeEvents([line])).toEqual([]);
    expect(decodeEvents(around(stranger))).toEqual([]);
    expect(decodeEvents(around(PROGRAM))).toHaveLength(1);
    const inner = [`Program ${stranger} invoke [2]`, line, `Program ${stranger} success`];
    expect(decodeEvents(around(PROGRAM).toSpliced(1, 0, ...inner))).toHaveLength(1);
  });

  it('takes cut, odd and unknown data for no event', () => {
    for (const data of [log, 'Program data: ', 'Program data: ????', 'Program data: AAAA', `${log} AAAA`]) {
      expect(decodeEvents([`Program ${PROGRAM} invoke [1]`, data, `Program ${PROGRAM} success`])).toEqual([]);
    }
  });
});

describe('decodeProgramError', () => {
  it('reads the refusal of one charge among several, and which it is [MON-9]', () => {
    const custom = 6_003 + 3 * 0x1_0000;
    const failure = { InstructionError: [2, { Custom: custom }] };
    expect(decodeProgramError(failure)?.name).toBe('InsufficientBalance');
    expect(splitChargeError(custom)).toEqual({ code: 6_003, place: 2 });
    expect(splitChargeError(6_003)).toEqual({ code: 6_003, place: undefined });
  });

  const expired = { code: 6002, name: 'CredentialExpired', message: 'The credential has expired' };

  it.each([
    6002,
    6002n,
    { Custom: 6002 },
    { InstructionError: [0, { Custom: 6002 }] },
    { err: { InstructionError: [1, { Custom: 6002 }] }, logs: [] },
    { value: { err: { InstructionError: [1, { Custom: 6002 }] } } },
    { data: { err: { InstructionError: [1, { Custom: 6002 }] } } },
    [
      'Program log: AnchorError occurred. Error Code: CredentialExpired. Error Number: 6002. Error Message: x.',
    ],
    { logs: ['Program log: AnchorError occurred. Error Code: X. Error Number: 6002. Error Message: x.'] },
    new Error('x', { cause: { InstructionError: [0, { Custom: 6002 }] } }),
  ])('finds it in %o', (failure) => {
    expect(decodeProgramError(failure)).toEqual(expired);
  });

  it.each([
    null,
    undefined,
    'AccountInUse',
    1,
    { Custom: 1 },
    { InstructionError: [0, 'InvalidArgument'] },
    [],
    {},
  ])('is null for %o', (failure) => {
    expect(decodeProgramError(failure)).toBeNull();
  });

  it('ends on values that contain themselves', () => {
    const loop: Record<string, unknown> = {};
    loop['err'] = loop;
    expect(decodeProgramError(loop)).toBeNull();
  });

  it('knows the specified codes, ours from 6100, and the framework’s [PRG-12]', () => {
    const specified = Array.from({ length: 17 }, (_, index) => 6_000 + index);
    expect([...PROGRAM_ERRORS.keys()]).toEqual([...specified, 6_100, 6_101, 6_102, 6_103, 6_104]);
    expect(decodeProgramError(2006)?.name).toBe('ConstraintSeeds');
    expect(FRAMEWORK_ERRORS.size).toBe(16);
  });

  it('knows the names of the specification, in its order from 6000 [ERR-18]', () => {
    const names =
      'ListingNotActive CredentialNotFound CredentialExpired InsufficientBalance Unauthorized InvalidAccessType ' +
      'CredentialRevoked WithdrawalExceedsBalance FeeTooHigh PriceTooLow MetadataUriTooLong InvalidDuration ' +
      'DepositTooLow ProtocolPaused ArithmeticOverflow EscrowNotEmpty NothingToWithdraw';
    expect(names.split(' ').map((_, index) => PROGRAM_ERRORS.get(6_000 + index)?.name)).toEqual(
      names.split(' '),
    );
  });
});
