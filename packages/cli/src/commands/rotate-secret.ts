import { rotateWebhookSecret } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { connect } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { keepSecret } from '../project/register.js';
import { listingOf } from '../project/registrations.js';
import { report } from '../report.js';

/** `agent-rental rotate-secret`: replaces the webhook secret of a connected agent, and keeps the new one in the folder. */
export async function rotateSecretCommand(
  named: string | undefined,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { client, signer, url, records } = connect(options, environment);
  const id = listingOf(named, environment.folder, url);
  const rotated = await rotateWebhookSecret(client, signer, id, { signal: environment.signal });
  keepSecret(records, rotated.webhook_secret, environment);
  // Only the file has the secret.
  const { previous_valid_until: until } = rotated;
  report(options, environment, { listing_id: id, previous_valid_until: until }, [
    `Calls of ${id} are signed with the new secret, and until ${until} with the one before, too.`,
    'An agent that reads the file needs no change. Give another agent the new secret by then.',
  ]);
}
