import type { Listing, OwnAgent } from '@agent-rental/contract';
import type { Session } from '../wallets.js';
import type { ManifestInput } from '../publishing/manifest-input.js';

/** An agent on its page. */
export interface ShownAgent {
  readonly root: HTMLElement;
  readonly session: Session;
  readonly agent: OwnAgent;
  /** Its public listing; undefined for a draft. */
  readonly listing: Listing | undefined;
  /** Where its next version is typed. */
  readonly manifest: ManifestInput;
  /** Reads everything again, then shows the text `done`. */
  readonly refresh: (done: string) => Promise<void>;
}
