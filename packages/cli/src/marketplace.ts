import { resolve } from 'node:path';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { readWalletFile } from '@agent-rental/sdk/node';
import type { WalletSigner } from '@agent-rental/sdk/solana';
import { existsSync } from 'node:fs';
import type { CliEnvironment } from './cli-environment.js';
import { CommandError, UsageError } from './errors.js';
import type { MarketplaceOptions } from './options.js';
import { DEFAULT_URL } from './own-package.js';

/** 32 bytes in base58. */
const PROGRAM_ID = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Default wallet file. */
export const DEFAULT_WALLET_FILE = 'agent-wallet.json';

/** A marketplace, and the wallet that acts there. */
export interface Connected {
  readonly url: string;
  readonly client: RentalClient;
  readonly signer: WalletSigner;
  /** The folder with the records of registered agents. */
  readonly records: string;
}

/** The URL of the command's marketplace. @throws UsageError for an invalid web address. */
export function urlOf({ url }: MarketplaceOptions, { variables }: CliEnvironment): string {
  const text = url ?? (variables['AGENT_RENTAL_URL']?.trim() || DEFAULT_URL);
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) {
    throw new UsageError(`--url is no web address, for instance ${DEFAULT_URL}.`);
  }
  return text.replace(/\/+$/, '');
}

/** The marketplace's program from the environment; undefined for the published default. @throws UsageError */
export function programIdOf({ variables }: CliEnvironment): string | undefined {
  const programId = variables['AGENT_RENTAL_PROGRAM_ID']?.trim() || undefined;
  if (programId === undefined || PROGRAM_ID.test(programId)) return programId;
  throw new UsageError("AGENT_RENTAL_PROGRAM_ID is not a program's address in base58.");
}

/** Logs in with the command's wallet. @throws CommandError without a wallet. */
export function connect(options: MarketplaceOptions, environment: CliEnvironment): Connected {
  const url = urlOf(options, environment);
  const named =
    options.wallet ?? (environment.variables['AGENT_RENTAL_WALLET']?.trim() || DEFAULT_WALLET_FILE);
  const file = resolve(environment.folder, named);
  if (!existsSync(file)) {
    throw new CommandError(
      `There is no wallet in ${named}. Make one with "agent-rental wallet create ${named}"` +
        (isLoopback(url) ? ', and give it SOL of the local chain with --fund 1 --airdrop.' : '.'),
    );
  }
  const signer = readWalletFile(file);
  return {
    url,
    signer,
    client: createClient({ baseUrl: url, signer, programId: programIdOf(environment) }),
    records: environment.folder,
  };
}

/** Whether a marketplace is on this machine. */
export function isLoopback(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}
