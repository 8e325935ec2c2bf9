import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { formatSol } from '@agent-rental/contract';
import {
  decodeProtocol,
  findProgramDataAddress,
  findProtocolAddress,
  UPGRADEABLE_LOADER_ID,
  type Protocol,
} from '@agent-rental/program-client';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import { PublicKey } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';

/** A program that is deployed with the upgradeable loader, held against the committed one. */
export interface Deployment {
  /** The slot of the deployment. */
  slot: bigint;
  /** Null where the program can never be upgraded. */
  upgradeAuthority: PublicKey | null;
  /** SHA-256 of the deployed code, in hex, without the zeros that a larger account ends with. */
  sha256: string;
  /** SHA-256 of the committed program, in hex. */
  committedSha256: string;
  /** Whether the deployed code is the committed one. */
  isCommitted: boolean;
}

/** ProgramData begins with tag (4), slot (8), whether there is an upgrade authority (1), that authority (32). */
const SLOT_OFFSET = 4;
const HAS_AUTHORITY_OFFSET = 12;
const AUTHORITY_OFFSET = 13;
const CODE_OFFSET = 45;

/** ELF-64, `e_flags`: the version of sBPF. */
const ELF_FLAGS_OFFSET = 48;
/** Clusters take deployments and upgrades in this version alone (SIMD-0500). */
const SBPF_VERSION = 3;

/** Why clusters refuse a program file; undefined where they take it. */
export function formatFault(elf: Buffer): string | undefined {
  const version = elf.readUInt32LE(ELF_FLAGS_OFFSET);
  if (version === SBPF_VERSION) return undefined;
  return `the program file is sBPF v${version}, and clusters take v${SBPF_VERSION} alone (SIMD-0500)`;
}

/** The size and the cost of a deployment of the committed program, at the rent that the cluster asks now. */
export async function describeDeploymentCost(chain: Pick<Chain, 'minimumBalance'>): Promise<string> {
  const { length } = await readFile(marketplaceSoPath());
  const bytes = CODE_OFFSET + length;
  const rent = formatSol(await chain.minimumBalance(bytes));
  return `Its account has ${bytes} bytes and holds ${rent}. The buffer of a deployment holds as much until it ends.`;
}

/** Reads the deployment at the program's address; undefined without a program of the upgradeable loader. */
export async function readDeployment(
  chain: Pick<Chain, 'programId' | 'getAccounts'>,
): Promise<Deployment | undefined> {
  const { programId } = chain;
  const { accounts } = await chain.getAccounts([programId, findProgramDataAddress(programId).address]);
  const [program, programData] = accounts;
  if (!program?.executable || !programData?.owner.equals(UPGRADEABLE_LOADER_ID)) return undefined;
  const { data } = programData;
  if (data.length < CODE_OFFSET) return undefined;
  const committed = await readFile(marketplaceSoPath());
  const code = data.subarray(CODE_OFFSET, CODE_OFFSET + committed.length);
  const isRestZero = data.subarray(CODE_OFFSET + committed.length).every((byte) => byte === 0);
  const isCommitted = isRestZero && code.equals(committed);
  const sha256 = isCommitted ? sha256Of(code) : sha256Of(withoutZeros(data.subarray(CODE_OFFSET)));
  return {
    slot: data.readBigUInt64LE(SLOT_OFFSET),
    upgradeAuthority:
      data[HAS_AUTHORITY_OFFSET] === 1 ? new PublicKey(data.subarray(AUTHORITY_OFFSET, CODE_OFFSET)) : null,
    sha256,
    committedSha256: sha256Of(committed),
    isCommitted,
  };
}

/** Reads the program's configuration; undefined where it is not initialised. */
export async function readProtocolAccount(
  chain: Pick<Chain, 'programId' | 'getAccounts'>,
): Promise<Protocol | undefined> {
  const { accounts } = await chain.getAccounts([findProtocolAddress(chain.programId).address]);
  const [account] = accounts;
  return account?.owner.equals(chain.programId) ? decodeProtocol(account.data) : undefined;
}

function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
