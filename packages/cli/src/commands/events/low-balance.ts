import type { CliEnvironment } from '../../cli-environment.js';
import { UsageError } from '../../errors.js';
import { connect } from '../../marketplace.js';
import type { MarketplaceOptions } from '../../options.js';
import { report } from '../../report.js';

/** `agent-rental low-balance`: shows below how many runs a balance is low, or sets it. */
export async function lowBalanceCommand(
  text: string | undefined,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  if (text !== undefined && !/^[1-9]\d{0,3}$/.test(text))
    throw new UsageError('Give a number of runs from 1 to 1000.');
  const { client } = connect(options, environment);
  const given = { signal: environment.signal };
  const settings =
    text === undefined
      ? await client.getEventSettings(given)
      : await client.setEventSettings({ low_balance_runs: Number(text) }, given);
  const { low_balance_runs: runs } = settings;
  report(options, environment, settings, [
    runs === 1
      ? 'You hear of an empty balance alone.'
      : `You hear of a balance that pays for fewer than ${runs} runs.`,
  ]);
}
