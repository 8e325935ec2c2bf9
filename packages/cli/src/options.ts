import { DEFAULT_URL } from './own-package.js';
import type { Command } from 'commander';

/** Options of every command. */
export interface SharedOptions {
  json?: true;
}

/** Options of the commands that call a marketplace. */
export interface MarketplaceOptions extends SharedOptions {
  url?: string;
  wallet?: string;
  rpc?: string;
}

/** Adds the options of every command. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON value, and errors as JSON');
}

/** Adds the options of commands that call a marketplace. */
export function withMarketplace(command: Command): Command {
  return withJson(
    command
      .option('--url <url>', `the marketplace (AGENT_RENTAL_URL; ${DEFAULT_URL})`)
      .option('--wallet <file>', 'keypair file (AGENT_RENTAL_WALLET; agent-wallet.json)'),
  );
}
