import type { ClientOptions } from '@agent-rental/sdk';
import { readWalletFile } from '@agent-rental/sdk/node';
import {
  payingWallet,
  readToolSelection,
  ToolSelectionError,
  type ToolsetOptions,
} from '@agent-rental/tools';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { spendingFromEnvironment } from '@agent-rental/tools/node';
import { DEFAULT_URL } from './own-package.js';

/** Invalid settings. The message names the setting to correct. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** The settings of the environment. */
export interface Settings {
  readonly client: ClientOptions;
  /** The spending limits and the wallet of the tools. */
  readonly tools: ToolsetOptions;
  readonly inputFolder: string | undefined;
  readonly patienceMs: number | undefined;
  /** Signs the state that a client carries. It is the same in each process of a key or wallet, so that tasks survive a restart. */
  readonly secret: Uint8Array;
}

/**
 * Reads the environment.
 *
 * @throws EnvironmentError, SpendingEnvironmentError, or WalletFileError for an invalid wallet.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): Settings {
  const client = readClient(environment);
  const { signer, apiKey } = client;
  // Without a rule, the tools pay nothing.
  const spending = spendingFromEnvironment(environment, signer?.address ?? apiKey ?? '');
  const seconds = readNumber(environment, 'AGENT_RENTAL_WAIT_SECONDS');
  return {
    client,
    tools: {
      select: readTools(environment),
      ...spending,
      ...(spending && signer && 'signTransaction' in signer
        ? { wallet: payingWallet(signer as Parameters<typeof payingWallet>[0]) }
        : {}),
    },
    inputFolder: environment['AGENT_RENTAL_INPUT_DIR']?.trim() || undefined,
    patienceMs: seconds === undefined ? undefined : seconds * 1000,
    secret: secretOf(apiKey ?? readFileSync(environment['AGENT_RENTAL_WALLET']?.trim() ?? '')),
  };
}

/** Derives a secret for another purpose. The original secret cannot be computed from it. */
function secretOf(material: string | Uint8Array): Uint8Array {
  return createHmac('sha256', material).update('agent-rental mcp').digest();
}

function readNumber(environment: NodeJS.ProcessEnv, name: string): number | undefined {
  const value = environment[name]?.trim();
  if (!value) return undefined;
  const number = Number(value);
  if (Number.isFinite(number) && number > 0 && number <= 3600) return number;
  throw new EnvironmentError(`${name} is not a number of seconds from above 0 to 3600.`);
}

/** The rented agents with a direct tool. */
function readTools(environment: NodeJS.ProcessEnv): ToolsetOptions['select'] {
  try {
    return readToolSelection(environment['AGENT_RENTAL_TOOLS']);
  } catch (error) {
    if (!(error instanceof ToolSelectionError)) throw error;
    throw new EnvironmentError(`AGENT_RENTAL_TOOLS cannot be read. ${error.message}`);
  }
}

function readProgramId(environment: NodeJS.ProcessEnv): string | undefined {
  const value = environment['AGENT_RENTAL_PROGRAM_ID']?.trim();
  if (!value) return undefined;
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(value)) return value;
  throw new EnvironmentError("AGENT_RENTAL_PROGRAM_ID is not a program's address in base58.");
}

/** Reads the marketplace's address and the login. */
function readClient(environment: NodeJS.ProcessEnv): ClientOptions {
  const baseUrl = environment['AGENT_RENTAL_URL']?.trim() || DEFAULT_URL;
  if (!/^https?:$/.test(protocolOf(baseUrl))) {
    throw new EnvironmentError(`AGENT_RENTAL_URL is not a web address, for example ${DEFAULT_URL}.`);
  }
  const programId = readProgramId(environment);
  const apiKey = environment['AGENT_RENTAL_API_KEY']?.trim();
  if (apiKey) return { baseUrl, apiKey, programId };
  const wallet = environment['AGENT_RENTAL_WALLET']?.trim();
  const domain = environment['AGENT_RENTAL_DOMAIN']?.trim() || undefined;
  if (wallet) return { baseUrl, signer: readWalletFile(wallet), domain, programId };
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
