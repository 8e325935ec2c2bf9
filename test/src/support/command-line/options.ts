import { parseArgs } from 'node:util';

/** One option of a command. A number is whole, from `least` (default 1) on. */
export type OptionSpec =
  | {
      readonly kind: 'number';
      readonly text: string;
      readonly default?: number;
      readonly least?: number;
      readonly most?: number;
    }
  | { readonly kind: 'text'; readonly text: string; readonly default?: string }
  | { readonly kind: 'flag'; readonly text: string };

/** The arguments of a command, and its help. */
export interface CommandSpec<Options extends Record<string, OptionSpec>> {
  /** How it is called, as `npm run soak -- sandbox`. */
  readonly command: string;
  /** Its purpose, its needs, and its exit codes. */
  readonly summary: string;
  readonly options: Options;
  /** Name of the arguments without a dash, as `namespace ...`; absent where there are none. */
  readonly positionals?: string;
}

type Value<Spec extends OptionSpec> = Spec extends { kind: 'flag' }
  ? boolean
  : Spec extends { kind: 'number' }
    ? number | (Spec extends { default: number } ? never : undefined)
    : string | (Spec extends { default: string } ? never : undefined);

/** The options of a command by name, numbers as numbers. */
export type Values<Options extends Record<string, OptionSpec>> = {
  [Name in keyof Options]: Value<Options[Name]>;
};

/** The result of parsing: values to run with, or a help text or an error to print. */
export type ParsedCommand<Options extends Record<string, OptionSpec>> =
  | { readonly values: Values<Options>; readonly positionals: string[] }
  | { readonly help: string }
  | { readonly error: string };

/** The help text of a command: its usage, its summary and an option a line. */
export function helpText<Options extends Record<string, OptionSpec>>(spec: CommandSpec<Options>): string {
  const rows = Object.entries(spec.options).map(([name, option]) => {
    const value = option.kind === 'number' ? ' N' : option.kind === 'text' ? ' TEXT' : '';
    const fallback =
      'default' in option && option.default !== undefined ? ` (default ${option.default})` : '';
    return [`--${name}${value}`, `${option.text}${fallback}`] as const;
  });
  rows.push(['--help', 'prints this text']);
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`);
  const usage = [spec.command, '[options]', ...(spec.positionals ? [`[${spec.positionals}]`] : [])];
  return `${usage.join(' ')}\n\n${spec.summary}\n\n${lines.join('\n')}\n`;
}

/** Parses arguments by a command's specification, without side effects. */
export function parseCommandLine<const Options extends Record<string, OptionSpec>>(
  spec: CommandSpec<Options>,
  args: readonly string[],
): ParsedCommand<Options> {
  const error = (message: string): { error: string } => ({
    error: `${message}\n${spec.command} --help lists the options.\n`,
  });
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...args],
      options: {
        ...Object.fromEntries(
          Object.entries(spec.options).map(([name, { kind }]) => [
            name,
            { type: kind === 'flag' ? 'boolean' : 'string' },
          ]),
        ),
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (cause) {
    return error(cause instanceof Error ? (cause.message.split('. ')[0] ?? '') : String(cause));
  }
  if (parsed.values['help'] === true) return { help: helpText(spec) };
  if (spec.positionals === undefined && parsed.positionals.length > 0)
    return error(`Unexpected argument '${parsed.positionals[0]}'`);
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(spec.options)) {
    const given = parsed.values[name] as string | boolean | undefined;
    if (option.kind === 'flag') values[name] = given === true;
    else if (option.kind === 'text') values[name] = given ?? option.default;
    else {
      const { least = 1, most = Number.MAX_SAFE_INTEGER } = option;
      const number = given === undefined ? option.default : toWholeNumber(String(given));
      if (number !== undefined && !(number >= least && number <= most)) {
        const range = option.most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
        return error(`--${name} takes a whole number ${range}, not '${given}'`);
      }
      values[name] = number;
    }
  }
  return { values: values as Values<Options>, positionals: parsed.positionals };
}

/** NaN for anything but digits. */
function toWholeNumber(text: string): number {
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : Number.NaN;
}

/**
 * Reads this process's arguments.
 * - `--help`: prints the help and ends with 0.
 * - An unknown option, a surplus argument or a number out of range: prints one line with the fault and ends with 2.
 */
export function readCommandLine<const Options extends Record<string, OptionSpec>>(
  spec: CommandSpec<Options>,
): { values: Values<Options>; positionals: string[] } {
  const parsed = parseCommandLine(spec, process.argv.slice(2));
  if ('help' in parsed) {
    process.stdout.write(parsed.help);
    process.exit(0);
  }
  if ('error' in parsed) {
    process.stderr.write(parsed.error);
    process.exit(2);
  }
  return parsed;
}

/** The seed of a run: the given one, or a random one, which reports print. */
export function seedOr(seed: number | undefined): number {
  return seed ?? Math.floor(Math.random() * 2 ** 31);
}
