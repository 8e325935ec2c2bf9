import type { ClientOptions } from '@agent-rental/sdk';
import { readWalletFile } from './wallet-file.js';

/** The settings cannot be used; the message says what to set. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** Where a marketplace on this machine listens. */
const DEFAULT_URL = 'http://127.0.0.1:8787';

/**
 * Reads how to reach the marketplace from the environment.
 *
 * @throws EnvironmentError, or WalletFileError for a wallet that cannot be used.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): ClientOptions {
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
