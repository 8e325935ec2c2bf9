import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConnectionError } from '@agent-rental/sdk';
import { createWalletFile, readWalletFile } from '@agent-rental/sdk/node';
import { transferSol } from '@agent-rental/sdk/solana';
import { Connection, PublicKey } from '@solana/web3.js';
import type { CliEnvironment } from './cli-environment.js';
import type { CliOptions } from './cli-options.js';
import { lamportsOf, solOf } from './sol.js';
import { UsageError } from './usage-error.js';

type Command = (file: string, options: CliOptions, around: CliEnvironment) => Promise<void>;

const DEFAULT_RPC_URL = 'http://127.0.0.1:8899';
/** How long a faucet is waited for. */
const AIRDROP_TIMEOUT_MS = 60_000;
const POLL_MS = 400;

/** The commands about wallets, by name. */
export const walletCommands: Readonly<Record<string, Command | undefined>> = {
  create: async (file, options, around) => {
    // Before there is a file: an amount that is not understood leaves nothing behind.
    const lamports = options.fund === undefined ? undefined : amountOf(options.fund, '--fund');
    const connection = connectionOf(options, around);
    const address = createWalletFile(file);
    around.out(`Made the wallet ${address} in ${file}, which is its only copy.`);
    if (lamports !== undefined) await give(connection, address, lamports, options, around);
  },

  balance: async (file, options, around) => {
    const { address } = readWalletFile(file);
    around.out(`${address} holds ${solOf(await balanceOf(connectionOf(options, around), address))}.`);
  },

  fund: async (file, options, around) => {
    if (options.sol === undefined)
      throw new UsageError('--sol is missing: how much, for instance --sol 0.5.');
    const { address } = readWalletFile(file);
    await give(connectionOf(options, around), address, amountOf(options.sol, '--sol'), options, around);
  },

  sweep: async (file, options, around) => {
    if (options.to === undefined)
      throw new UsageError('--to is missing: the address that gets what is left.');
    const to = addressOf(options.to);
    const signer = readWalletFile(file);
    const { lamports } = await transferSol(connectionOf(options, around), signer, to, 'all');
    around.out(`Sent ${solOf(lamports)} from ${signer.address} to ${to}.`);
    around.out('Prepaid balances of rentals are not in the wallet: they stay with the rentals.');
  },
};

async function give(
  connection: Connection,
  address: string,
  lamports: bigint,
  options: CliOptions,
  around: CliEnvironment,
): Promise<void> {
  if (options.airdrop === true) {
    await airdrop(connection, address, lamports);
  } else {
    const payer = readWalletFile(options.from ?? join(homedir(), '.config', 'solana', 'id.json'));
    await transferSol(connection, payer, address, lamports);
  }
  around.out(
    `${address} was given ${solOf(lamports)} and holds ${solOf(await balanceOf(connection, address))}.`,
  );
}

async function airdrop(connection: Connection, address: string, lamports: bigint): Promise<void> {
  const signature = await reach(() => connection.requestAirdrop(new PublicKey(address), Number(lamports)));
  const endMs = Date.now() + AIRDROP_TIMEOUT_MS;
  while (Date.now() < endMs) {
    const { value } = await reach(() => connection.getSignatureStatuses([signature]));
    const status = value[0]?.confirmationStatus;
    if (status === 'confirmed' || status === 'finalized') return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new ConnectionError('The faucet did not give the SOL in time.');
}

async function balanceOf(connection: Connection, address: string): Promise<bigint> {
  return BigInt(await reach(() => connection.getBalance(new PublicKey(address), 'confirmed')));
}

function connectionOf({ rpc }: CliOptions, { environment }: CliEnvironment): Connection {
  const url = rpc ?? (environment['AGENT_RENTAL_RPC_URL']?.trim() || DEFAULT_RPC_URL);
  if (!/^https?:\/\/./.test(url))
    throw new UsageError(`--rpc is no web address, for instance ${DEFAULT_RPC_URL}.`);
  return new Connection(url, 'confirmed');
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
    throw new ConnectionError('The RPC endpoint could not be reached, or refused the call.', { cause });
  }
}
