import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { LocalChainError } from '../errors.js';
import { syncFolder } from './journal.js';

/** A slot, the chain time at which it began, and how long slots are from there on. */
export interface SlotAnchor {
  slot: number;
  unixMs: number;
  slotTimeMs: number;
}

/** The values that a chain gets at its first start. It derives everything else from them or from transactions. */
export interface Genesis {
  /** 32 secret bytes: blockhashes, the genesis hash and the faucet's key are derived from them. */
  seed: Uint8Array;
  anchor: SlotAnchor;
}

/** Not 0, so that the finalized slot and the window of recent blockhashes exist from the first moment on. */
const FIRST_SLOT = 1_000;

const genesisSchema = z.object({
  version: z.literal(1),
  seed: z.string().regex(/^[0-9a-f]{64}$/u),
  anchor: z.object({
    slot: z.int().nonnegative(),
    unixMs: z.number().nonnegative(),
    slotTimeMs: z.int().positive(),
  }),
});

/** Reads the chain's genesis, or makes one for an empty state folder, which begins now. */
export function openGenesis(stateDir: string, slotTimeMs: number, nowMs: number): Genesis {
  const file = join(stateDir, 'genesis.json');
  const stored = readIfPresent(file);
  if (stored === null) {
    const genesis = { seed: randomBytes(32), anchor: { slot: FIRST_SLOT, unixMs: nowMs, slotTimeMs } };
    writeGenesis(stateDir, genesis);
    return genesis;
  }
  const parsed = genesisSchema.safeParse(stored);
  if (!parsed.success) throw new LocalChainError('state_damaged', `${file} is not a genesis file`);
  return { seed: Buffer.from(parsed.data.seed, 'hex'), anchor: parsed.data.anchor };
}

/** Replaces the genesis file, for a new anchor when the slot time is configured anew. */
export function writeGenesis(stateDir: string, { seed, anchor }: Genesis): void {
  const temporary = join(stateDir, 'genesis.tmp');
  const stored: z.input<typeof genesisSchema> = {
    version: 1,
    seed: Buffer.from(seed).toString('hex'),
    anchor,
  };
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(fd, `${JSON.stringify(stored)}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, join(stateDir, 'genesis.json'));
  syncFolder(stateDir);
}

/** 32 bytes that belong to this chain and this purpose. */
export function deriveSecret(genesis: Genesis, purpose: string): Buffer {
  return createHash('sha256').update(genesis.seed).update(purpose).digest();
}

function readIfPresent(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
