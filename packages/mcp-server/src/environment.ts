import type { ClientOptions } from '@agent-rental/sdk';
import { readWalletFile } from '@agent-rental/sdk/node';
import { payingWallet, type SpendingPolicy, type ToolsetOptions } from '@agent-rental/tools';
import { fileLedger } from '@agent-rental/tools/node';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The settings cannot be used; the message says what to set. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** Where a marketplace on this machine listens. */
const DEFAULT_URL = 'http://127.0.0.1:8787';

/** What the environment says. */
export interface Settings {
  readonly client: ClientOptions;
  /** What the tools may spend, and the wallet they pay with. */
  readonly tools: ToolsetOptions;
  readonly inputFolder: string | undefined;
  readonly patienceMs: number | undefined;
}

/**
 * Reads the environment.
 *
 * @throws EnvironmentError, or WalletFileError for a wallet that cannot be used.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): Settings {
  const client = readClient(environment);
  const policy = readPolicy(environment);
  const seconds = readNumber(environment, 'AGENT_RENTAL_WAIT_SECONDS');
  const { signer } = client;
  return {
    client,
    tools: {
      policy,
      ...(policy && signer && 'signTransaction' in signer
        ? {
            wallet: payingWallet(signer as Parameters<typeof payingWallet>[0]),
            ledger: fileLedger(
              environment['AGENT_RENTAL_SPENDING_DIR']?.trim() ||
                join(homedir(), '.agent-rental', 'spending', signer.address),
            ),
          }
        : {}),
    },
    inputFolder: environment['AGENT_RENTAL_INPUT_DIR']?.trim() || undefined,
    patienceMs: seconds === undefined ? undefined : seconds * 1000,
  };
}

/** The limits that are set; absent when none is, and then nothing is paid for here. */
function readPolicy(environment: NodeJS.ProcessEnv): SpendingPolicy | undefined {
  const listingIds = environment['AGENT_RENTAL_LISTINGS']
    ?.split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '');
  const limits = {
    maxRunLamports: readLamports(environment, 'AGENT_RENTAL_MAX_RUN_SOL'),
    maxDayLamports: readLamports(environment, 'AGENT_RENTAL_MAX_DAY_SOL'),
    maxListingLamports: readLamports(environment, 'AGENT_RENTAL_MAX_LISTING_SOL'),
    askAboveLamports: readLamports(environment, 'AGENT_RENTAL_ASK_ABOVE_SOL'),
    listingIds: listingIds?.length ? listingIds : undefined,
  };
  return Object.values(limits).some((limit) => limit !== undefined) ? limits : undefined;
}

/** An amount of SOL, exact to the lamport. */
function readLamports(environment: NodeJS.ProcessEnv, name: string): bigint | undefined {
  const value = environment[name]?.trim();
  if (!value) return undefined;
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(value) ?? [];
  if (whole === '') throw new EnvironmentError(`${name} is not an amount of SOL, for example 0.05.`);
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}

function readNumber(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const value = environment[name]?.trim();
  if (!value) return undefined;
  const number = Number(value);
  if (Number.isFinite(number) && number > 0 && number <= 3600) return number;
  throw new EnvironmentError(`${name} is not a number of seconds from above 0 to 3600.`);
}

/** How to reach the marketplace, and as whom. */
function readClient(environment: NodeJS.ProcessEnv): ClientOptions {
  const baseUrl = environment['AGENT_RENTAL_URL']?.trim() || DEFAULT_URL;
  if (!/^https?:$/.test(protocolOf(baseUrl))) {
    throw new EnvironmentError(`AGENT_RENTAL_URL is not a web address, for example ${DEFAULT_URL}.`);
  }
  const apiKey = environment['AGENT_RENTAL_API_KEY']?.trim();
  if (apiKey) return { baseUrl, apiKey };
  const wallet = environment['AGENT_RENTAL_WALLET']?.trim();
  if (wallet) return { baseUrl, signer: readWalletFile(wallet) };
  throw new EnvironmentError(
    'Set AGENT_RENTAL_API_KEY, or AGENT_RENTAL_WALLET to the path of a keypair file.',
  );
}

function protocolOf(address: string): string {
  try {
    return new URL(address).protocol;
  } catch {
    return '';
  }
}
