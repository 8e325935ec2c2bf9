import { formatAdded, formatSol } from '@agent-rental/sdk';
import { RENTAL_TERMS } from '@agent-rental/sdk/creator';
import {
  renew,
  rent,
  topUp,
  type DecodedQuote,
  type RentTerms,
  type SignOptions,
} from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError, UsageError } from '../errors.js';
import { connect, type Connected } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { report } from '../report.js';
import { lamportsOf } from '../sol.js';

const SECONDS_PER_DAY = 86_400;

type CredentialVerification = Awaited<ReturnType<typeof rent>>;

interface RentOptions extends MarketplaceOptions {
  deposit?: string;
  days?: string;
  early?: true | undefined;
  yes?: true;
}

/** `agent-rental rent`: shows the cost for the wallet, and pays after the approval. */
export async function rentCommand(
  listingId: string,
  options: RentOptions,
  environment: CliEnvironment,
): Promise<void> {
  const terms = termsOf(options);
  const connected = connect(options, environment);
  const { signal, ask, err } = environment;
  let refused: Error | undefined;
  try {
    const credential = await pay(connected, listingId, { ...terms, early: options.early }, err, {
      signal,
      approve: async (quote) => {
        if (await isUnverified(connected, listingId, signal))
          err(
            `${listingId} was published although it could not be reached, and none of its runs has succeeded yet.`,
          );
        const added = addedOf(terms, quote);
        if (added !== undefined) err(added);
        const each =
          quote.max_run_lamports === undefined
            ? ''
            : `; each run may draw ${formatSol(quote.max_run_lamports)} of the balance`;
        err(
          `Pays ${formatSol(quote.price_lamports)}${each}; with rent and fees ${formatSol(quote.total_lamports)}.`,
        );
        if (options.yes === true) return true;
        if (!ask) refused = new UsageError('--yes is missing: it approves the payment.');
        else if (!(await ask('Pay it?'))) refused = new CommandError('Nothing was paid.');
        return refused === undefined;
      },
    });
    report(options, environment, credential, [
      `Rented ${listingId}.`,
      `Run it: agent-rental run ${listingId} "<task>"${options.wallet === undefined ? '' : ` --wallet ${options.wallet}`}`,
    ]);
  } catch (error) {
    throw refused ?? error;
  }
}

async function isUnverified({ client }: Connected, listingId: string, signal: AbortSignal): Promise<boolean> {
  return (await client.getListing(listingId, { signal })).unverified_since !== undefined;
}

/** Rents a listing, or adds to an existing rental, and says so before it pays. */
async function pay(
  { client, signer }: Connected,
  listingId: string,
  { early, ...terms }: RentTerms & Pick<RentOptions, 'early'>,
  tell: (line: string) => void,
  options: SignOptions,
): Promise<CredentialVerification> {
  const {
    status,
    rental_model: model,
    balance_lamports: balance = 0,
  } = await client.verifyCredential(listingId, { signal: options.signal });
  if (status === 'not_found') return rent(client, signer, listingId, terms, options);
  const { deposit_lamports: deposit, duration_seconds: duration } = terms;
  const kind = model === undefined ? undefined : RENTAL_TERMS[model];
  if (kind?.isPrepaid && deposit !== undefined) {
    tell(
      `${listingId} is rented already, and its balance is ${formatSol(balance)}: ` +
        (deposit === 0 ? 'this agrees to its present price.' : 'the deposit adds to it.'),
    );
    return topUp(client, signer, listingId, { amount_lamports: deposit }, options);
  }
  if (kind?.expires && duration !== undefined) {
    tell(`${listingId} is rented already: this renews it, and the days count from now.`);
    return renew(client, signer, listingId, { duration_seconds: duration, early }, options);
  }
  const more = [
    ...(kind?.isPrepaid ? ['--deposit adds to its balance'] : []),
    ...(kind?.expires ? ['--days renews it'] : []),
  ];
  throw new CommandError(`${[`${listingId} is rented already`, ...more].join('; ')}.`);
}

/** The time that a renewal adds, and its new end. */
function addedOf({ duration_seconds: duration }: RentTerms, quote: DecodedQuote): string | undefined {
  const { new_expires_at: end, added_seconds: added } = quote;
  if (duration === undefined || end === undefined || added === undefined) return undefined;
  return `The renewal adds ${formatAdded(added, duration)}, and moves the end to ${end}.`;
}

function termsOf({ deposit, days }: RentOptions): RentTerms {
  const lamports = deposit === undefined ? undefined : lamportsOf(deposit);
  if (deposit !== undefined && lamports === undefined)
    throw new UsageError('--deposit is no amount of SOL, for instance 0.05.');
  if (days !== undefined && !['30', '90', '365'].includes(days)) {
    throw new UsageError('--days is 30, 90 or 365.');
  }
  return {
    ...(lamports === undefined ? {} : { deposit_lamports: Number(lamports) }),
    ...(days === undefined
      ? {}
      : { duration_seconds: (Number(days) * SECONDS_PER_DAY) as NonNullable<RentTerms['duration_seconds']> }),
  };
}
