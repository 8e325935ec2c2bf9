import { parseArgs } from 'node:util';
import { KEY_USAGE, type KeyCommand, parseRotateKey, parseRotateMasterKey } from './parse-key-command.js';
import { MODERATION_USAGE } from './moderation/commands.js';
import { OperatorError } from './operator-error.js';
import { parseReason } from './parse-reason.js';
import { PROTOCOL_COMMANDS } from './protocol/actions.js';
import { REVIEW_USAGE } from './review/parse.js';
import { SUPPORT_USAGE } from './support/parse.js';

/** An operator's command. */
export type Command =
  | { name: 'help' }
  /** Without a version: the only one there is. */
  | { name: 'approve'; listingId: string; version?: number }
  | { name: 'reject'; listingId: string; reason: string }
  | { name: 'limits' }
  | KeyCommand
  /** `null` clears. */
  | { name: 'limit'; listingId: string; runsPerMinute: number | null };

export const USAGE = `Commands for the operator of a marketplace.

${REVIEW_USAGE}  npm run operator -- approve <listing_id> [--version N] lets its creator publish that version, by default the only one
  npm run operator -- reject <listing_id> --reason TEXT tells its creator why not
  npm run operator -- limits                            listings whose limit was set here
  npm run operator -- limit <listing_id> <number>       runs per minute and credential, over the creator's own
  npm run operator -- limit <listing_id> --clear        back to the creator's, or the default

${SUPPORT_USAGE}
${KEY_USAGE}
  npm run operator -- doctor [--json]                   examines everything that the server needs

About listings, creators and reports (those with --keypair FILE also on the chain, and with --dry-run nowhere):

${MODERATION_USAGE}

With a key of the program (--keypair FILE; --dry-run shows and simulates the transaction, and sends nothing; --help after a
command explains it):

${describeProtocolCommands()}

The first ones work on the database of DATABASE_URL, or of the server that runs on the state folder (STATE_DIR, default
.agent-rental). A decision holds from the next request on, on every replica. The second ones work on the chain of
SOLANA_RPC_URLS and PROGRAM_ID, or of that server.
`;

function describeProtocolCommands(): string {
  return Object.entries(PROTOCOL_COMMANDS)
    .map(([name, { usage, summary }]) => `  ${`${name} ${usage}`.trim()}\n      ${summary}`)
    .join('\n');
}

const MOST_RUNS_PER_MINUTE = 100_000;

/** Reads a command line. @throws OperatorError naming its fault. */
export function parseCommand(argv: readonly string[]): Command {
  const { values, positionals } = readArguments(argv);
  const [name, ...operands] = positionals;
  if (values.help || name === undefined || name === 'help') return { name: 'help' };
  const requireOperands = (names: readonly string[]): void => {
    if (operands.length === names.length) return;
    const wanted = names.map((operand) => `<${operand}>`).join(' ');
    throw new OperatorError(`Wrong number of arguments. It is: ${name}${wanted ? ` ${wanted}` : ''}`);
  };
  const allowOptions = (...allowed: (keyof typeof values)[]): void => {
    const extra = (Object.keys(values) as (keyof typeof values)[]).find(
      (option) => !allowed.includes(option),
    );
    if (extra !== undefined) throw new OperatorError(`${name} takes no --${extra}.`);
  };
  const [listingId = ''] = operands;
  switch (name) {
    case 'limits':
    case 'reseal':
    case 'keys':
      allowOptions();
      requireOperands([]);
      return { name };
    case 'approve':
      allowOptions('version');
      requireOperands(['listing_id']);
      return {
        name,
        listingId,
        ...(values.version === undefined ? {} : { version: parseVersion(values.version) }),
      };
    case 'reject':
      allowOptions('reason');
      requireOperands(['listing_id']);
      return { name, listingId, reason: parseReason(values.reason) };
    case 'limit':
      allowOptions('clear');
      requireOperands(values.clear ? ['listing_id'] : ['listing_id', 'runs_per_minute']);
      return { name, listingId, runsPerMinute: values.clear ? null : parseLimit(operands[1]) };
    case 'rotate-key':
      allowOptions('at-once', 'lead');
      requireOperands(['key']);
      return parseRotateKey(operands[0], values);
    case 'rotate-master-key':
      allowOptions();
      requireOperands(['propose|accept|cancel']);
      return parseRotateMasterKey(operands[0]);
    default:
      throw new OperatorError(`There is no command ${name}. --help shows all of them.`);
  }
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        reason: { type: 'string' },
        version: { type: 'string' },
        clear: { type: 'boolean' },
        'at-once': { type: 'boolean' },
        lead: { type: 'string' },
      },
    });
  } catch (error) {
    throw new OperatorError(`${(error as Error).message.split('. ')[0]}. --help shows every option.`);
  }
}

function parseVersion(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new OperatorError(`${text} is no version: the command reviews shows its number.`);
}

function parseLimit(text = ''): number {
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= MOST_RUNS_PER_MINUTE) return limit;
  throw new OperatorError(`${text} is no limit: it is a whole number from 1 to ${MOST_RUNS_PER_MINUTE}.`);
}
