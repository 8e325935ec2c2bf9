import {
  formatSol,
  RENTAL_TERMS,
  SUBSCRIPTION_DURATIONS_SECONDS,
  type RentalModel,
} from '@agent-rental/contract';
import { subscriptionPriceLamports } from '@agent-rental/program-client';
import type { RentalCosts } from '../../transactions/index.js';

const DAY_SECONDS = 86_400;

/** The price and the costs of a first rental. */
interface CostsProps {
  model: RentalModel;
  /** Per task for a Per-Task listing, for 30 days for a subscription. */
  priceLamports: bigint;
  minDepositLamports: bigint;
  /** Undefined while the chain cannot be asked. */
  costs: RentalCosts | undefined;
}

/** The full cost of a first rental: each window, with the costs of the network beside the price. */
export function Costs({ model, priceLamports, minDepositLamports, costs }: CostsProps) {
  if (!costs) {
    return (
      <p>
        Beside the price, the network takes its fee and a deposit for the rental’s account; the transaction
        that you sign says the sum.
      </p>
    );
  }
  const { rentLamports, networkFeeLamports } = costs;
  const beside = rentLamports + networkFeeLamports;
  const rows = windowsOf({ model, priceLamports, minDepositLamports });
  return (
    <table class="costs">
      <caption>Full cost of a first rental</caption>
      <thead>
        <tr>
          <th scope="col">Rental</th>
          <th scope="col">{RENTAL_TERMS[model].isPrepaid ? 'Deposit' : 'Price'}</th>
          <th scope="col">Network</th>
          <th scope="col">In all</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, lamports }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{formatSol(lamports)}</td>
            <td>{formatSol(beside)}</td>
            <td>
              <strong>{formatSol(lamports + beside)}</strong>
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td colSpan={4}>
            The network’s part is {formatSol(rentLamports)} that it holds for the rental’s account and a fee
            of {formatSol(networkFeeLamports)}, more while the network is busy. The transaction that you sign
            says the sum.
          </td>
        </tr>
      </tfoot>
    </table>
  );
}

/** The whole cost of each window of a first rental, in a few lines. */
export function CostLines({ model, priceLamports, minDepositLamports, costs }: CostsProps) {
  if (!costs) return null;
  const beside = costs.rentLamports + costs.networkFeeLamports;
  return (
    <>
      <h2 class="minor">Full cost of a first rental</h2>
      <dl class="facts">
        {windowsOf({ model, priceLamports, minDepositLamports }).map(({ name, lamports }) => (
          <>
            <dt>{name}</dt>
            <dd>{formatSol(lamports + beside)}</dd>
          </>
        ))}
      </dl>
      <p class="soft small">
        The network holds {formatSol(costs.rentLamports)} of it for the rental’s account, and takes a fee of{' '}
        {formatSol(costs.networkFeeLamports)}.
      </p>
    </>
  );
}

function windowsOf({
  model,
  priceLamports,
  minDepositLamports,
}: Omit<CostsProps, 'costs'>): { name: string; lamports: bigint }[] {
  switch (model) {
    case 'one_time':
      return [{ name: 'for good', lamports: priceLamports }];
    case 'per_query':
      return [{ name: 'smallest deposit', lamports: minDepositLamports }];
    case 'subscription':
      return SUBSCRIPTION_DURATIONS_SECONDS.map((seconds) => ({
        name: `for ${seconds / DAY_SECONDS} days`,
        lamports: subscriptionPriceLamports(priceLamports, seconds),
      }));
    default:
      return model satisfies never;
  }
}
