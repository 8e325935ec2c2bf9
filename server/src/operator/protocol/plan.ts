import {
  ACCOUNT_SIZES,
  decodeAccessCredential,
  findAccessCredentialAddress,
  findListingAddress,
  initializeProtocol,
  revokeAccess,
  revokePerQueryAccess,
  updateProtocol,
  type MarketplaceEventName,
  type Protocol,
  type UpdateProtocolInput,
} from '@agent-rental/program-client';
import { SystemProgram, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { Chain } from '../../chain/index.js';
import { OperatorError } from '../operator-error.js';
import type { ProtocolAction } from './actions.js';
import { readDeployment, readProtocolAccount } from './deployment.js';

/** An action whose transaction is known. */
export interface Plan {
  instruction: TransactionInstruction;
  /** Signs, and pays the network fee. */
  signer: { role: string; address: PublicKey };
  /** The event that the program logs for it. */
  event: MarketplaceEventName;
  /** Lamports that new accounts hold; 0 where none is made. */
  rentLamports: bigint;
  /** The operator's next step. */
  next: string;
}

type SignedAction = Exclude<ProtocolAction, { name: 'protocol' | 'deploy-check' }>;

/**
 * Builds the transaction of an action from the present state of the chain.
 *
 * @throws OperatorError with the reason, for an action that cannot work; ApiError `service_unavailable`.
 */
export async function planAction(chain: Chain, action: SignedAction): Promise<Plan> {
  const { programId } = chain;
  if (action.name === 'initialize') return planInitialize(chain, action);
  const protocol = await readProtocolAccount(chain);
  if (!protocol) throw new OperatorError(NOT_INITIALIZED);
  const admin = { role: 'admin', address: protocol.admin };
  const update = (
    changes: Omit<UpdateProtocolInput, 'admin' | 'programId'>,
    next = '',
    signer = admin,
  ): Plan => ({
    instruction: updateProtocol({ admin: signer.address, programId, ...changes }),
    signer,
    event: 'ProtocolUpdated',
    rentLamports: 0n,
    next,
  });
  switch (action.name) {
    case 'update-protocol': {
      const { feeBps, minQueryPriceLamports } = action;
      return update({ feeBps, minQueryPriceLamports });
    }
    case 'pause':
      return update({ paused: true }, 'Runs and charges go on; unpause lets wallets buy again.');
    case 'unpause':
      return update({ paused: false });
    case 'treasury':
      await requireTreasury(chain, action.to);
      return update({ treasury: action.to }, 'Servers follow within 30 s.');
    case 'rotate-authority':
      switch (action.step) {
        case 'propose':
          return update({ nextAuthority: action.to }, NEXT_OF_PROPOSAL);
        case 'accept': {
          const authority = required(protocol.nextAuthority, 'rotate-authority');
          const next =
            'Start the replicas with the new key as AUTHORITY_KEYPAIR alone, and empty the old one.';
          return update({ authority, nextAuthority: null }, next);
        }
        case 'cancel':
          return update({ nextAuthority: null });
        default:
          return action satisfies never;
      }
    case 'rotate-admin':
      switch (action.step) {
        case 'propose':
          return update(
            { pendingAdmin: action.to },
            'The new admin takes over with: rotate-admin accept --keypair FILE',
          );
        case 'accept': {
          const address = required(protocol.pendingAdmin, 'rotate-admin');
          return update({}, '', { role: 'proposed admin', address });
        }
        case 'cancel':
          return update({ pendingAdmin: null });
        default:
          return action satisfies never;
      }
    case 'revoke-access':
      return planRevocation(chain, action, protocol);
    default:
      return action satisfies never;
  }
}

const NOT_INITIALIZED =
  'The program is not initialised on this network: send initialize first, or correct PROGRAM_ID and SOLANA_RPC_URLS.';
const NEXT_OF_PROPOSAL =
  'Every replica needs the new key as NEXT_AUTHORITY_KEYPAIR, with SOL. After five minutes, when no charge of the old key ' +
  'can land any more: rotate-authority accept';

async function planInitialize(
  chain: Chain,
  action: Extract<ProtocolAction, { name: 'initialize' }>,
): Promise<Plan> {
  const { programId } = chain;
  const { admin, authority, treasury, feeBps, minQueryPriceLamports } = action;
  const deployment = await readDeployment(chain);
  if (!deployment) {
    throw new OperatorError(
      `No program is deployed at ${programId.toBase58()} on this network: deploy it first.`,
    );
  }
  if (await readProtocolAccount(chain)) {
    throw new OperatorError('The program is initialised already: protocol shows its configuration.');
  }
  const { upgradeAuthority } = deployment;
  if (!upgradeAuthority) {
    throw new OperatorError(
      'The program has no upgrade authority any more, whose signature initialize needs.',
    );
  }
  requireApart({ 'upgrade authority': upgradeAuthority, admin, authority, treasury });
  await requireTreasury(chain, treasury);
  return {
    instruction: initializeProtocol({
      upgradeAuthority,
      programId,
      admin,
      authority,
      treasury,
      feeBps,
      minQueryPriceLamports,
    }),
    signer: { role: 'upgrade authority', address: upgradeAuthority },
    event: 'ProtocolInitialized',
    rentLamports: await chain.minimumBalance(ACCOUNT_SIZES.Protocol),
    next: "Give the authority SOL for the fees of charges, and start the server with it. It is the admin's key that changes this.",
  };
}

/** The hot key, which a server holds, must not have the rights of the cold keys. @throws OperatorError */
function requireApart(roles: Record<string, PublicKey>): void {
  const seen = new Map<string, string>();
  for (const [name, address] of Object.entries(roles)) {
    const key = address.toBase58();
    const other = seen.get(key);
    if (other !== undefined && (name === 'authority' || other === 'authority')) {
      throw new OperatorError(
        `${key} is named as ${other} and as ${name}: the authority signs on a server and needs a separate key.`,
      );
    }
    seen.set(key, name);
  }
}

/** @throws OperatorError where fees could not be paid to it. */
async function requireTreasury(chain: Chain, treasury: PublicKey): Promise<void> {
  const { accounts } = await chain.getAccounts([treasury]);
  const [account] = accounts;
  const least = await chain.minimumBalance(0);
  if (account && !account.owner.equals(SystemProgram.programId)) {
    throw new OperatorError('The treasury has to be a wallet: that address is an account of a program.');
  }
  if (BigInt(account?.lamports ?? 0) < least) {
    throw new OperatorError(
      `The treasury ${treasury.toBase58()} holds ${account?.lamports ?? 0} lamports: send it at least ${least} first, ` +
        'so that it is rent-exempt.',
    );
  }
}

async function planRevocation(
  chain: Chain,
  { listingId, buyer }: Extract<ProtocolAction, { name: 'revoke-access' }>,
  { admin }: Protocol,
): Promise<Plan> {
  const { programId } = chain;
  const listing = findListingAddress(listingId, programId).address;
  const { accounts } = await chain.getAccounts([
    findAccessCredentialAddress(buyer, listing, programId).address,
  ]);
  const [account] = accounts;
  if (!account?.owner.equals(programId)) {
    throw new OperatorError(`The wallet ${buyer.toBase58()} has no rental of ${listingId}.`);
  }
  const { rentalModel } = decodeAccessCredential(account.data);
  const common = { signer: { role: 'admin', address: admin }, rentLamports: 0n, next: '' };
  switch (rentalModel) {
    case 'one_time':
    case 'subscription':
      return {
        ...common,
        instruction: revokeAccess({ admin, buyer, listingId, programId }),
        event: 'AccessRevoked',
      };
    case 'per_query':
      return {
        ...common,
        instruction: revokePerQueryAccess({ revoker: admin, buyer, listingId, programId }),
        event: 'PerQueryAccessRevoked',
      };
    default:
      return rentalModel satisfies never;
  }
}

function required(address: PublicKey | null, name: string): PublicKey {
  if (address) return address;
  throw new OperatorError(`No hand-over is open: begin one with ${name} propose <address>.`);
}
