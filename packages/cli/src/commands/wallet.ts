import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatSol, ConnectionError } from '@agent-rental/sdk';
import { createWalletFile, readWalletFile } from '@agent-rental/sdk/node';
import { transferSol } from '@agent-rental/sdk/solana';
import { Connection, PublicKey } from '@solana/web3.js';
import type { CliEnvironment } from '../cli-environment.js';
import { lamportsOf } from '../sol.js';
import { UsageError } from '../errors.js';
import type { SharedOptions } from '../options.js';
import { report } from '../report.js';

/** Options of the commands about wallets. */
export interface WalletOptions extends SharedOptions {
  fund?: string;
  sol?: string;
  to?: string;
  from?: string;
  rpc?: string;
  airdrop?: true;
}

type Command = (file: string, options: WalletOptions, environment: CliEnvironment) => Promise<void>;

const DEFAULT_RPC_URL = 'http://127.0.0.1:8899';
/** Longest wait for a faucet. */
const AIRDROP_TIMEOUT_MS = 60_000;
const POLL_MS = 400;

/** The commands about wallets, by name. */
export const walletCommands = {
  create: async (given: string, options: WalletOptions, environment: CliEnvironment) => {
    const file = resolve(environment.folder, given);
    // Read the amount before the file is made, so that a bad amount leaves no file.
    const lamports = options.fund === undefined ? undefined : amountOf(options.fund, '--fund');
    const connection = connectionOf(options, environment);
    const address = createWalletFile(file);
    const made = `Made the wallet ${address} in ${given}, which is its only copy.`;
    if (lamports === undefined) report(options, environment, { address, file: given }, [made]);
    else {
      // Report the wallet before the payment: the wallet exists also if the network cannot be reached.
      (options.json === true ? environment.err : environment.out)(made);
      await give(connection, address, lamports, options, environment);
    }
  },

  balance: async (given: string, options: WalletOptions, environment: CliEnvironment) => {
    const file = resolve(environment.folder, given);
    const { address } = readWalletFile(file);
    const lamports = await balanceOf(connectionOf(options, environment), address);
    report(options, environment, { address, lamports: Number(lamports) }, [
      `${address} holds ${formatSol(lamports)}.`,
    ]);
  },

  fund: async (given: string, options: WalletOptions, environment: CliEnvironment) => {
    const file = resolve(environment.folder, given);
    if (options.sol === undefined)
      throw new UsageError('--sol is missing: name the amount, for instance --sol 0.5.');
    const { address } = readWalletFile(file);
    await give(
      connectionOf(options, environment),
      address,
      amountOf(options.sol, '--sol'),
      options,
      environment,
    );
  },

  sweep: async (given: string, options: WalletOptions, environment: CliEnvironment) => {
    const file = resolve(environment.folder, given);
    if (options.to === undefined)
      throw new UsageError('--to is missing: the address that gets the remaining SOL.');
    const to = addressOf(options.to);
    const signer = readWalletFile(file);
    const { lamports } = await transferSol(connectionOf(options, environment), signer, to, 'all');
    report(options, environment, { address: signer.address, to, sent_lamports: Number(lamports) }, [
      `Sent ${formatSol(lamports)} from ${signer.address} to ${to}.`,
      'Prepaid balances of rentals are not in the wallet: they stay with the rentals.',
    ]);
  },
} satisfies Readonly<Record<string, Command>>;

async function give(
  connection: Connection,
  address: string,
  lamports: bigint,
  options: WalletOptions,
  environment: CliEnvironment,
): Promise<void> {
  if (options.airdrop === true) {
    environment.err('Waiting for the faucet');
    await airdrop(connection, address, lamports, environment.signal);
  } else {
    const payer = readWalletFile(options.from ?? join(homedir(), '.config', 'solana', 'id.json'));
    await transferSol(connection, payer, address, lamports);
  }
  const held = await balanceOf(connection, address);
  report(options, environment, { address, given_lamports: Number(lamports), lamports: Number(held) }, [
    `${address} was given ${formatSol(lamports)} and holds ${formatSol(held)}.`,
  ]);
}

/** Takes SOL from the network's faucet and waits for it. @throws ConnectionError if the network has no faucet. */
export async function airdrop(
  connection: Connection,
  address: string,
  lamports: bigint,
  signal: AbortSignal,
): Promise<void> {
  const signature = await reach(() => connection.requestAirdrop(new PublicKey(address), Number(lamports)));
  const endMs = Date.now() + AIRDROP_TIMEOUT_MS;
  while (Date.now() < endMs) {
    const { value } = await reach(() => connection.getSignatureStatuses([signature]));
    const status = value[0]?.confirmationStatus;
    if (status === 'finalized') return;
    await sleep(POLL_MS, undefined, { signal });
  }
  throw new ConnectionError('The faucet did not give the SOL in time.');
}

async function balanceOf(connection: Connection, address: string): Promise<bigint> {
  return BigInt(await reach(() => connection.getBalance(new PublicKey(address), 'finalized')));
}

/** A connection to the command's RPC endpoint. @throws UsageError for an invalid web address. */
export function connectionOf({ rpc }: Pick<WalletOptions, 'rpc'>, { variables }: CliEnvironment): Connection {
  const url = rpc ?? (variables['AGENT_RENTAL_RPC_URL']?.trim() || DEFAULT_RPC_URL);
  if (!/^https?:\/\/./.test(url))
    throw new UsageError(`--rpc is no web address, for instance ${DEFAULT_RPC_URL}.`);
  return new Connection(url, 'finalized');
}

function amountOf(text: string, option: string): bigint {
  const lamports = lamportsOf(text);
  if (lamports === undefined || lamports === 0n) {
    throw new UsageError(`${option} is no amount of SOL, for instance 0.5.`);
  }
  return lamports;
}

function addressOf(text: string): string {
  try {
    return new PublicKey(text).toBase58();
  } catch {
    throw new UsageError('--to is no wallet address.');
  }
}

async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new ConnectionError('The RPC endpoint could not be reached, or refused the call.', {
      cause,
      endpoint: 'rpc',
    });
  }
}
