import { isApiError } from '@agent-rental/sdk';
import { WalletFileError } from '@agent-rental/sdk/node';
import type { CliEnvironment } from './cli-environment.js';
import { parseOptions, type CliOptions } from './cli-options.js';
import { VERSION } from './version.js';
import { UsageError } from './usage-error.js';
import { walletCommands } from './wallet.js';

const HELP = `agent-rental: wallets for agents, which hold only their budget.

  agent-rental wallet create [FILE] [--fund SOL]   make a wallet, and give it its budget
  agent-rental wallet balance [FILE]               show its address and what it holds
  agent-rental wallet fund [FILE] --sol SOL        give it more
  agent-rental wallet sweep [FILE] --to ADDRESS    send all that it holds back

FILE is a keypair file as the Solana tools write it; agent-wallet.json when it is left out.

Options:
  --from FILE   the keypair file of the wallet that pays (default ~/.config/solana/id.json)
  --airdrop     take the SOL from the network's faucet instead, where it has one
  --rpc URL     the Solana RPC endpoint (default AGENT_RENTAL_RPC_URL, or http://127.0.0.1:8899)
  --help, --version
`;

/** A dead endpoint's words, which otherwise fill a page. */
const MESSAGE_LENGTH = 500;

/**
 * Runs one command.
 *
 * @returns the exit code: 0, 1 when it failed, 2 when it was not understood
 */
export async function runCli(args: readonly string[], around: CliEnvironment): Promise<number> {
  try {
    const { values, positionals } = parseOptions(args);
    if (values.version === true) around.out(VERSION);
    else if (values.help === true || positionals.length === 0) around.out(HELP.trimEnd());
    else await command(positionals, values, around);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    around.err(`agent-rental: ${message.replace(/\s+/g, ' ').slice(0, MESSAGE_LENGTH)}`);
    if (error instanceof UsageError) return 2;
    if (isApiError(error) || error instanceof WalletFileError || isKnown(error)) return 1;
    throw error;
  }
}

async function command(
  [group, name = '', file, ...more]: readonly string[],
  options: CliOptions,
  around: CliEnvironment,
): Promise<void> {
  const run = group === 'wallet' ? walletCommands[name] : undefined;
  if (run === undefined || more.length > 0) {
    throw new UsageError(`"${[group, name, ...more].join(' ').trim()}" is not a command; see --help.`);
  }
  await run(file ?? 'agent-wallet.json', options, around);
}

function isKnown(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConnectionError';
}
