import type { RentalClient } from '@agent-rental/sdk';
import type { DirectToolCache } from './direct-tool-cache.js';
import type { InspectProposal, PayingWallet } from '../renting/paying-wallet.js';
import type { Approve } from '../spending/policy.js';
import type { Spending } from '../spending/spending.js';

/** The parts that the tools of one caller work with. */
export interface ToolContext {
  readonly client: RentalClient;
  readonly cache: DirectToolCache;
  /** Where people reach the marketplace. */
  readonly publicUrl: string;
  /** Absent: nothing limits the spends here. */
  readonly spending?: Spending | undefined;
  /** Absent: rentals are paid elsewhere. */
  readonly wallet?: PayingWallet | undefined;
  /** Decodes the most that a proposed transaction can take. */
  readonly inspect: InspectProposal;
  /** The marketplace program that is paid; absent: the published default. */
  readonly programId?: string | undefined;
  /** Asked above the policy's amount, where a call has no `approve`. */
  readonly approve?: Approve | undefined;
  /** Called after each rental that was made. */
  readonly onRented?: ((agentId: string) => void) | undefined;
  /** Signed payments whose outcome is not known, by listing: sent again before anything else is signed. */
  readonly unsettled: Map<string, string>;
  /** The last payment for each listing: resolves when it has ended, however it did. */
  readonly paying: Map<string, Promise<void>>;
}
