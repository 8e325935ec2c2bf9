import { parseArgs } from 'node:util';
import { OperatorError } from '../operator-error.js';
import { readingArguments } from '../reading-arguments.js';
import { parseReason } from '../parse-reason.js';

/** A command of support. */
export type SupportCommand =
  | { name: 'run' | 'wallet' | 'listing'; id: string; json: boolean }
  | { name: 'credit'; runId: string; reason: string; json: boolean };

const OPERANDS = {
  run: 'run_id or request_id',
  wallet: 'address',
  listing: 'listing_id',
  credit: 'run_id',
} as const;

const NO_REASON = 'Others have to know why: add --reason "...".';

export const SUPPORT_USAGE = `  npm run operator -- run <run_id or request_id>        a run, its charge and its caller's error: no input, output or prompt
  npm run operator -- wallet <address>                  its rentals, keys, spending and last runs
  npm run operator -- listing <listing_id>              its versions, health, figures and limit
  npm run operator -- credit <run_id> --reason TEXT     one free run of the same agent for the wallet of a run, once a run
                                                        (--json after each of these prints one object)
`;

/** Reads a command line of support; undefined for any other. @throws OperatorError naming its fault */
export function parseSupportCommand([name = '', ...rest]: readonly string[]): SupportCommand | undefined {
  if (!isSupport(name)) return undefined;
  const { values, positionals } = readArguments(name, rest);
  if (values.help) return undefined;
  const [id, ...more] = positionals;
  const options = name === 'credit' ? ' --reason TEXT' : '';
  if (id === undefined || more.length > 0)
    throw new OperatorError(`It is: ${name} <${OPERANDS[name]}>${options} [--json]`);
  const { json, reason } = values;
  if (name === 'credit') return { name, runId: id, reason: parseReason(reason, NO_REASON), json };
  if (reason !== undefined) throw new OperatorError(`${name} takes no --reason.`);
  return { name, id, json };
}

const isSupport = (name: string): name is SupportCommand['name'] => Object.hasOwn(OPERANDS, name);

function readArguments(name: string, args: string[]) {
  return readingArguments(name, () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean', default: false },
        reason: { type: 'string' },
      },
    }),
  );
}
