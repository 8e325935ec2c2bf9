import type { CliEnvironment } from './cli-environment.js';
import type { SharedOptions } from './options.js';

/** Prints the result of a command: one JSON value, or lines for a person. */
export function report(
  { json }: SharedOptions,
  { out }: CliEnvironment,
  data: object,
  lines: readonly string[],
): void {
  if (json === true) out(JSON.stringify(data));
  else for (const line of lines) out(line);
}
