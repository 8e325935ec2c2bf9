import { rollbackAgent, update } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError, UsageError } from '../errors.js';
import { connect } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { listingOf, readRegistrations, writeRegistration } from '../project/registrations.js';
import { report } from '../report.js';
import { metadataOf } from './publish.js';

/** `agent-rental rollback`: an earlier version becomes the next version. The folder does not change. */
export async function rollbackCommand(
  named: string | undefined,
  options: MarketplaceOptions & { to?: string },
  environment: CliEnvironment,
): Promise<void> {
  const given = options.to === undefined ? undefined : Number(options.to);
  if (given !== undefined && !(Number.isInteger(given) && given > 0))
    throw new UsageError('--to is the number of a version, for instance 2.');
  const connected = connect(options, environment);
  const { client, signer, url, records } = connected;
  const { signal, err } = environment;
  const id = listingOf(named, environment.folder, url);
  const { version: current = 1 } = await client.getListing(id, { signal });
  const target = given ?? current - 1;
  if (target < 1) throw new CommandError(`${id} has only one version, so there is no earlier one.`);
  if (target === current) throw new CommandError(`${id} is at version ${current} already.`);
  err(`Going back to version ${target} at ${url}`);
  const { job_id: jobId } = await rollbackAgent(client, signer, id, target, { signal });
  const onChain = await metadataOf(connected, jobId, environment);
  if (Object.keys(onChain).length > 0) {
    err('Writing it on-chain');
    await update(client, signer, id, onChain, { signal });
  }
  const known = readRegistrations(records)[url];
  // The folder differs from the running version now, so the next update must send it.
  if (known?.listing_id === id) writeRegistration(records, url, { ...known, sha256: undefined });
  const { version = target } = await client.getListing(id, { signal });
  report(options, environment, { listing_id: id, version, restored: target }, [
    `${id} runs the content of version ${target} as version ${version}.`,
    'The folder is unchanged: "agent-rental update" would send it again.',
  ]);
}
