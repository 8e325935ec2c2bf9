import { formatSol, RENTAL_TERMS, SUBSCRIPTION_DURATIONS_SECONDS } from '@agent-rental/contract';
import { subscriptionPriceLamports } from '@agent-rental/program-client';
import type { PublishedListing } from '../../listings/index.js';
import { Tour } from '../components/tour.js';
import { elementId } from '../element-ids.js';
import type { PageChain } from './page.js';

const DAY_SECONDS = 86_400;

/** The data for the script of the page. */
interface PaymentProps {
  listing: Pick<PublishedListing, 'id' | 'rentalModel' | 'priceLamports' | 'minDepositLamports'>;
  /** The network, as wallets name it. */
  chain: PageChain;
  /** The marketplace program, in base58. */
  programId: string;
}

/** Pays with a wallet of the browser. The script shows it, so that it is not there without one. */
export function PaymentSection({ listing, chain, programId }: PaymentProps) {
  const { id, rentalModel, priceLamports, minDepositLamports } = listing;
  const { isPrepaid, expires } = RENTAL_TERMS[rentalModel];
  return (
    <section
      id="pay"
      hidden
      data-listing={id}
      data-model={rentalModel}
      data-price={String(priceLamports)}
      data-min-deposit={String(minDepositLamports)}
      {...chain}
      data-program-id={programId}
    >
      <h2>Pay with your wallet</h2>
      <Tour />
      <form>
        {isPrepaid ? (
          <label>
            Deposit in SOL
            <input
              id={elementId('deposit')}
              inputMode="decimal"
              autocomplete="off"
              value={formatSol(minDepositLamports).replace(' SOL', '')}
            />
          </label>
        ) : null}
        {expires ? (
          <label>
            For
            <select id={elementId('duration')}>
              {SUBSCRIPTION_DURATIONS_SECONDS.map((seconds) => (
                <Window key={seconds} seconds={seconds} priceLamports={priceLamports} />
              ))}
            </select>
          </label>
        ) : null}
        <span class="wallets" />
        <div id={elementId('existing')} aria-live="polite" />
      </form>
      <p role="status" />
      <p id={elementId('paid')} class="links" hidden>
        <a class="button" href={`/dashboard/listings/${id}#try`}>
          Run it now
        </a>
        <a href="/dashboard">See your rentals</a>
      </p>
    </section>
  );
}

function Window({ seconds, priceLamports }: { seconds: number; priceLamports: bigint }) {
  const price = subscriptionPriceLamports(priceLamports, seconds);
  return (
    <option value={String(seconds)} data-price={String(price)}>
      {seconds / DAY_SECONDS} days, {formatSol(price)}
    </option>
  );
}
