import { formatSol } from '@agent-rental/sdk';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RentalClient } from '@agent-rental/sdk';
import type { CliEnvironment } from '../../cli-environment.js';
import { CommandError, FailedRunError, UsageError } from '../../errors.js';
import { connect } from '../../marketplace.js';
import type { MarketplaceOptions } from '../../options.js';

interface RunOptions extends MarketplaceOptions {
  input?: string;
  inputFile?: string;
  timeout?: string;
}

/** File descriptor of standard input. */
const STDIN = 0;

/** `agent-rental run`: streams the output to stdout, and prints status and cost on stderr. */
export async function runCommand(
  listingId: string,
  task: string,
  options: RunOptions,
  environment: CliEnvironment,
): Promise<void> {
  const body: Parameters<RentalClient['execute']>[0] = { agent_id: listingId, task };
  const input = inputOf(options, environment);
  if (input !== undefined) body.input = input;
  if (options.timeout !== undefined) {
    const seconds = Number(options.timeout);
    if (!Number.isInteger(seconds) || seconds < 1)
      throw new UsageError('--timeout is a whole number of seconds.');
    body.timeout_seconds = seconds;
  }
  const { client } = connect(options, environment);
  const { signal, out, write, err } = environment;
  if (options.json !== true) err(`Running ${listingId}`);
  let hasText = false;
  for await (const event of client.executeStream(body, { signal })) {
    if (event.event === 'output') {
      if (options.json === true) continue;
      hasText = true;
      write(event.data.delta);
      continue;
    }
    const { output, status, cost_lamports, duration_ms, run_id } = event.data;
    if (options.json === true) out(JSON.stringify(event.data));
    else {
      if (hasText) out('');
      else out(typeof output === 'string' ? output : JSON.stringify(output, null, 2));
      const cost = cost_lamports === 0 ? 'nothing' : formatSol(cost_lamports);
      err(`${status} in ${(duration_ms / 1000).toFixed(1)} s, charged ${cost}, run ${run_id}`);
    }
    if (status !== 'completed') throw new FailedRunError();
    return;
  }
  throw new CommandError('The stream ended before the run did.');
}

function inputOf({ input, inputFile }: RunOptions, { folder }: CliEnvironment) {
  if (input !== undefined && inputFile !== undefined) {
    throw new UsageError('--input and --input-file exclude each other.');
  }
  let text = input;
  if (inputFile !== undefined) {
    try {
      text = readFileSync(inputFile === '-' ? STDIN : resolve(folder, inputFile), 'utf8');
    } catch {
      throw new CommandError(`${inputFile} cannot be read.`);
    }
  }
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, never>;
    }
  } catch {
    // The input is not JSON, so it is text.
  }
  return text;
}
