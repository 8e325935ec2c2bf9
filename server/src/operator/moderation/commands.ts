import { parseArgs } from 'node:util';
import { PublicKey } from '@solana/web3.js';
import { OperatorError } from '../operator-error.js';
import { parseReason } from '../parse-reason.js';

/** How a decision on-chain is signed. */
export interface Signing {
  /** Shows and simulates the transactions, and changes nothing. */
  dryRun: boolean;
  /** Path of the admin's keypair file. */
  keypairFile: string | undefined;
}

/** An operator's command about listings, creators and reports. */
export type ModerationCommand =
  | ({ name: 'take-down' | 'restore'; listingId: string; reason: string } & Signing)
  /** With a keypair file or a dry run, the creator's listings are taken down, too. */
  | ({ name: 'ban'; wallet: string; reason: string } & Signing)
  | { name: 'unban'; wallet: string; reason: string }
  | { name: 'reports'; json: boolean }
  | { name: 'resolve-reports'; listingId: string; note: string }
  | { name: 'log'; json: boolean; limit: number };

type Name = ModerationCommand['name'];

interface Description {
  /** The operands and options after the name. */
  usage: string;
  summary: string;
}

const COMMANDS: Readonly<Record<Name, Description>> = {
  'take-down': {
    usage: '<listing_id> --reason TEXT --keypair FILE',
    summary: 'suspends a listing: it runs and sells nothing, and renters take their balances back at once',
  },
  restore: {
    usage: '<listing_id> --reason TEXT --keypair FILE',
    summary: 'makes that a pause, which its creator ends',
  },
  ban: {
    usage: '<wallet> --reason TEXT [--keypair FILE]',
    summary: 'lets a creator register and publish nothing; with the key, takes its listings down',
  },
  unban: { usage: '<wallet> --reason TEXT', summary: 'lets the creator register and publish again' },
  reports: { usage: '[--json]', summary: 'listings with open reports, the most reported first' },
  'resolve-reports': { usage: '<listing_id> --note TEXT', summary: 'closes the open reports of a listing' },
  log: { usage: '[--limit N] [--json]', summary: 'the decisions of operators, the newest first' },
};

/** The commands, for the help. */
export const MODERATION_USAGE = Object.entries(COMMANDS)
  .map(([name, { usage, summary }]) => `  ${name} ${usage}\n      ${summary}`)
  .join('\n');

const OPTIONS = {
  reason: { type: 'string' },
  note: { type: 'string' },
  keypair: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
  limit: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The options of each command. */
const TAKES: Readonly<Record<Name, readonly (keyof typeof OPTIONS)[]>> = {
  'take-down': ['reason', 'keypair', 'dry-run'],
  restore: ['reason', 'keypair', 'dry-run'],
  ban: ['reason', 'keypair', 'dry-run'],
  unban: ['reason'],
  reports: ['json'],
  'resolve-reports': ['note'],
  log: ['json', 'limit'],
};

const DEFAULT_ROWS = 50;
const MOST_ROWS = 10_000;

/** Reads a command line. Undefined where it names no command of this kind. @throws OperatorError naming its fault. */
export function parseModerationCommand(
  argv: readonly string[],
): ModerationCommand | { help: string } | undefined {
  const given = argv.find((argument) => !argument.startsWith('-'));
  if (given === undefined || !Object.hasOwn(COMMANDS, given)) return undefined;
  const name = given as Name;
  const { usage, summary } = COMMANDS[name];
  const { values, positionals } = readArguments(name, argv);
  if (values.help) return { help: `npm run operator -- ${name} ${usage}\n${summary}.\n` };
  const operands = positionals.slice(1);
  if (operands.length !== Number(usage.startsWith('<'))) {
    throw new OperatorError(`Wrong number of arguments. It is: ${name} ${usage}`);
  }
  const [subject = ''] = operands;
  const signing = { dryRun: values['dry-run'] ?? false, keypairFile: values.keypair };
  switch (name) {
    case 'take-down':
    case 'restore':
      if (!signing.dryRun && signing.keypairFile === undefined) {
        throw new OperatorError(
          `${name} is signed by the admin: name its keypair file with --keypair FILE, or look at it first with --dry-run.`,
        );
      }
      return { name, listingId: subject, reason: parseReason(values.reason, RENTERS_READ), ...signing };
    case 'ban':
      return { name, wallet: walletOf(subject), reason: parseReason(values.reason), ...signing };
    case 'unban':
      return { name, wallet: walletOf(subject), reason: parseReason(values.reason) };
    case 'reports':
      return { name, json: values.json ?? false };
    case 'resolve-reports':
      return {
        name,
        listingId: subject,
        note: parseReason(values.note, 'Say what came of them: add --note "...".'),
      };
    case 'log':
      return { name, json: values.json ?? false, limit: parseRows(values.limit) };
    default:
      return name satisfies never;
  }
}

const RENTERS_READ = 'Creator and renters have to know why: add --reason "...".';

function readArguments(name: Name, argv: readonly string[]) {
  let read;
  try {
    read = parseArgs({ args: [...argv], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    throw new OperatorError(`${(error as Error).message.split('. ')[0]}. ${name} --help shows every option.`);
  }
  const extra = (Object.keys(read.values) as (keyof typeof OPTIONS)[]).find(
    (option) => option !== 'help' && !TAKES[name].includes(option),
  );
  if (extra !== undefined) throw new OperatorError(`${name} takes no --${extra}.`);
  return read;
}

function walletOf(text: string): string {
  try {
    return new PublicKey(text).toBase58();
  } catch {
    // The typed text may be a key.
    throw new OperatorError('The wallet is not an address: 32 bytes in base58.');
  }
}

function parseRows(text: string | undefined): number {
  if (text === undefined) return DEFAULT_ROWS;
  const rows = Number(text);
  if (/^\d{1,5}$/.test(text) && rows >= 1 && rows <= MOST_ROWS) return rows;
  throw new OperatorError(`--limit is a whole number from 1 to ${MOST_ROWS}.`);
}
