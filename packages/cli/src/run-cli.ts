import { isApiError, isUntrustedChallenge, type ConnectionError } from '@agent-rental/sdk';
import { WalletFileError } from '@agent-rental/sdk/node';
import { isUntrustedTransaction } from '@agent-rental/sdk/solana';
import { CommanderError } from 'commander';
import type { CliEnvironment } from './cli-environment.js';
import { CommandError, FailedRunError, UsageError } from './errors.js';
import { createProgram } from './program.js';
import { inWordsOfCli } from './words.js';

/** Longest message: some endpoints answer an error with a whole page. */
const MESSAGE_LENGTH = 2_000;

/** Exit codes of the command line. */
const EXIT_CODES = { done: 0, failed: 1, usage: 2, failedRun: 3, interrupted: 130 } as const;

const WHERE = {
  marketplace: 'Is it running? --url and AGENT_RENTAL_URL set its address.',
  rpc: '--rpc and AGENT_RENTAL_RPC_URL set its address.',
};
const GOES_ON = 'The same command continues from here.';

/** Possible effects of an interrupted command, and the next step. */
const AFTER_INTERRUPTION: Readonly<Record<string, string | undefined>> = {
  publish: GOES_ON,
  update: GOES_ON,
  rollback: 'The rollback may be done already: see the versions of the listing.',
  'rotate-secret': 'The secret may be replaced already: replace it again to get it.',
  rent: 'It may be rented already: the same command says so before it pays.',
  reclaim: 'The balance may be back already: the same command says so.',
  webhooks: 'The change may be done already: see "agent-rental webhooks list".',
  run: 'The run is cancelled; if its agent was reached, it is charged.',
  wallet: 'SOL may be on its way: "agent-rental wallet balance" shows the balance.',
};

const CREATOR_COMMANDS: readonly string[] = [
  'publish',
  'update',
  'rollback',
  'rotate-secret',
  'logs',
  'stats',
  'answer',
  'pause',
  'resume',
  'close',
  'withdraw',
];

/** Advice on an API error that needs knowledge of the command line. */
function adviceFor(
  [command, listing]: readonly string[],
  { message, status, code }: { message: string; status: number; code: string },
): string {
  const isCreators = CREATOR_COMMANDS.includes(command ?? '');
  if (message.includes('too little SOL')) return ' "agent-rental wallet fund FILE" gives it more.';
  if (code === 'insufficient_balance' && command === 'run')
    return ` "agent-rental rent ${listing} --deposit SOL" does it; 0 only agrees to the price.`;
  if (status === 404 && isCreators)
    return ' A listing is changed by the wallet that published it: --wallet names its file, --url its marketplace.';
  return '';
}

/**
 * Runs one command.
 *
 * @returns the exit code: 0, 1 for a failure, 2 for a usage error, 3 if an agent's run failed, 130 after Ctrl-C
 */
export async function runCli(args: readonly string[], environment: CliEnvironment): Promise<number> {
  const tell = (text: string, code?: string) => {
    const message = text.replace(/\s+/g, ' ').slice(0, MESSAGE_LENGTH);
    if (args.includes('--json'))
      environment.err(JSON.stringify({ error: { message, ...(code && { code }) } }));
    else environment.err(`agent-rental: ${message}`);
  };
  try {
    const program = createProgram(environment);
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync([...args], { from: 'user' });
    return EXIT_CODES.done;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT_CODES.done;
      // commander explains a group without a command on stderr.
      if (error.code !== 'commander.help') {
        tell(`${error.message.replace(/^error: /, '')}; see --help.`, 'usage');
      }
      return EXIT_CODES.usage;
    }
    if (environment.signal.aborted) {
      tell(`Ended by Ctrl-C. ${AFTER_INTERRUPTION[args[0] ?? ''] ?? ''}`.trim(), 'interrupted');
      return EXIT_CODES.interrupted;
    }
    if (error instanceof FailedRunError) return EXIT_CODES.failedRun;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof UsageError) {
      tell(message, 'usage');
      return EXIT_CODES.usage;
    }
    if (isApiError(error)) {
      const advice = adviceFor(args, error);
      tell(
        `${inWordsOfCli(message)}${advice}${error.requestId === undefined ? '' : ` (request ${error.requestId})`}`,
        error.code,
      );
      return EXIT_CODES.failed;
    }
    if (!isKnown(error)) throw error;
    tell(isConnectionError(error) ? `${message} ${WHERE[error.endpoint]}` : message);
    return EXIT_CODES.failed;
  }
}

function isKnown(error: unknown): boolean {
  return (
    error instanceof CommandError ||
    error instanceof WalletFileError ||
    isUntrustedChallenge(error) ||
    isUntrustedTransaction(error) ||
    isConnectionError(error)
  );
}

const isConnectionError = (error: unknown): error is ConnectionError =>
  error instanceof Error && error.name === 'ConnectionError';
