import { cpSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/chain-fixture.js';
import { memo, MEMO_PROGRAM, signed, transfer } from '../testing/transactions.js';
import { addressKey, type AccountState } from './account-state.js';
import { Ledger, type LedgerOptions } from './ledger.js';
import { parseWireTransaction, type WireTransaction } from './transactions/wire-transaction.js';

const SLOT_TIME_MS = 400;

/** The state that a restart must restore, for a set of addresses. */
function contentsOf(ledger: Ledger, addresses: readonly Uint8Array[]): unknown {
  const page = { limit: 1_000, maxSlot: Infinity };
  const shown = (account: AccountState | null): unknown =>
    account === null
      ? null
      : { ...account, owner: addressKey(account.owner), data: addressKey(account.data) };
  return addresses.map((address) => ({
    now: shown(ledger.account(address, false)),
    finalized: shown(ledger.account(address, true)),
    history: ledger.history.mentioning(address, page).map(({ number, slot, unixMs, outcome, wire }) => ({
      number,
      slot,
      unixMs,
      outcome,
      wire: Buffer.from(wire).toString('hex'),
    })),
  }));
}

describe('Ledger', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let stateDir: string;
  let ledgers: Ledger[];
  let wallMs: number;
  const alice = Keypair.fromSeed(Buffer.alloc(32, 1));
  const bob = Keypair.fromSeed(Buffer.alloc(32, 2));

  beforeEach(() => {
    folder = temporaryFolder();
    stateDir = join(folder.path, 'state');
    mkdirSync(stateDir);
    ledgers = [];
    wallMs = 1_700_000_000_000;
  });
  afterEach(async () => {
    for (const ledger of ledgers) await ledger.close();
    folder.remove();
  });
  const close = async (ledger: Ledger): Promise<void> => {
    await ledger.close();
    ledgers = [];
  };

  const open = (overrides: Partial<LedgerOptions> = {}): Ledger => {
    const ledger = new Ledger({
      stateDir,
      programs: [],
      slotTimeMs: SLOT_TIME_MS,
      consensus: 'tower',
      finalizedSlots: 32,
      snapshotIntervalBytes: 1024 ** 3,
      onLog: () => undefined,
      onFatal: (error) => {
        throw error;
      },
      wallMs: () => wallMs,
      ...overrides,
    });
    ledgers.push(ledger);
    return ledger;
  };
  /** A chain on which Alice has 10 SOL. */
  const openFunded = (overrides: Partial<LedgerOptions> = {}): Ledger => {
    const ledger = open(overrides);
    ledger.airdrop(alice.publicKey.toBytes(), 10 ** 10);
    return ledger;
  };
  const passSlots = (slots: number): void => {
    wallMs += slots * SLOT_TIME_MS;
  };
  const transaction = (
    ledger: Ledger,
    payer: Keypair,
    instruction: ReturnType<typeof memo>,
  ): WireTransaction => {
    const blockhash = ledger.blockhashes.hashOf(ledger.now().slot);
    return parseWireTransaction(signed(payer, blockhash, [instruction]).serialize());
  };
  const pay = (ledger: Ledger, from: Keypair, to: PublicKey, lamports: number): WireTransaction => {
    const payment = transaction(ledger, from, transfer(from.publicKey, to, lamports));
    expect(ledger.submit(payment, true)).toEqual({ landed: true, err: null });
    return payment;
  };
  const lamportsOf = (ledger: Ledger, address: PublicKey, finalized = false): bigint =>
    ledger.account(address.toBytes(), finalized)?.lamports ?? 0n;

  it('is the same after any restart, with snapshots and without', async () => {
    const withSnapshots = open({ snapshotIntervalBytes: 20_000 });
    withSnapshots.airdrop(alice.publicKey.toBytes(), 10 ** 12);
    const recipients = Array.from({ length: 40 }, (_, index) =>
      Keypair.fromSeed(Buffer.alloc(32, 100 + index)),
    );
    const addresses = [alice, bob, ...recipients].map(({ publicKey }) => publicKey.toBytes());
    const copies: { stateDir: string; atMs: number; contents: unknown }[] = [];
    for (let index = 0; index < 300; index += 1) {
      const recipient = recipients[index % recipients.length] ?? bob;
      pay(withSnapshots, alice, recipient.publicKey, 10_000_000 + index);
      // Accounts are closed, too: half of the recipients send all their lamports back.
      if (index % 2 === 0) {
        const all = Number(lamportsOf(withSnapshots, recipient.publicKey)) - 5_000;
        pay(withSnapshots, recipient, alice.publicKey, all);
      }
      passSlots(1);
      // Lets a running snapshot continue: most copies are taken in the middle of one.
      if (index % 3 === 0) await withSnapshots.settled();
      if (index % 23 !== 0) continue;
      const copy = join(folder.path, `copy-${index}`);
      cpSync(stateDir, copy, { recursive: true });
      copies.push({ stateDir: copy, atMs: wallMs, contents: contentsOf(withSnapshots, addresses) });
    }
    expect(readdirSync(stateDir).filter((name) => name.startsWith('snapshot-'))).toHaveLength(1);
    for (const copy of copies) {
      // At the same moment: the unfinalized transactions stay unfinalized.
      const restarted = open({ stateDir: copy.stateDir, wallMs: () => copy.atMs });
      expect(contentsOf(restarted, addresses)).toEqual(copy.contents);
    }
    expect(copies.length).toBeGreaterThan(10);
  });

  it('replays the whole journal when the snapshot is damaged', async () => {
    const ledger = openFunded({ snapshotIntervalBytes: 1 });
    pay(ledger, alice, bob.publicKey, 1_000_000);
    await close(ledger);
    const [snapshot = ''] = readdirSync(stateDir).filter((name) => name.startsWith('snapshot-'));
    truncateSync(join(stateDir, snapshot), statSync(join(stateDir, snapshot)).size - 1);
    expect(lamportsOf(open(), bob.publicKey)).toBe(1_000_000n);
  });

  it('conserves lamports: the payer loses exactly the gain of the recipient and the fee', () => {
    const ledger = openFunded();
    const payment = pay(ledger, alice, bob.publicKey, 3_000_000);
    const outcome = ledger.history.find(payment.signature)?.outcome;
    const sum = (balances: bigint[] | undefined): bigint => (balances ?? []).reduce((a, b) => a + b, 0n);
    expect(sum(outcome?.preBalances) - sum(outcome?.postBalances)).toBe(5_000n);
  });

  it('refuses a transaction that has already landed, across restarts', async () => {
    const first = openFunded();
    const payment = pay(first, alice, bob.publicKey, 1_000_000);
    expect(first.submit(payment, true)).toEqual({ landed: false, err: 'AlreadyProcessed' });
    await close(first);
    const second = open();
    passSlots(100);
    expect(second.submit(payment, true)).toEqual({ landed: false, err: 'AlreadyProcessed' });
    passSlots(60);
    expect(second.submit(payment, true)).toEqual({ landed: false, err: 'BlockhashNotFound' });
    expect(lamportsOf(second, bob.publicKey)).toBe(1_000_000n);
  });

  it('shows at finalized the accounts of 32 slots ago', () => {
    const ledger = openFunded();
    pay(ledger, alice, bob.publicKey, 1_000_000);
    passSlots(10);
    pay(ledger, alice, bob.publicKey, 1_000_000);
    const seen = (): bigint[] => [lamportsOf(ledger, bob.publicKey), lamportsOf(ledger, bob.publicKey, true)];
    expect(seen()).toEqual([2_000_000n, 0n]);
    const owned = (finalized: boolean): (bigint | undefined)[] =>
      ledger
        .programAccounts(SystemProgram.programId.toBytes(), finalized)
        .filter(({ address }) => Buffer.compare(address, bob.publicKey.toBytes()) === 0)
        .map(({ account }) => account.lamports);
    expect([owned(false), owned(true)]).toEqual([[2_000_000n], []]);
    passSlots(22);
    expect(seen()).toEqual([2_000_000n, 1_000_000n]);
    expect(owned(true)).toEqual([1_000_000n]);
    passSlots(10);
    expect(seen()).toEqual([2_000_000n, 2_000_000n]);
  });

  it('takes back the transactions of a fork and runs the others again', async () => {
    const ledger = openFunded();
    passSlots(40);
    const kept = pay(ledger, alice, bob.publicKey, 1_000_000);
    const dropped = pay(ledger, alice, bob.publicKey, 2_000_000);
    const after = pay(ledger, alice, bob.publicKey, 4_000_000);
    passSlots(5);
    const gone = ledger.fork(({ signature }) => Buffer.compare(signature, dropped.signature) === 0);
    expect(gone.map(({ signature }) => signature)).toEqual([Buffer.from(dropped.signature)]);
    const check = (chain: Ledger): void => {
      expect(lamportsOf(chain, bob.publicKey)).toBe(5_000_000n);
      expect(lamportsOf(chain, alice.publicKey)).toBe(10n ** 10n - 5_000_000n - 10_000n);
      expect(chain.history.find(dropped.signature)).toBeNull();
      expect(chain.history.find(kept.signature)?.outcome.err).toBeNull();
      expect(chain.history.find(after.signature)?.slot).toBe(
        (chain.history.find(kept.signature)?.slot ?? 0) + 5,
      );
    };
    check(ledger);
    await close(ledger);
    const restarted = open();
    check(restarted);
    // After a second broadcast, it lands.
    expect(restarted.submit(dropped, true)).toEqual({ landed: true, err: null });
    expect(restarted.submit(dropped, true)).toEqual({ landed: false, err: 'AlreadyProcessed' });
    expect(lamportsOf(restarted, bob.publicKey)).toBe(7_000_000n);
    // Finalized transactions cannot be taken back.
    passSlots(40);
    expect(restarted.fork(() => true)).toEqual([]);
  });

  it('survives a fork while a snapshot is being written', async () => {
    const ledger = openFunded({ snapshotIntervalBytes: 1 });
    pay(ledger, alice, bob.publicKey, 1_000_000);
    ledger.fork(({ number }) => number === 1);
    const addresses = [alice, bob].map(({ publicKey }) => publicKey.toBytes());
    const contents = contentsOf(ledger, addresses);
    await close(ledger);
    expect(contentsOf(open(), addresses)).toEqual(contents);
    expect(contents).toMatchObject([{ now: { lamports: 10n ** 10n } }, { now: null }]);
  });

  it('never goes back in time, for any change of the wall clock', async () => {
    const first = open();
    passSlots(10);
    const { slot, unixMs } = first.now();
    wallMs -= 3_600_000;
    expect(first.now()).toMatchObject({ slot, unixMs });
    passSlots(3);
    expect(first.now().slot).toBe(slot + 3);
    await close(first);
    expect(open().now().slot).toBe(slot + 3);
  });

  it('keeps slot numbers when the slot time changes', async () => {
    const first = open();
    passSlots(100);
    const { slot } = first.now();
    await close(first);
    const second = open({ slotTimeMs: 1_000 });
    expect(second.now().slot).toBe(slot);
    wallMs += 2_000;
    expect(second.now().slot).toBe(slot + 2);
  });

  it('warps to the first slot that begins at the requested time or later', () => {
    const ledger = open();
    for (const aheadMs of [1, SLOT_TIME_MS - 1, SLOT_TIME_MS, 86_400_123]) {
      const target = ledger.now().unixMs + aheadMs;
      const moment = ledger.warpTo(target);
      expect(moment.unixMs).toBe(ledger.startOf(moment.slot));
      expect(moment.unixMs).toBeGreaterThanOrEqual(target);
      expect(ledger.startOf(moment.slot - 1)).toBeLessThan(target);
    }
    const { unixMs } = ledger.now();
    expect(ledger.warpTo(unixMs - 1).unixMs).toBe(unixMs);
  });

  it('keeps a warp over a restart', async () => {
    const first = open();
    const { unixMs: reached } = first.warpTo(wallMs + 30 * 86_400_000);
    await close(first);
    passSlots(1);
    expect(open().now().unixMs).toBe(reached + SLOT_TIME_MS);
  });

  it('writes the ProgramData account in which a program checks its upgrade authority, and runs the program', () => {
    const probe = open();
    const elf = probe.account(MEMO_PROGRAM.toBytes(), false)?.data;
    const programId = Keypair.fromSeed(Buffer.alloc(32, 9)).publicKey;
    const program = {
      programId: programId.toBytes(),
      elf: elf ?? new Uint8Array(),
      upgradeAuthority: alice.publicKey.toBytes(),
    };
    const ledger = open({ programs: [program] });
    const loader = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
    const [dataAddress] = PublicKey.findProgramAddressSync([programId.toBytes()], loader);
    const programData = Buffer.from(ledger.account(dataAddress.toBytes(), false)?.data ?? []);
    expect(programData.readUInt32LE(0)).toBe(3);
    expect(programData.readBigUInt64LE(4)).toBe(0n);
    expect(programData.subarray(12, 45)).toEqual(
      Buffer.concat([Buffer.from([1]), alice.publicKey.toBytes()]),
    );
    expect(Buffer.compare(programData.subarray(45), program.elf)).toBe(0);
    expect(ledger.account(programId.toBytes(), false)).toMatchObject({ executable: true });
    ledger.airdrop(alice.publicKey.toBytes(), 10 ** 9);
    const run = transaction(ledger, alice, memo('it runs', programId));
    expect(ledger.submit(run, true)).toEqual({ landed: true, err: null });
    expect(ledger.history.find(run.signature)?.outcome.logs).toContain('Program log: it runs');
  });
});
