import { PublicKey, SystemProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { findProtocolAddress } from '../accounts/addresses.js';
import { ACCOUNT_SIZES, decodeProtocol } from '../accounts/accounts.js';
import { initializeProtocol, updateProtocol, type InitializeProtocolInput } from './protocol.js';
import { fixedAddress, TestChain } from '../testing/chain.js';
import { expectRefusal } from '../testing/expect-refusal.js';
import { Market, DEPOSIT, PRICE } from '../testing/market.js';

const OUT_OF_RANGE = [
  ['FeeTooHigh', { feeBps: 1_001 }],
  ['PriceTooLow', { minQueryPriceLamports: 999n }],
  ['ArithmeticOverflow', { minQueryPriceLamports: 10n ** 15n + 1n }],
] as const;

function setup(chain = new TestChain()) {
  chain.fund(chain.upgradeAuthority, 1_000_000_000n);
  const input: InitializeProtocolInput = {
    upgradeAuthority: chain.upgradeAuthority,
    admin: chain.wallet(),
    authority: chain.wallet(),
    treasury: chain.wallet(),
    programId: chain.programId,
  };
  return { chain, input };
}

describe('initialize_protocol', () => {
  it('writes the given values, with the default fee and floor [PRG-7, LIM-15]', () => {
    const { chain, input } = setup();
    const { events } = chain.succeed(initializeProtocol(input));
    const { address, bump } = findProtocolAddress(chain.programId);
    expect(decodeProtocol(chain.data(address))).toEqual({
      version: 1,
      bump,
      admin: input.admin,
      pendingAdmin: null,
      authority: input.authority,
      nextAuthority: null,
      treasury: input.treasury,
      feeBps: 250,
      minQueryPriceLamports: 200_000n,
      paused: false,
    });
    expect(chain.lamports(address)).toBe(chain.rent(ACCOUNT_SIZES.Protocol));
    expect(events).toEqual([
      {
        name: 'ProtocolInitialized',
        data: {
          admin: input.admin,
          authority: input.authority,
          treasury: input.treasury,
          feeBps: 250,
          minQueryPriceLamports: 200_000n,
        },
      },
    ]);
  });

  it('runs under any program id', () => {
    const { chain, input } = setup(new TestChain(fixedAddress('elsewhere')));
    chain.succeed(initializeProtocol(input));
    expect(decodeProtocol(chain.data(findProtocolAddress(chain.programId).address)).feeBps).toBe(250);
  });

  it('is for the upgrade authority alone [PRG-13]', () => {
    const { chain, input } = setup();
    expectRefusal(
      chain.send(initializeProtocol({ ...input, upgradeAuthority: chain.wallet() })),
      'Unauthorized',
    );
    chain.setUpgradeAuthority(null);
    expectRefusal(chain.send(initializeProtocol(input)), 'Unauthorized');
  });

  it('reads nothing but the loader’s own account of this program', () => {
    const { chain, input } = setup();
    const authority = chain.upgradeAuthority;
    chain.setUpgradeAuthority(authority, { owner: SystemProgram.programId });
    expectRefusal(chain.send(initializeProtocol(input)), 'AccountOwnedByWrongProgram');
    const buffer = Uint8Array.of(1, ...new Uint8Array(11), 1, ...authority.toBytes());
    chain.setUpgradeAuthority(authority, { data: buffer });
    expectRefusal(chain.send(initializeProtocol(input)), 'AccountDidNotDeserialize');
    chain.setUpgradeAuthority(authority, { data: new Uint8Array(44).fill(3, 0, 1) });
    expectRefusal(chain.send(initializeProtocol(input)), 'AccountDidNotDeserialize');

    const other = new TestChain(fixedAddress('elsewhere'));
    const instruction = initializeProtocol(input);
    chain.setUpgradeAuthority(authority);
    // The third account is program_data.
    instruction.keys[2]!.pubkey = other.wallet();
    expectRefusal(chain.send(instruction), 'ConstraintSeeds');
  });

  it('happens once [PRG-13]', () => {
    const { chain, input } = setup();
    chain.succeed(initializeProtocol(input));
    expectRefusal(chain.send(initializeProtocol(input)), 'AccountDiscriminatorAlreadySet');
  });

  it.each(OUT_OF_RANGE)('refuses with %s a value out of range', (name, changes) => {
    const { chain, input } = setup();
    expectRefusal(chain.send(initializeProtocol({ ...input, ...changes })), name);
  });

  it('takes both ends of each range', () => {
    for (const changes of [
      { feeBps: 0, minQueryPriceLamports: 1_000n },
      { feeBps: 1_000, minQueryPriceLamports: 10n ** 15n },
    ]) {
      const { chain, input } = setup();
      chain.succeed(initializeProtocol({ ...input, ...changes }));
    }
  });

  it('wants a treasury that is a rent-exempt wallet [PRG-15]', () => {
    const { chain, input } = setup();
    const treasury = fixedAddress('elsewhere');
    const sendWith = (lamports: bigint, owner = SystemProgram.programId) => {
      chain.setAccount(treasury, { lamports, data: new Uint8Array(), owner });
      return chain.send(initializeProtocol({ ...input, treasury }));
    };
    expectRefusal(sendWith(chain.rent(0) - 1n), 'ConstraintRentExempt');
    expectRefusal(sendWith(10n ** 9n, chain.programId), 'AccountNotSystemOwned');
    expect(sendWith(chain.rent(0)).error).toBeNull();
  });

  it('works on an address that already holds lamports', () => {
    for (const present of [1n, 1_000_000n, 5_000_000n]) {
      const { chain, input } = setup();
      const { address } = findProtocolAddress(chain.programId);
      chain.fund(address, present);
      chain.succeed(initializeProtocol(input));
      const rent = chain.rent(ACCOUNT_SIZES.Protocol);
      expect(chain.lamports(address)).toBe(present > rent ? present : rent);
    }
  });

  it('knows both forms of the rent sysvar', () => {
    const { chain, input } = setup();
    chain.setRent((rent) => {
      rent.lamportsPerByteYear = 3_480n;
      rent.exemptionThreshold = 2;
    });
    chain.succeed(initializeProtocol(input));
    expect(chain.lamports(findProtocolAddress(chain.programId).address)).toBe(
      BigInt(ACCOUNT_SIZES.Protocol + 128) * 6_960n,
    );
  });

  it('refuses a rent that no multiplication could hold', () => {
    const { chain, input } = setup();
    const withRate = (lamportsPerByte: bigint) => {
      chain.setRent((rent) => {
        rent.lamportsPerByteYear = lamportsPerByte;
      });
      return chain.simulate(initializeProtocol({ ...input }));
    };
    // Up to the bound the treasury is below the rent; above it the program refuses to calculate.
    expectRefusal(withRate(2n ** 40n), 'ConstraintRentExempt');
    expectRefusal(withRate(2n ** 40n + 1n), 'ArithmeticOverflow');
  });
});

describe('update_protocol', () => {
  it('changes the given values and keeps the others', () => {
    const market = new Market();
    const before = market.protocol();
    const nextAuthority = market.chain.wallet();
    const treasury = market.chain.wallet();
    const { events } = market.updateProtocol({ nextAuthority, treasury, feeBps: 1_000, paused: true });
    expect(market.protocol()).toEqual({ ...before, nextAuthority, treasury, feeBps: 1_000, paused: true });
    expect(events).toEqual([
      {
        name: 'ProtocolUpdated',
        data: {
          admin: market.admin,
          pendingAdmin: PublicKey.default,
          authority: market.authority,
          nextAuthority,
          treasury,
          feeBps: 1_000,
          minQueryPriceLamports: 200_000n,
          paused: true,
        },
      },
    ]);
    const authority = market.chain.wallet();
    market.updateProtocol({ authority, nextAuthority: null, minQueryPriceLamports: 5_000n, paused: false });
    expect(market.protocol()).toEqual({
      ...before,
      authority,
      treasury,
      feeBps: 1_000,
      minQueryPriceLamports: 5_000n,
    });
  });

  it('is for the admin alone [PRG-13]', () => {
    const { chain, authority, creator } = new Market();
    for (const admin of [authority, creator, chain.upgradeAuthority]) {
      expectRefusal(chain.send(updateProtocol({ admin, paused: true })), 'Unauthorized');
    }
  });

  it('hands the admin role over in two steps [PRG-13]', () => {
    const market = new Market();
    const { chain, admin } = market;
    const heir = chain.wallet();
    expectRefusal(chain.send(updateProtocol({ admin: heir })), 'Unauthorized');
    market.updateProtocol({ pendingAdmin: heir });
    expect(market.protocol()).toMatchObject({ admin, pendingAdmin: heir });
    market.updateProtocol({ paused: true });
    expect(market.protocol()).toMatchObject({ admin, pendingAdmin: heir });
    const before = market.protocol();
    chain.succeed(updateProtocol({ admin: heir, feeBps: 300 }));
    expect(market.protocol()).toEqual({ ...before, admin: heir, pendingAdmin: null, feeBps: 300 });
    expectRefusal(chain.send(updateProtocol({ admin, paused: false })), 'Unauthorized');
  });

  it('withdraws an offered hand-over', () => {
    const market = new Market();
    const heir = market.chain.wallet();
    market.updateProtocol({ pendingAdmin: heir });
    market.updateProtocol({ pendingAdmin: null });
    expect(market.protocol().pendingAdmin).toBeNull();
    expectRefusal(market.chain.send(updateProtocol({ admin: heir })), 'Unauthorized');
  });

  it.each(OUT_OF_RANGE)('refuses with %s a value out of range', (name, changes) => {
    const { chain, admin } = new Market();
    expectRefusal(chain.send(updateProtocol({ admin, ...changes })), name);
  });

  it('wants a new treasury that is a rent-exempt wallet', () => {
    const market = new Market();
    const listing = market.addresses(market.list('one_time')).listing;
    const { chain, admin } = market;
    expectRefusal(chain.send(updateProtocol({ admin, treasury: listing })), 'AccountNotSystemOwned');
    const empty = fixedAddress('elsewhere');
    expectRefusal(chain.send(updateProtocol({ admin, treasury: empty })), 'ConstraintRentExempt');
  });

  it('accepts both hot keys while they rotate, and the old one no longer afterwards [PRG-13]', () => {
    const market = new Market();
    const id = market.list('per_query');
    market.rent(id);
    const { chain, authority } = market;
    const next = chain.wallet();
    const charge = (signer: PublicKey, sequence: bigint) =>
      market.charge(id, sequence, { authority: signer });
    expectRefusal(chain.send(charge(next, 1n)), 'Unauthorized');
    market.updateProtocol({ nextAuthority: next });
    chain.succeed(charge(next, 1n));
    chain.succeed(charge(authority, 2n));
    market.updateProtocol({ authority: next, nextAuthority: null });
    expectRefusal(chain.send(charge(authority, 3n)), 'Unauthorized');
    chain.succeed(charge(next, 3n));
    expect(market.balance(id).balanceLamports).toBe(DEPOSIT - 3n * PRICE);
  });
});
