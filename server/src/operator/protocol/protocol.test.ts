import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalChain, type LocalChain } from '@agent-rental/local-chain';
import {
  createListing,
  decodeAccessCredential,
  findAccessCredentialAddress,
  findListingAddress,
  purchaseOneTime,
  purchasePerQuery,
} from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  sendAndConfirmTransaction,
  Transaction,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createChain, type Chain } from '../../chain/index.js';
import { OperatorError } from '../operator-error.js';
import { formatFault, parseProtocolCommand, readProtocolAccount, runProtocolCommand } from './index.js';

const MAIN = fileURLToPath(new URL('../../../dist/operator/main.js', import.meta.url));
const programId = Keypair.generate().publicKey;
const roles = {
  upgradeAuthority: Keypair.generate(),
  admin: Keypair.generate(),
  nextAdmin: Keypair.generate(),
  authority: Keypair.generate(),
  nextAuthority: Keypair.generate(),
  treasury: Keypair.generate(),
  nextTreasury: Keypair.generate(),
  creator: Keypair.generate(),
  buyer: Keypair.generate(),
};
type Role = keyof typeof roles;
const addressOf = (role: Role) => roles[role].publicKey.toBase58();

let folder: string;
let node: LocalChain;
let chain: Chain;
let connection: Connection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operator protocol '));
  node = await startLocalChain({
    consensus: 'tower',
    stateDir: join(folder, 'chain'),
    rpcPort: 0,
    slotTimeMs: 100,
    programs: [
      {
        programId: programId.toBase58(),
        soPath: marketplaceSoPath(),
        upgradeAuthority: addressOf('upgradeAuthority'),
      },
    ],
  });
  chain = createChain(node.rpcUrl, programId);
  connection = new Connection(node.rpcUrl, { commitment: 'confirmed', wsEndpoint: node.wsUrl });
  for (const [name, keypair] of Object.entries(roles)) {
    await writeFile(fileOf(name as Role), JSON.stringify([...keypair.secretKey]), { mode: 0o600 });
    if (name !== 'nextTreasury') await connection.requestAirdrop(keypair.publicKey, LAMPORTS_PER_SOL);
  }
}, 60_000);
afterAll(async () => {
  await node?.close();
  await rm(folder, { recursive: true, force: true });
});

const fileOf = (role: Role) => join(folder, `${role}.json`);
const signedBy = (role: Role) => ['--keypair', fileOf(role)];

/** The printed text of a command line, the transaction included. */
async function operate(...argv: string[]): Promise<string> {
  const command = parseProtocolCommand(argv);
  if (!command) throw new Error(`${argv[0]} is not known.`);
  if ('help' in command) return command.help;
  const printed: string[] = [];
  printed.push(await runProtocolCommand(chain, command, (text) => void printed.push(text)));
  return printed.join('\n');
}

async function send(instruction: TransactionInstruction, ...signers: Keypair[]): Promise<void> {
  await sendAndConfirmTransaction(connection, new Transaction().add(instruction), signers);
}

const protocol = async () => {
  const found = await readProtocolAccount(chain);
  if (!found) throw new Error('There is no protocol account.');
  return found;
};
const INITIALIZE = () => [
  'initialize',
  '--admin',
  addressOf('admin'),
  '--authority',
  addressOf('authority'),
  '--treasury',
  addressOf('treasury'),
];
/** Every command that signs, once initialised, with the role that signs it, in an order in which each works. */
const SIGNED = (): [argv: string[], signer: Role, event: string][] => [
  [['pause'], 'admin', 'ProtocolUpdated'],
  [['unpause'], 'admin', 'ProtocolUpdated'],
  [['update-protocol', '--fee-bps', '300', '--min-query-price', '250000'], 'admin', 'ProtocolUpdated'],
  [['rotate-authority', 'propose', addressOf('nextAuthority')], 'admin', 'ProtocolUpdated'],
  [['rotate-authority', 'cancel'], 'admin', 'ProtocolUpdated'],
  [['rotate-admin', 'propose', addressOf('nextAdmin')], 'admin', 'ProtocolUpdated'],
  [['rotate-admin', 'cancel'], 'admin', 'ProtocolUpdated'],
];

test('a program file of an older sBPF is refused in one line', async () => {
  const so = await readSo();
  expect(formatFault(so)).toBeUndefined();
  so.writeUInt32LE(0, 48);
  expect(formatFault(so)).toMatch(/^the program file is sBPF v0, and clusters take v3 alone/);
});

describe('before the program is initialised', () => {
  it('the deployment is compared with the committed program [OPS-70]', async () => {
    const text = await operate('deploy-check');
    expect(text).toMatch(/code +sha256 [0-9a-f]{64}, as committed/);
    expect(text).toContain(addressOf('upgradeAuthority'));
    expect(text).toContain('no: send initialize');
  });

  it('a change is refused, with the step to take first', async () => {
    await expect(operate('pause', ...signedBy('admin'))).rejects.toThrow(/not initialised.*initialize first/);
    await expect(operate('protocol')).rejects.toThrow(OperatorError);
  });

  it('an initialization is refused that mixes the hot key with a cold one, or names a treasury without rent [OPS-70]', async () => {
    const mixed = INITIALIZE().map((text) => (text === addressOf('authority') ? addressOf('admin') : text));
    await expect(operate(...mixed, '--dry-run')).rejects.toThrow(/needs a separate key/);
    const poor = INITIALIZE().map((text) =>
      text === addressOf('treasury') ? addressOf('nextTreasury') : text,
    );
    await expect(operate(...poor, '--dry-run')).rejects.toThrow(/send it at least \d+ first/);
  });

  it('a dry run of the initialization shows it and does nothing; the real one happens once [OPS-70]', async () => {
    const shown = await operate(...INITIALIZE(), '--dry-run');
    expect(shown).toContain('initialize_protocol');
    expect(shown).toMatch(new RegExp(`upgrade_authority +${addressOf('upgradeAuthority')}  signs`));
    expect(shown).toMatch(new RegExp(`authority +${addressOf('authority')}`));
    expect(shown).toMatch(/network fee +5000 lamports/);
    expect(shown).toMatch(/rent +[1-9]\d+ lamports/);
    expect(shown).toContain(await connection.getGenesisHash());
    expect(shown).toContain('Nothing was sent');
    expect(await readProtocolAccount(chain)).toBeUndefined();

    await expect(operate(...INITIALIZE(), ...signedBy('admin'))).rejects.toThrow(
      `the upgrade authority is ${addressOf('upgradeAuthority')}`,
    );
    const done = await operate(...INITIALIZE(), ...signedBy('upgradeAuthority'));
    expect(done).toMatch(/Landed: \w{80,}\nProtocolInitialized/);
    expect(await protocol()).toMatchObject({ feeBps: 250, paused: false });
    expect(await operate('protocol')).toContain(addressOf('treasury'));
    await expect(operate(...INITIALIZE(), '--dry-run')).rejects.toThrow(/initialised already/);
  });
});

describe('once it is initialised', () => {
  it('a dry run of every command shows and simulates it, needs no keypair, and changes nothing [OPS-70]', async () => {
    const before = await protocol();
    const balance = await connection.getBalance(roles.admin.publicKey);
    for (const [argv] of SIGNED()) {
      const shown = await operate(...argv, '--dry-run');
      expect(shown).toMatch(new RegExp(`signed by +${addressOf('admin')}, the admin, who pays`));
      expect(shown).toContain('The simulation succeeds. Nothing was sent.');
      // With the key at hand it sends nothing either.
      expect(await operate(...argv, '--dry-run', ...signedBy('admin'))).toContain('Nothing was sent.');
    }
    expect(await protocol()).toEqual(before);
    expect(await connection.getBalance(roles.admin.publicKey)).toBe(balance);
  });

  it('every command makes its change, and reports it from the landed event [OPS-70]', async () => {
    const after: Record<string, object>[] = [
      { pause: { paused: true } },
      { unpause: { paused: false } },
      { update: { feeBps: 300, minQueryPriceLamports: 250_000n } },
      { propose: { nextAuthority: roles.nextAuthority.publicKey } },
      { cancel: { nextAuthority: null } },
      { propose: { pendingAdmin: roles.nextAdmin.publicKey } },
      { cancel: { pendingAdmin: null } },
    ];
    for (const [index, [argv, signer, event]] of SIGNED().entries()) {
      expect(await operate(...argv, ...signedBy(signer))).toMatch(new RegExp(`Landed: \\w+\\n${event}`));
      expect(await protocol()).toMatchObject(Object.values(after[index] ?? {})[0] as object);
    }
  });

  it('a change that repeats an earlier one within a slot happens again [OPS-70]', async () => {
    const landed = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      for (const paused of [true, false]) {
        const printed = await operate(paused ? 'pause' : 'unpause', ...signedBy('admin'));
        landed.add(/Landed: (\w+)/.exec(printed)?.[1] ?? '');
        expect(await protocol()).toMatchObject({ paused });
      }
    }
    expect(landed.size).toBe(8);
  });

  it('the authority is handed over in two steps, and none is accepted that was not proposed [OPS-70]', async () => {
    await expect(operate('rotate-authority', 'accept', '--dry-run')).rejects.toThrow(/propose <address>/);
    await operate('rotate-authority', 'propose', addressOf('nextAuthority'), ...signedBy('admin'));
    expect(await protocol()).toMatchObject({ authority: roles.authority.publicKey });
    await operate('rotate-authority', 'accept', ...signedBy('admin'));
    expect(await protocol()).toMatchObject({
      authority: roles.nextAuthority.publicKey,
      nextAuthority: null,
    });
  });

  it('fees go to another wallet, which has to hold its rent [OPS-70]', async () => {
    const change = ['treasury', addressOf('nextTreasury')];
    await expect(operate(...change, '--dry-run')).rejects.toThrow(/send it at least/);
    await connection.requestAirdrop(roles.nextTreasury.publicKey, LAMPORTS_PER_SOL);
    await operate(...change, ...signedBy('admin'));
    expect(await protocol()).toMatchObject({ treasury: roles.nextTreasury.publicKey });
  });

  it('a rental of each kind is revoked for ever [OPS-70]', async () => {
    const bought = { one_time: purchaseOneTime, per_query: purchasePerQuery } as const;
    for (const rentalModel of ['one_time', 'per_query'] as const) {
      const listingId = `${rentalModel.replace('_', '-')}-abcdef`;
      const listing = { listingId, rentalModel, priceLamports: 1_000_000n, minDepositLamports: 1_000_000n };
      const { creator, nextAuthority, buyer } = roles;
      await send(
        createListing({
          ...listing,
          creator: creator.publicKey,
          authority: nextAuthority.publicKey,
          metadataUri: 'ipfs://x',
          programId,
        }),
        creator,
        nextAuthority,
      );
      const revoke = ['revoke-access', listingId, addressOf('buyer')];
      await expect(operate(...revoke, '--dry-run')).rejects.toThrow(/has no rental/);
      const { treasury } = await protocol();
      const purchase = {
        buyer: buyer.publicKey,
        listingId,
        maxPriceLamports: 1_000_000n,
        depositLamports: 5_000_000n,
        treasury,
        programId,
      };
      await send(bought[rentalModel](purchase), buyer);
      const account = findAccessCredentialAddress(
        buyer.publicKey,
        findListingAddress(listingId, programId).address,
        programId,
      ).address;
      const printed = await operate(...revoke, ...signedBy('admin'));
      expect(printed).toContain(rentalModel === 'one_time' ? 'AccessRevoked' : 'refundedLamports  5000000');
      expect(await isValid(account)).toBe(false);
      await expect(operate(...revoke, '--dry-run')).rejects.toThrow(/simulation is refused/);
    }
  });

  it('the admin is handed over by the signature of the new one, and the old one is refused [OPS-70]', async () => {
    await operate('rotate-admin', 'propose', addressOf('nextAdmin'), ...signedBy('admin'));
    await expect(operate('rotate-admin', 'accept', ...signedBy('admin'))).rejects.toThrow(
      `the proposed admin is ${addressOf('nextAdmin')}`,
    );
    await operate('rotate-admin', 'accept', ...signedBy('nextAdmin'));
    expect(await protocol()).toMatchObject({ admin: roles.nextAdmin.publicKey, pendingAdmin: null });
    await expect(operate('pause', ...signedBy('admin'))).rejects.toThrow(/the admin is/);
  });

  it('a signer without SOL is told so before anything is sent', async () => {
    const poor = Keypair.generate();
    await operate('rotate-admin', 'propose', poor.publicKey.toBase58(), ...signedBy('nextAdmin'));
    await expect(operate('rotate-admin', 'accept', '--dry-run')).rejects.toThrow(/SOL/);
  });
});

async function isValid(credential: PublicKey): Promise<boolean> {
  const account = await connection.getAccountInfo(credential);
  return account ? decodeAccessCredential(account.data).valid : false;
}

describe('a program that is not the committed one', () => {
  it('is a problem that the check names, and so is none at all [OPS-70]', async () => {
    const soPath = join(folder, 'other.so');
    await writeFile(soPath, Buffer.concat([await readSo(), Buffer.from('more')]));
    await chmod(soPath, 0o600);
    const other = await startLocalChain({
      consensus: 'tower',
      stateDir: join(folder, 'other'),
      rpcPort: 0,
      programs: [
        { programId: programId.toBase58(), soPath, upgradeAuthority: addressOf('upgradeAuthority') },
      ],
    });
    try {
      const check = parseProtocolCommand(['deploy-check']);
      if (!check || 'help' in check) throw new Error('deploy-check is a command.');
      await expect(runProtocolCommand(createChain(other.rpcUrl, programId), check)).rejects.toThrow(
        /another one than this release's/,
      );
      const nowhere = createChain(other.rpcUrl, Keypair.generate().publicKey);
      await expect(runProtocolCommand(nowhere, check)).rejects.toThrow(
        /No program is deployed.*has 65397 bytes and holds 0\.456\d* SOL/,
      );
    } finally {
      await other.close();
    }
  });
});

async function readSo(): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises');
  return readFile(marketplaceSoPath());
}

describe('a command line of the program', () => {
  it.each([
    [['pause'], /--keypair FILE.*--dry-run/],
    [['pause', 'x', '--dry-run'], /Wrong number/],
    [['pause', '--force'], /'--force' is not known/],
    [['pause', '--fee-bps', '1', '--dry-run'], /'--fee-bps' is not known/],
    [['deploy-check', '--dry-run'], /signs nothing/],
    [['initialize', '--dry-run'], /--admin is missing/],
    [['initialize', '--admin', 'x', '--dry-run'], /--admin is not an address/],
    [['update-protocol', '--dry-run'], /Name the change/],
    [['update-protocol', '--fee-bps', '1001', '--dry-run'], /0 to 1000/],
    [['update-protocol', '--min-query-price', '1e9', '--dry-run'], /whole number of lamports/],
    [['rotate-authority', '--dry-run'], /propose <address> \| accept \| cancel/],
    [['rotate-authority', 'accept', 'x', '--dry-run'], /Wrong number/],
    [['treasury', '--dry-run'], /Wrong number/],
    [['revoke-access', 'x'.repeat(33), 'y', '--dry-run'], /1 to 32 bytes/],
  ])('%j is refused, saying why', (argv, message) => {
    expect(() => parseProtocolCommand(argv)).toThrow(OperatorError);
    expect(() => parseProtocolCommand(argv)).toThrow(message);
  });

  it('has a help for each command', async () => {
    for (const name of ['protocol', 'initialize', 'revoke-access'])
      expect(await operate(name, '--help')).toContain(`npm run operator -- ${name}`);
  });

  it('runs on SOLANA_RPC_URLS and PROGRAM_ID, and never repeats a key that was typed [OPS-70]', () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      SOLANA_RPC_URLS: node.rpcUrl,
      PROGRAM_ID: programId.toBase58(),
    };
    const run = (...argv: string[]) =>
      spawnSync(process.execPath, [MAIN, ...argv], { env, encoding: 'utf8', cwd: folder });
    expect(run('protocol')).toMatchObject({ status: 0, stderr: '' });
    const secret = JSON.stringify([...roles.nextAdmin.secretKey]);
    const typed = run('pause', '--keypair', secret);
    expect(typed).toMatchObject({ status: 1 });
    expect(typed.stderr).toContain('takes the path of a file and never a key');
    expect(typed.stdout + typed.stderr).not.toContain(secret.slice(1, 20));
    expect(run('pause', '--keypair', fileOf('creator'))).toMatchObject({ status: 1 });
    const lost = spawnSync(process.execPath, [MAIN, 'protocol'], {
      env: { PATH: env.PATH },
      encoding: 'utf8',
      cwd: folder,
    });
    expect(lost).toMatchObject({ status: 1 });
    expect(lost.stderr).toMatch(/No server runs on the state folder.*SOLANA_RPC_URLS/);
  });
});
