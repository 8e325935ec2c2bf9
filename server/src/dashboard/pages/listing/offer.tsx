import { formatSol, RENTAL_TERMS, type Listing } from '@agent-rental/contract';
import { Badges } from '../../components/agent-card.js';
import { Icon } from '../../components/icon.js';
import type { RentalCosts } from '../../../transactions/index.js';
import { CostLines } from '../costs.js';
import { PRICE_UNITS } from '../price.js';

/** Numbers of runs whose price the card says. */
const RUNS = [10, 100, 1_000];

/** The price of an agent, the costs of a first rental, and the way to rent it. */
export function Offer({ listing, costs }: { listing: Listing; costs: RentalCosts | undefined }) {
  const { id, rental_model: model, price_lamports: price, status } = listing;
  return (
    <aside class="offer card" aria-label="Price">
      <p class="price">{formatSol(price)}</p>
      <p class="soft">
        {PRICE_UNITS[model]}
        {RENTAL_TERMS[model].isPrepaid ? ', from a balance that you prepay' : ', then runs cost nothing more'}
      </p>
      <Badges listing={listing} />
      {status === 'active' ? (
        <>
          <a class="button" href={`/dashboard/rent/${id}`}>
            Rent this agent
          </a>
          <a class="button plain" href="#try">
            Try it
          </a>
        </>
      ) : (
        <p class="note">It is {status}: it cannot be rented now.</p>
      )}
      {RENTAL_TERMS[model].isPrepaid ? <Calculator price={BigInt(price)} /> : null}
      {status === 'active' ? (
        <CostLines
          model={model}
          priceLamports={BigInt(price)}
          minDepositLamports={BigInt(listing.min_deposit_lamports)}
          costs={costs}
        />
      ) : null}
      <p class="soft small">
        <Icon name="shield-check" /> Each run has a signed receipt, and the payment is on-chain.
      </p>
    </aside>
  );
}

function Calculator({ price }: { price: bigint }) {
  return (
    <dl class="facts">
      {RUNS.map((runs) => (
        <>
          <dt>{runs.toLocaleString('en')} runs</dt>
          <dd>{formatSol(price * BigInt(runs))}</dd>
        </>
      ))}
    </dl>
  );
}
