import {
  readCommandLine,
  type CommandSpec,
  type OptionSpec,
  type Values,
} from '@agent-rental/test/support/command-line/options';

export type Log = (line: string) => void;

/**
 * Runs a battery's command. Prints its report as JSON on standard output, and its progress on standard error. Ends with 1 when
 * the report has faults.
 *
 * @param brokenOf reads the faults from the report. Default: its field `broken`.
 */
export async function runBattery<const Options extends Record<string, OptionSpec>, Report extends object>(
  spec: CommandSpec<Options>,
  run: (values: Values<Options>, log: Log) => Promise<Report>,
  brokenOf: (report: Report) => readonly unknown[] = (report) =>
    (report as { broken: readonly unknown[] }).broken,
): Promise<void> {
  const { values } = readCommandLine(spec);
  const report = await run(values, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = brokenOf(report).length === 0 ? 0 : 1;
}

/** Ends the command with 2 when Redis is not installed. */
export function requireRedis(hasRedis: boolean): void {
  if (hasRedis) return;
  process.stderr.write('This battery needs redis-server, which is not installed.\n');
  process.exit(2);
}
