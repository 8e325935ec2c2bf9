import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogEntry } from './index.js';
import { airdrop, startFixture, temporaryFolder, type ChainFixture } from './testing/chain-fixture.js';
import { memo, signed, transfer } from './testing/transactions.js';

const PARENT_MODULE = fileURLToPath(new URL('../dist/testing/chain-parent.js', import.meta.url));
const FEE_LAMPORTS = 5_000;

/** Starts a chain in another process, which is its parent. */
async function startParent(
  stateDir: string,
): Promise<{ parent: ChildProcess; rpcUrl: string; chainPid: number }> {
  const parent = spawn(process.execPath, [PARENT_MODULE, stateDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: parent.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  const { rpcUrl, pid } = JSON.parse(line) as { rpcUrl: string; pid: number };
  return { parent, rpcUrl, chainPid: pid };
}

async function killHard(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** A process that has ended and was not waited for yet (a zombie) is not alive. */
function isAlive(pid: number): boolean {
  return !['', 'Z', 'X'].includes(statusOf(pid, 'State').slice(0, 1));
}

/** A field of a process's status; empty when there is no such process. */
function statusOf(pid: number, field: string): string {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return new RegExp(`^${field}:\\s+(.+)$`, 'mu').exec(status)?.[1] ?? '';
  } catch {
    return '';
  }
}

function journalFiles(stateDir: string): string[] {
  const dir = join(stateDir, 'journal');
  return readdirSync(dir)
    .filter((name) => name.endsWith('.log'))
    .map((name) => join(dir, name));
}

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('kill -9', () => {
  it(
    'of the parent loses nothing that was confirmed and leaves no process',
    { timeout: 60_000 },
    async () => {
      const alice = Keypair.generate();
      const bob = Keypair.generate().publicKey;
      const confirmed: string[] = [];
      const amounts = new Map<string, number>();

      for (let round = 0; round < 3; round += 1) {
        const { parent, rpcUrl, chainPid } = await startParent(folder.path);
        const connection = new Connection(rpcUrl, 'confirmed');
        if (round === 0) confirmed.push(await airdrop(connection, alice.publicKey, 100 * LAMPORTS_PER_SOL));
        const { blockhash } = await connection.getLatestBlockhash();
        const goal = confirmed.length + 60 + round * 17;
        let sent = 0;
        const sender = async (): Promise<void> => {
          while (!parent.killed) {
            const lamports = 1_000_000 + round * 100_000 + sent;
            sent += 1;
            const transaction = signed(alice, blockhash, [transfer(alice.publicKey, bob, lamports)]);
            try {
              const signature = await connection.sendTransaction(transaction, { skipPreflight: true });
              confirmed.push(signature);
              amounts.set(signature, lamports);
            } catch {
              return;
            }
            if (confirmed.length >= goal) parent.kill('SIGKILL');
          }
        };
        await Promise.all([sender(), sender(), sender(), sender(), once(parent, 'exit')]);
        await vi.waitFor(() => expect(isAlive(chainPid)).toBe(false), { timeout: 5_000, interval: 20 });
      }

      const fixture = await startFixture({ stateDir: folder.path });
      const { connection } = fixture;
      try {
        for (let at = 0; at < confirmed.length; at += 256) {
          const page = confirmed.slice(at, at + 256);
          const { value } = await connection.getSignatureStatuses(page, { searchTransactionHistory: true });
          expect(value.map((status) => status?.err)).toEqual(page.map(() => null));
        }
        // Some may have landed without an answer: the chain's list names them.
        const landed = await connection.getSignaturesForAddress(bob, { limit: 1_000 }, 'confirmed');
        expect(landed.length).toBeGreaterThanOrEqual(confirmed.length - 1);
        let total = 0;
        for (const { signature } of landed) {
          const transaction = await connection.getTransaction(signature, {
            commitment: 'confirmed',
            maxSupportedTransactionVersion: 0,
          });
          const { preBalances = [], postBalances = [] } = transaction?.meta ?? {};
          const gain = (postBalances[1] ?? 0) - (preBalances[1] ?? 0);
          expect(amounts.get(signature) ?? gain).toBe(gain);
          total += gain;
        }
        expect(await connection.getBalance(bob)).toBe(total);
        expect(await connection.getBalance(alice.publicKey)).toBe(
          100 * LAMPORTS_PER_SOL - total - landed.length * FEE_LAMPORTS,
        );
      } finally {
        await fixture.stop();
      }
    },
  );

  it('of a parent whose chain is still starting leaves no process', async () => {
    const parent = spawn(process.execPath, [PARENT_MODULE, folder.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const childOf = (pid: number | undefined): number[] =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/u.test(name))
        .map(Number)
        .filter((candidate) => statusOf(candidate, 'PPid') === String(pid));
    const [chainPid] = await vi.waitFor(
      () => {
        const children = childOf(parent.pid);
        expect(children).toHaveLength(1);
        return children;
      },
      { timeout: 5_000, interval: 1 },
    );
    await killHard(parent);
    await vi.waitFor(() => expect(isAlive(chainPid ?? 0)).toBe(false), { timeout: 5_000, interval: 20 });
  });

  it('of the chain itself is repaired on the same port, and clients just try again', async () => {
    const fixture = await startFixture({ stateDir: folder.path });
    try {
      const alice = await fixture.fundedWallet(LAMPORTS_PER_SOL);
      const { rpcUrl, pid } = fixture.chain;
      const { blockhash } = await fixture.connection.getLatestBlockhash();
      process.kill(pid, 'SIGKILL');
      const messages = (): string[] => fixture.logs.map(({ msg }) => msg);
      await vi.waitFor(() => expect(messages()).toContain('the chain was restarted'), { timeout: 10_000 });
      expect(fixture.chain.rpcUrl).toBe(rpcUrl);
      expect(fixture.chain.pid).not.toBe(pid);
      expect(await fixture.connection.getBalance(alice.publicKey)).toBe(LAMPORTS_PER_SOL);
      // A blockhash from before the crash is still good.
      await fixture.connection.sendTransaction(signed(alice, blockhash, [memo('still here')]));
    } finally {
      await fixture.stop();
    }
  });

  it('again and again is given up after a bounded number of restarts', { timeout: 60_000 }, async () => {
    let chainPid = 0;
    let restarts = 0;
    const fixture = await startFixture({
      stateDir: folder.path,
      onLog: ({ msg, pid }: LogEntry) => {
        if (msg !== 'the chain was restarted') return;
        restarts += 1;
        chainPid = Number(pid);
        process.kill(chainPid, 'SIGKILL');
      },
    });
    process.kill(fixture.chain.pid, 'SIGKILL');
    expect((await fixture.chain.closed).reason).toContain('crashed 6 times');
    expect(restarts).toBe(5);
    expect(isAlive(chainPid)).toBe(false);
    await fixture.stop();
  });
});

describe('the state folder', () => {
  const withChain = async <T>(use: (fixture: ChainFixture) => Promise<T>): Promise<T> => {
    const fixture = await startFixture({ stateDir: folder.path });
    try {
      return await use(fixture);
    } finally {
      await fixture.stop();
    }
  };

  it('is only written by one chain', async () => {
    await withChain(async (fixture) => {
      const before = statSync(join(folder.path, 'genesis.json')).ino;
      await expect(startFixture({ stateDir: folder.path })).rejects.toMatchObject({
        name: 'LocalChainError',
        code: 'state_in_use',
        message: expect.stringContaining(`process ${fixture.chain.pid}, RPC on port`),
      });
      expect(statSync(join(folder.path, 'genesis.json')).ino).toBe(before);
      expect((await fixture.rpc('getHealth')).result).toBe('ok');
    });
  });

  it('survives a torn last record, which is cut off', async () => {
    const alice = await withChain((fixture) => fixture.fundedWallet(LAMPORTS_PER_SOL));
    const [file = ''] = journalFiles(folder.path);
    const whole = statSync(file).size;
    appendFileSync(file, Buffer.from('200000001234567801020304', 'hex'));
    await withChain(async (fixture) => {
      const entry = { level: 'warn', msg: 'cut an incomplete record off the journal', bytes: 12 };
      expect(fixture.logs).toContainEqual(expect.objectContaining(entry));
      expect(statSync(file).size).toBe(whole);
      expect(await fixture.connection.getBalance(alice.publicKey)).toBe(LAMPORTS_PER_SOL);
      await airdrop(fixture.connection, alice.publicKey, LAMPORTS_PER_SOL);
    });
    truncateSync(file, statSync(file).size - 3);
    await withChain(async (fixture) => {
      expect(await fixture.connection.getBalance(alice.publicKey)).toBe(LAMPORTS_PER_SOL);
    });
  });

  it('keeps genesis hash, slots and history over a restart', async () => {
    const read = (fixture: ChainFixture): Promise<[string, number, number]> =>
      Promise.all([
        fixture.connection.getGenesisHash(),
        fixture.connection.getSlot('processed'),
        fixture.connection.getTransactionCount('confirmed'),
      ]);
    const first = await withChain(async (fixture) => {
      await fixture.fundedWallet(LAMPORTS_PER_SOL);
      return read(fixture);
    });
    const second = await withChain(read);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBeGreaterThanOrEqual(first[1]);
    expect(second[2]).toBe(first[2]);
  });
});

describe('a program', () => {
  it.each([
    ['is missing', null, /^cannot read program .*ENOENT/u],
    ['is not a program', 'not an ELF file', /^program .* cannot be loaded/u],
  ])('that %s is named in one clear error', async (_, contents, message) => {
    const soPath = join(folder.path, 'program.so');
    if (contents !== null) writeFileSync(soPath, contents);
    const programId = Keypair.generate().publicKey.toBase58();
    const programs = [{ programId, soPath, upgradeAuthority: programId }];
    await expect(startFixture({ programs })).rejects.toMatchObject({
      code: 'program_unusable',
      message: expect.stringMatching(message),
    });
  });
});

describe('options', () => {
  it('are checked, naming the wrong one', async () => {
    await expect(startFixture({ rpcPort: 65_535 })).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('rpcPort'),
    });
  });
});

describe('a port that is taken', () => {
  it.each([0, 1])('is named in one clear error (RPC port + %i)', async (offset) => {
    // Below the ports that the system gives to other tests, which would take the neighbour.
    const port = 20_000 + 2 * (process.pid % 5_000);
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    await expect(startFixture({ rpcPort: port - offset })).rejects.toMatchObject({
      code: 'port_in_use',
      message: expect.stringContaining(`port ${port} on 127.0.0.1 is in use`),
    });
    squatter.close();
  });
});
