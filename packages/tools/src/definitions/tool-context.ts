import type { RunCallback } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import type { DirectToolCache } from './direct-tool-cache.js';
import type { InspectProposal, PayingWallet } from '../renting/paying-wallet.js';
import type { Approve } from '../spending/policy.js';
import type { Spending } from '../spending/spending.js';

/** The shared parts of one caller's tools. */
export interface ToolContext {
  readonly client: RentalClient;
  readonly cache: DirectToolCache;
  /** The marketplace's address for people. */
  readonly publicUrl: string;
  /** Absent: the tools do not limit spends. */
  readonly spending?: Spending | undefined;
  /** Absent: the tools do not pay for rentals. */
  readonly wallet?: PayingWallet | undefined;
  /** Decodes a proposed transaction's maximum cost. */
  readonly inspect: InspectProposal;
  /** The marketplace program. Default: the published program. */
  readonly programId?: string | undefined;
  /** Asked above the policy's amount, if a call has no `approve`. */
  readonly approve?: Approve | undefined;
  /** Hears of the end of each run whose call has no `callback`. */
  readonly callback?: RunCallback | undefined;
  /** Called after each rental. */
  readonly onRented?: ((agentId: string) => void) | undefined;
  /** Signed payments with unknown outcome, by listing. They are sent again before another signature. */
  readonly unsettled: Map<string, string>;
  /** The last payment for each listing. It resolves after a success or a failure. */
  readonly paying: Map<string, Promise<void>>;
}
