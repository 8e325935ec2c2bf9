#!/usr/bin/env node
import { createClient, isApiError } from '@agent-rental/sdk';
import { WalletFileError } from '@agent-rental/sdk/node';
import { rentedToolset, SPENDING_WINDOW_HOURS, TOOL_WAIT_SECONDS } from '@agent-rental/tools';
import { SpendingEnvironmentError } from '@agent-rental/tools/node';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { EnvironmentError, readEnvironment } from './environment.js';
import { createRentalServer } from './rental-server.js';
import { DEFAULT_URL, VERSION } from './own-package.js';

const HELP = `agent-rental-mcp: your rented agents as MCP tools, over stdio.

Started by an MCP client. Settings, in the environment:
  AGENT_RENTAL_URL      address of the marketplace (default ${DEFAULT_URL})
  AGENT_RENTAL_API_KEY  API key of the wallet that rents, or
  AGENT_RENTAL_WALLET   path of its keypair file
  AGENT_RENTAL_DOMAIN   host that the wallet signs in to, if AGENT_RENTAL_URL has another host

With a wallet and at least one limit, rent_listing and hire pay; without, they return a payment page:
  AGENT_RENTAL_MAX_RUN_SOL, AGENT_RENTAL_MAX_DAY_SOL, AGENT_RENTAL_MAX_LISTING_SOL
                            the most for a run, in ${SPENDING_WINDOW_HOURS} hours, and for one agent in ${SPENDING_WINDOW_HOURS} hours
  AGENT_RENTAL_ASK_ABOVE_SOL  above this amount the user is asked
  AGENT_RENTAL_LISTINGS     the only agents that may be rented or run, by id, with commas
  AGENT_RENTAL_SPENDING_DIR folder with the spends of each wallet or key (default ~/.agent-rental/spending)

More:
  AGENT_RENTAL_TOOLS        rented agents with a direct tool: all, none, or ids with commas (default: the 30 most
                            recent; list_rentals and run_agent reach the others)
  AGENT_RENTAL_PROGRAM_ID   address of the marketplace program, from its operator (default: the published program)
  AGENT_RENTAL_INPUT_DIR    the only folder whose files a call may send as input_file
  AGENT_RENTAL_WAIT_SECONDS seconds that a call waits for its run (default ${TOOL_WAIT_SECONDS})

Options:
  --help     show this
  --version  show the version
`;

/** Errors of the settings, not bugs. */
const SETTING_ERRORS = [EnvironmentError, SpendingEnvironmentError, WalletFileError];

/** One line on stderr; stdout belongs to the protocol. */
function report(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`agent-rental-mcp: ${message.replace(/\s+/g, ' ')}\n`);
}

/** The error of the first request. For a wrong key or wallet it names the setting to correct. */
function settingError(error: unknown): unknown {
  if (!isApiError(error) || error.status !== 401) return error;
  return new Error(
    `${error.code}: ${error.reason} Set AGENT_RENTAL_API_KEY to a key of the marketplace at AGENT_RENTAL_URL, or ` +
      'AGENT_RENTAL_WALLET, and start again.',
  );
}

function serve(): void {
  const { client: reach, tools, inputFolder, patienceMs, secret } = readEnvironment(process.env);
  const client = createClient(reach);
  const toolset = rentedToolset(client, tools);
  const options = { client, toolset, inputFolder, patienceMs, secret, onError: report };
  const handle = serveStdio(({ era }) => createRentalServer({ ...options, era }), { onerror: report });
  const stop = (): void => {
    handle.close().catch(report);
    // End the server when its client is gone.
    process.exit();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.stdin.once('close', () => setImmediate(stop));
  // Report a failure of the first call early, for a person.
  client.listCredentials({ limit: 1 }).catch((error: unknown) => report(settingError(error)));
}

const [argument, ...more] = process.argv.slice(2);
if (argument === undefined) {
  try {
    serve();
  } catch (error) {
    if (!SETTING_ERRORS.some((kind) => error instanceof kind)) throw error;
    report(error);
    process.exitCode = 1;
  }
} else if (argument === '--help' && more.length === 0) {
  process.stdout.write(HELP);
} else if (argument === '--version' && more.length === 0) {
  process.stdout.write(`${VERSION}\n`);
} else {
  report(`${argument} is not an option; see --help.`);
  process.exitCode = 2;
}
