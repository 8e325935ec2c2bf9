import bs58 from 'bs58';
import * as z from 'zod';
import { LocalChainError } from './errors.js';
import { CONSENSUS, type Consensus } from './ledger/consensus.js';

/** A log entry of the chain or its supervisor. */
export interface LogEntry {
  level: 'info' | 'warn' | 'error';
  msg: string;
  [field: string]: unknown;
}

/** A program on the chain from the start, in the state after a deployment with the upgradeable loader. */
export interface ProgramOption {
  /** Base58 address of the program. */
  programId: string;
  /** Path of the compiled program. Read at every start. */
  soPath: string;
  /** Base58 address that is written into the program's ProgramData account as its upgrade authority. */
  upgradeAuthority: string;
}

export interface LocalChainOptions {
  /** The folder of the chain's journal and snapshots. Created when missing; kept when the chain stops. */
  stateDir: string;
  /** HTTP port; the websocket also listens on the port after it. 0: any free pair. Default 8899. */
  rpcPort?: number;
  /** By default only this machine can reach the chain; `0.0.0.0` is for a container, whose network decides who does. */
  host?: '127.0.0.1' | '0.0.0.0';
  programs: ProgramOption[];
  /** How the chain comes to finality. Default `alpenglow`. */
  consensus?: Consensus;
  /** Length of a slot in milliseconds. Default 200 with `alpenglow`, 400 with `tower`. */
  slotTimeMs?: number;
  /** How many newer slots make a slot finalized. Default 2 with `alpenglow`, 32 with `tower`. */
  finalizedSlots?: number;
  /** False: requests that name the commitment `confirmed` are refused, as announced for clusters. Default true. */
  knowsConfirmed?: boolean;
  /** Refuses programs that are not sBPF v3, as clusters refuse their deployment (SIMD-0500). Default false. */
  requiresSbpfV3?: boolean;
  /** Adds the RPC methods `localchain_warp`, `localchain_fork` and `localchain_memory`. Default false. */
  testHooks?: boolean;
  /** A snapshot is written whenever the journal has grown by so many bytes. Default 32 MiB. */
  snapshotIntervalBytes?: number;
  onLog?: (entry: LogEntry) => void;
}

const MAX_RPC_PORT = 65_534;

const addressText = z.string().refine(isAddress, 'not a base58 address of 32 bytes');

/** The configuration of the child process: the options with their defaults. */
export const chainConfigSchema = z
  .object({
    stateDir: z.string().min(1),
    rpcPort: z.int().min(0).max(MAX_RPC_PORT).default(8899),
    host: z.enum(['127.0.0.1', '0.0.0.0']).default('127.0.0.1'),
    programs: z
      .array(z.object({ programId: addressText, soPath: z.string().min(1), upgradeAuthority: addressText }))
      .max(100),
    consensus: z.enum(['alpenglow', 'tower']).default('alpenglow'),
    slotTimeMs: z.int().min(1).max(60_000).optional(),
    finalizedSlots: z.int().min(1).max(1_000).optional(),
    knowsConfirmed: z.boolean().default(true),
    requiresSbpfV3: z.boolean().default(false),
    testHooks: z.boolean().default(false),
    snapshotIntervalBytes: z
      .int()
      .min(1)
      .default(32 * 1024 * 1024),
  })
  .transform(({ slotTimeMs, finalizedSlots, ...config }) => ({
    ...config,
    slotTimeMs: slotTimeMs ?? CONSENSUS[config.consensus].slotTimeMs,
    finalizedSlots: finalizedSlots ?? CONSENSUS[config.consensus].finalizedSlots,
  }));

export type ChainConfig = z.output<typeof chainConfigSchema>;

/** @throws LocalChainError `invalid_options`, naming the option. */
export function parseOptions(options: Omit<LocalChainOptions, 'onLog'>): ChainConfig {
  const parsed = chainConfigSchema.safeParse(options);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue?.path.map(String).join('.') ?? '';
  throw new LocalChainError('invalid_options', `local chain option ${where}: ${issue?.message ?? 'invalid'}`);
}

function isAddress(text: string): boolean {
  try {
    return text.length <= 44 && bs58.decode(text).length === 32;
  } catch {
    return false;
  }
}
