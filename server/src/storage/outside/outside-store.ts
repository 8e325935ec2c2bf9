import type { CID } from 'multiformats/cid';

/** A store outside of the service that keeps public content for good. */
export interface OutsideStore {
  /**
   * Stores a block. When the call returns, the store has given the same bytes back, or a service that pins has said that it
   * has them.
   *
   * @throws GatewayError
   */
  put(cid: CID, bytes: Uint8Array): Promise<void>;
  /** Lets go of a block that nothing refers to; other copies of it stay. @throws GatewayError */
  remove(cid: CID): Promise<void>;
}
