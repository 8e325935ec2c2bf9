import { PublicKey, SYSVAR_CLOCK_PUBKEY, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { findAccessCredentialAddress, findPerQueryBalanceAddress } from '../accounts/addresses.js';
import type { IdlInstruction, IdlInstructionAccount } from '../idl-types.js';
import { revokePerQueryAccess } from '../instructions/access.js';
import type { InstructionName } from '../instructions/build.js';
import { createListing } from '../instructions/listing.js';
import type { AccountState, Outcome } from './chain.js';
import { PRICE } from './market.js';
import { SCENARIOS, type Scenario } from './scenarios.js';

/** One wrong account or flag in an otherwise correct instruction, and the expected result. */
interface SubstitutionCase {
  title: string;
  /** The name of the refusal, or `success` with the answer of a read. */
  expected: string;
  run: () => string;
}

/** The kind of account that the program takes under a name. */
type Kind = 'signer' | 'wallet' | 'payee' | 'system' | 'new' | 'existing' | 'maybe';

const STATE_ACCOUNTS = ['protocol', 'listing', 'escrow', 'access_credential', 'per_query_balance'];

const CREATED: Partial<Record<InstructionName, string[]>> = {
  initialize_protocol: ['protocol'],
  create_listing: ['listing', 'escrow'],
  purchase_one_time: ['access_credential'],
  purchase_subscription: ['access_credential'],
  purchase_per_query: ['access_credential', 'per_query_balance'],
  // Its scenario opens the balance.
  fund_balance: ['access_credential', 'per_query_balance'],
};

/** The refusal for a missing account of each type. */
const MISSING: Record<string, string> = {
  protocol: 'AccountNotInitialized',
  listing: 'AccountNotInitialized',
  escrow: 'AccountNotInitialized',
  access_credential: 'CredentialNotFound',
  per_query_balance: 'InvalidAccessType',
};

/** No account names the wallets in these places. Another wallet is refused by its role alone, or accepted. */
const OTHER_WALLET: Record<string, string> = {
  'create_listing creator': 'success ',
  'fund_balance payer': 'success ',
  'initialize_protocol program_data': 'ConstraintSeeds',
  'initialize_protocol treasury': 'success ',
  'update_protocol new_treasury': 'success ',
};

/**
 * Accounts that are checked by the seeds in their fields, not by their address: this is cheaper for every charge. No
 * copy of one can exist on a chain.
 */
const BOUND_BY_FIELDS = new Set([
  'consume_query escrow',
  'consume_query access_credential',
  'consume_queries escrow',
  'verify_access access_credential',
]);

/** Roles that one wallet may hold. */
const MAY_COINCIDE = new Set([
  'initialize_protocol treasury=upgrade_authority',
  'create_listing creator=authority',
  'fund_balance payer=authority',
  'fund_balance payer=buyer',
  'update_protocol new_treasury=admin',
]);

function kindOf(instruction: string, account: IdlInstructionAccount): Kind {
  if (account.address !== undefined) {
    return 'system';
  }
  if (STATE_ACCOUNTS.includes(account.name)) {
    const isCreated = CREATED[instruction as InstructionName]?.includes(account.name) ?? false;
    return isCreated ? 'new' : instruction === 'verify_access' ? 'maybe' : 'existing';
  }
  if (account.signer === true) {
    return 'signer';
  }
  return account.relations === undefined ? 'wallet' : 'payee';
}

/** The first bump below the canonical one whose address could be a program's, too. */
function nonCanonical(seeds: Uint8Array[], bump: number, programId: PublicKey): PublicKey {
  for (let lower = bump - 1; lower > 0; lower -= 1) {
    try {
      return PublicKey.createProgramAddressSync([...seeds, Uint8Array.of(lower)], programId);
    } catch {
      // On the curve: not an address of a program.
    }
  }
  throw new Error('No second address.');
}

/** Accounts that are right in form but belong to another wallet or listing. */
interface Strangers {
  /** The same types, of another listing of another creator, rented by the same buyer. */
  ofOtherListing: Record<string, PublicKey>;
  /** The same types, of the same listing and another buyer. */
  ofOtherBuyer: Record<string, PublicKey>;
  /** Addresses without an account: never used, with lamports only, closed, and at bumps that are not canonical. */
  absent: PublicKey[];
}

function strangers(scenario: Scenario, isRentable: boolean): Strangers {
  const { chain, market, listingId } = scenario;
  const empty = [chain.wallet(0n), chain.wallet()];
  if (market === null || scenario.creates) {
    return { ofOtherListing: {}, ofOtherBuyer: {}, absent: empty };
  }
  const other = 'agent-of-another';
  chain.succeed(
    createListing({
      creator: chain.wallet(),
      authority: market.authority,
      listingId: other,
      rentalModel: market.listing(listingId).rentalModel,
      priceLamports: PRICE,
      minDepositLamports: PRICE,
      metadataUri: '',
    }),
  );
  const [second, third] = [chain.wallet(), chain.wallet()];
  market.rent(other);
  if (isRentable) {
    market.rent(listingId, second);
  }
  const perQuery = market.list('per_query', PRICE, 'agent-per-query');
  market.rent(perQuery, third);
  chain.succeed(revokePerQueryAccess({ revoker: market.admin, buyer: third, listingId: perQuery }));
  const named = (id: string, buyer: PublicKey) => {
    const { listing, escrow, credential, balance } = market.addresses(id, buyer);
    return { listing, escrow, access_credential: credential, per_query_balance: balance };
  };
  const { listing } = market.addresses(listingId);
  const seeds = [market.buyer.toBytes(), listing.toBytes()];
  const credentialBump = findAccessCredentialAddress(market.buyer, listing).bump;
  const balanceBump = findPerQueryBalanceAddress(market.buyer, listing).bump;
  return {
    ofOtherListing: named(other, market.buyer),
    ofOtherBuyer: named(listingId, second),
    absent: [
      ...empty,
      market.addresses(perQuery, third).balance,
      nonCanonical([Buffer.from('access_credential'), ...seeds], credentialBump, chain.programId),
      nonCanonical([Buffer.from('per_query_balance'), ...seeds], balanceBump, chain.programId),
    ],
  };
}

/** Names the outcome of a simulation, with the answer of a read. */
function outcomeName(outcome: Outcome): string {
  if (outcome.error === null) {
    return `success ${outcome.returnData.join()}`;
  }
  return outcome.programError?.name ?? String(outcome.error);
}

/** All cases of one instruction. Instructions, accounts and flags come from the IDL. */
export function substitutionCases(instruction: IdlInstruction): SubstitutionCase[] {
  const scenario = SCENARIOS[instruction.name as InstructionName](0);
  const { chain, market } = scenario;
  const { keys, data, programId } = scenario.instruction;
  // Earnings would prevent a close.
  const others = strangers(scenario, instruction.name !== 'close_listing');
  const cases: SubstitutionCase[] = [];
  const simulate = (changed: typeof keys): string =>
    outcomeName(chain.simulate(new TransactionInstruction({ programId, data, keys: changed })));
  const addressOf = (index: number): PublicKey => keys[index]?.pubkey ?? SystemProgram.programId;

  const add = (title: string, expected: string, run: () => string): void => {
    cases.push({ title, expected, run });
  };
  const addChanged = (
    index: number,
    title: string,
    change: Partial<(typeof keys)[number]>,
    expected: string,
  ) => {
    const account = instruction.accounts[index]?.name ?? '';
    const changed = keys.map((key, at) => (at === index ? { ...key, ...change } : key));
    add(`${account}: ${title}`, expected, () => simulate(changed));
  };

  add(
    'all as it should be',
    market === null || instruction.name !== 'verify_access' ? 'success ' : 'success 1',
    () => simulate(keys),
  );
  add('one account too few', 'AccountNotEnoughKeys', () => simulate(keys.slice(0, -1)));

  for (const [index, account] of instruction.accounts.entries()) {
    const kind = kindOf(instruction.name, account);
    const isWritable = account.writable === true;
    if (account.signer === true) {
      addChanged(index, 'no signature', { isSigner: false }, 'AccountNotSigner');
    }
    if (isWritable) {
      addChanged(index, 'read-only', { isWritable: false }, 'ConstraintMut');
    }

    if (kind === 'existing' || kind === 'maybe') {
      const right = chain.account(addressOf(index));
      if (right === null) {
        throw new Error(`${account.name} does not exist in the scenario of ${instruction.name}`);
      }
      const copy = chain.wallet();
      chain.setAccount(copy, { ...right, owner: SYSVAR_CLOCK_PUBKEY });
      addChanged(index, 'a copy that another program owns', { pubkey: copy }, 'AccountOwnedByWrongProgram');
      if (account.pda !== undefined && !BOUND_BY_FIELDS.has(`${instruction.name} ${account.name}`)) {
        const elsewhere = chain.wallet();
        chain.setAccount(elsewhere, right);
        addChanged(index, 'a copy at another address', { pubkey: elsewhere }, 'ConstraintSeeds');
      }
      for (const [at, each] of instruction.accounts.entries()) {
        if (at !== index && ['existing', 'maybe'].includes(kindOf(instruction.name, each))) {
          const pubkey = addressOf(at);
          addChanged(index, `of another type (${each.name})`, { pubkey }, 'AccountDiscriminatorMismatch');
        }
      }
      // The runtime never lets a sysvar be written, so a writable account fails by its flag already.
      const ofSysvar = isWritable ? 'ConstraintMut' : 'AccountOwnedByWrongProgram';
      addChanged(index, 'a sysvar', { pubkey: SYSVAR_CLOCK_PUBKEY }, ofSysvar);
      // An existing credential belongs to its listing alone, also when the other listing does not exist.
      const ofAbsent = account.name === 'listing' ? 'ConstraintSeeds' : 'success 0';
      for (const [at, pubkey] of others.absent.entries()) {
        const expected = kind === 'maybe' ? ofAbsent : (MISSING[account.name] ?? '');
        addChanged(index, `an address with nothing at it (${at})`, { pubkey }, expected);
      }
      for (const [title, expected, tampered] of tamperings(right)) {
        add(`${account.name}: ${title}`, expected, () => {
          chain.setAccount(addressOf(index), { ...right, data: tampered });
          const found = simulate(keys);
          chain.setAccount(addressOf(index), right);
          return found;
        });
      }
    }

    const ofListing = others.ofOtherListing[account.name];
    if (ofListing !== undefined && chain.account(ofListing) !== null) {
      // Only the creator links update_listing to its listing, and the admin may suspend any.
      const otherwise: Record<string, string> = {
        update_listing: 'Unauthorized',
        moderate_listing: 'success ',
      };
      const expected = otherwise[instruction.name] ?? 'ConstraintSeeds';
      addChanged(index, 'of another listing', { pubkey: ofListing }, expected);
    }
    const ofBuyer = others.ofOtherBuyer[account.name];
    if (ofBuyer !== undefined && chain.account(ofBuyer) !== null && !ofBuyer.equals(addressOf(index))) {
      addChanged(index, 'of another buyer', { pubkey: ofBuyer }, 'ConstraintSeeds');
    }

    if (kind === 'new') {
      addChanged(index, 'another address', { pubkey: chain.wallet(0n) }, 'ConstraintSeeds');
      addChanged(index, 'a sysvar', { pubkey: SYSVAR_CLOCK_PUBKEY }, 'ConstraintMut');
      const seeds = (account.pda?.seeds ?? []).map((seed) => {
        if (seed.kind === 'const') {
          return Uint8Array.from(seed.value);
        }
        const at = instruction.accounts.findIndex((each) => each.name === seed.path);
        return at >= 0 ? addressOf(at).toBytes() : Buffer.from(scenario.listingId);
      });
      const { 1: bump } = PublicKey.findProgramAddressSync(seeds, programId);
      const lower = nonCanonical(seeds, bump, programId);
      addChanged(index, 'at a bump that is not canonical', { pubkey: lower }, 'ConstraintSeeds');
    }

    if (kind === 'signer' || kind === 'wallet') {
      const ofRole = account.name === 'buyer' ? 'ConstraintSeeds' : 'Unauthorized';
      const expected = OTHER_WALLET[`${instruction.name} ${account.name}`] ?? ofRole;
      addChanged(index, 'another wallet', { pubkey: chain.wallet() }, expected);
    }
    if (account.name === 'new_treasury' || (account.name === 'treasury' && kind === 'wallet')) {
      addChanged(index, 'a sysvar', { pubkey: SYSVAR_CLOCK_PUBKEY }, 'AccountNotSystemOwned');
    }
    if (kind === 'payee') {
      addChanged(index, 'another wallet', { pubkey: chain.wallet() }, 'ConstraintHasOne');
    }
    if (kind === 'system') {
      addChanged(index, 'a wallet', { pubkey: chain.wallet() }, 'InvalidProgramId');
      addChanged(index, 'another program', { pubkey: programId }, 'InvalidProgramId');
    }
  }

  add('each account in the place of each other', '', () =>
    instruction.accounts
      .flatMap((account, index) => instruction.accounts.map((other, at) => ({ account, index, other, at })))
      .filter(({ index, at }) => index !== at)
      .filter(({ account, other }) => !MAY_COINCIDE.has(`${instruction.name} ${account.name}=${other.name}`))
      .filter(({ index, at }) =>
        simulate(
          keys.map((key, each) => (each === index ? { ...key, pubkey: addressOf(at) } : key)),
        ).startsWith('success'),
      )
      .map(({ account, other }) => `${other.name} was taken as ${account.name}`)
      .join(', '),
  );
  return cases;
}

/** Data that is nearly the account's. */
function tamperings(right: AccountState): [string, string, Uint8Array][] {
  const flipped = (at: number, by: number) =>
    right.data.map((byte, offset) => (offset === at ? byte ^ by : byte));
  return [
    ['a byte too short', 'AccountDiscriminatorMismatch', right.data.subarray(0, -1)],
    ['a byte too long', 'AccountDiscriminatorMismatch', Uint8Array.of(...right.data, 0)],
    ['another first byte', 'AccountDiscriminatorMismatch', flipped(0, 1)],
    ['another eighth byte', 'AccountDiscriminatorMismatch', flipped(7, 1)],
    ['another layout version', 'AccountDidNotDeserialize', flipped(8, 3)],
  ];
}
