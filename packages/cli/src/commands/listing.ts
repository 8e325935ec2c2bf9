import { formatSol } from '@agent-rental/sdk';
import { close, pause, resume, withdraw } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { UsageError } from '../errors.js';
import { latestShown } from '../lists.js';
import { connect } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { listingOf } from '../project/registrations.js';
import { report } from '../report.js';
import { lamportsOf } from '../sol.js';

const STATES = {
  pause: { act: pause, done: 'is paused: it takes no runs and no rentals until "agent-rental resume".' },
  resume: { act: resume, done: 'is active again.' },
  close: { act: close, done: 'is closed for ever; its earnings are in the wallet.' },
} as const;

/** `agent-rental pause`, `resume` and `close`. */
export async function stateCommand(
  state: keyof typeof STATES,
  named: string | undefined,
  options: MarketplaceOptions & { yes?: true },
  environment: CliEnvironment,
): Promise<void> {
  const { client, signer, url } = connect(options, environment);
  const id = listingOf(named, environment.folder, url);
  if (state === 'close' && options.yes !== true) {
    if (!environment.ask) throw new UsageError('--yes is missing: a closed listing cannot be opened again.');
    if (!(await environment.ask(`Close ${id} for ever?`))) {
      report(options, environment, { listing_id: id, action: 'none' }, ['Nothing was done.']);
      return;
    }
  }
  const { signature } = await STATES[state].act(client, signer, id, { signal: environment.signal });
  report(options, environment, { listing_id: id, action: state, signature }, [`${id} ${STATES[state].done}`]);
}

/** `agent-rental earnings`. */
export async function earningsCommand(
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client } = connect(options, environment);
  const page = await client.getEarnings({ limit: 100 }, { signal: environment.signal });
  const shown = (amounts: typeof page.sum) =>
    `${formatSol(amounts.earned_lamports)} earned, ${formatSol(amounts.withdrawable_lamports)} to withdraw` +
    (amounts.pending_lamports > 0
      ? `, ${formatSol(amounts.pending_lamports)} pending: prices of runs that are not confirmed yet`
      : '');
  report(options, environment, page, [
    ...page.earnings.flatMap((listing) => [
      `${listing.listing_id} (${listing.status})`,
      `  ${shown(listing)}`,
    ]),
    `All ${page.total}: ${shown(page.sum)}`,
    ...latestShown(page.earnings.length, page.total),
  ]);
}

/** `agent-rental withdraw`. */
export async function withdrawCommand(
  named: string | undefined,
  options: MarketplaceOptions & { sol?: string },
  environment: CliEnvironment,
): Promise<void> {
  const amount = options.sol === undefined ? undefined : lamportsOf(options.sol);
  if (options.sol !== undefined && !amount)
    throw new UsageError('--sol is no amount of SOL, for instance 0.5.');
  const { client, signer, url } = connect(options, environment);
  const id = listingOf(named, environment.folder, url);
  const terms = amount === undefined ? {} : { amount_lamports: Number(amount) };
  let withdrawn = amount ?? 0n;
  const { signature } = await withdraw(client, signer, id, terms, {
    signal: environment.signal,
    approve: ({ returned_lamports: returned }) => {
      withdrawn = BigInt(returned ?? withdrawn);
      return true;
    },
  });
  report(options, environment, { listing_id: id, withdrawn_lamports: Number(withdrawn), signature }, [
    `Withdrew ${formatSol(withdrawn)} from ${id} to ${signer.address}.`,
  ]);
}
