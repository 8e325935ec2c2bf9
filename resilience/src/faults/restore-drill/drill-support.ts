import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  decodePerQueryBalance,
  findListingAddress,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import type { RentalClient } from '@agent-rental/sdk';
import { until } from '@agent-rental/test/support/timing/until';
import type { Connection, Keypair } from '@solana/web3.js';
import { expect } from 'vitest';
import { landedCharges } from '../world/ledger-audit.js';

const OPERATIONS = new URL('../../../../docs/operations.md', import.meta.url);
const WORKERS = 3;

/** Finds a command in the documentation's section about backups, by its program. */
export function command(program: 'pg_dump' | 'pg_restore' | 'npm run reconcile'): string {
  const [, section = ''] = readFileSync(OPERATIONS, 'utf8').split('## Backup and restore\n');
  const blocks = (section.split('\n## ')[0] ?? '').matchAll(/```sh\n([^]*?)```/g);
  const found = [...blocks].map(([, code = '']) => code).find((code) => code.startsWith(program));
  if (found === undefined) throw new Error(`docs/operations.md has no block that starts with ${program}.`);
  return found;
}

const balanceAddressOf = ({ publicKey }: Keypair, listingId: string) =>
  findPerQueryBalanceAddress(publicKey, findListingAddress(listingId).address).address;

/** Reads a balance in lamports. */
export async function lamportsOnChain(connection: Connection, wallet: Keypair, listingId: string) {
  const account = await connection.getAccountInfo(balanceAddressOf(wallet, listingId));
  return Number(decodePerQueryBalance(account?.data ?? Buffer.alloc(0)).balanceLamports);
}

/** The runs that the chain has charged to a balance, one entry per charge. */
export async function chargedOnChain(connection: Connection, wallet: Keypair, listingId: string) {
  const landed = await landedCharges({ connection }, balanceAddressOf(wallet, listingId));
  return landed.map(({ runId }) => runId);
}

/** Makes runs of a rental on all replicas in turns, until `end`. After `killed`, an unanswered run is no failure. */
export function startLoad(clientOf: (replica: number) => RentalClient, listingId: string, name: string) {
  const state = { isOver: false, isKilled: false };
  const answered: string[] = [];
  const failed: unknown[] = [];
  const worker = async (index: number) => {
    for (let round = index; !state.isOver; round += 1) {
      const request = { agent_id: listingId, task: `answer ${name} ${index} ${round}` };
      const run = clientOf(round).execute(request, { idempotencyKey: `${name}-${index}-${round}` });
      await run.then(
        ({ status, run_id }) => (status === 'completed' ? answered.push(run_id) : failed.push(status)),
        (error: unknown) => state.isKilled || failed.push(error),
      );
    }
  };
  const workers = Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)));
  return {
    answered,
    /** Waits for this many further answers. */
    async more(count: number) {
      const target = answered.length + count;
      await until(async () => answered.length >= target || failed.length > 0);
      expect(failed).toEqual([]);
    },
    killed: () => (state.isKilled = true),
    async end() {
      state.isOver = true;
      await workers;
      expect(failed).toEqual([]);
    },
  };
}

/** Whether a program is on this machine. */
export const hasProgram = (name: string) => spawnSync(name, ['--version']).status === 0;
