import { parseArgs } from 'node:util';
import { OperatorError } from '../operator-error.js';

export const DOCTOR_HELP = `npm run operator -- doctor [--json]

Examines everything that the server needs, with the server's environment, while it runs or before: a line each, ok, warning or
problem with its remedy. Changes nothing, prints no secret, and ends with 1 where there is a problem.
`;

/** Reads a command line that begins with `doctor`; undefined for any other. @throws OperatorError */
export function parseDoctor(argv: readonly string[]): { help: boolean; json: boolean } | undefined {
  if (argv[0] !== 'doctor') return undefined;
  try {
    const { values } = parseArgs({
      args: argv.slice(1),
      options: {
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    return values;
  } catch {
    throw new OperatorError('doctor takes --json and nothing else.');
  }
}
