import type { MarketplaceEvent } from '@agent-rental/program-client';
import type { Chain } from '../../chain/index.js';
import { OperatorError } from '../operator-error.js';
import type { ProtocolCommand } from './actions.js';
import { describeDeploymentCost, readDeployment, readProtocolAccount } from './deployment.js';
import { describeDeployment, describeEvent, describePlan, describeProtocol } from './describe.js';
import { planAction, type Plan } from './plan.js';
import { openSigner, sendPlan, simulatePlan } from './send.js';

/**
 * Runs a command about the program; returns the text to print.
 *
 * @param onStep called with each transaction's text before it is sent
 * @throws OperatorError when it cannot be done; ApiError `service_unavailable` where the chain is out of reach.
 */
export async function runProtocolCommand(
  chain: Chain,
  { action, dryRun, keypairFile }: ProtocolCommand,
  onStep: (text: string) => void = () => undefined,
): Promise<string> {
  if (action.name === 'deploy-check') return checkDeployment(chain);
  if (action.name === 'protocol') {
    const protocol = await readProtocolAccount(chain);
    if (!protocol) throw new OperatorError('The program is not initialised on this network.');
    return describeProtocol(protocol);
  }
  return describeLanded(
    await carryOut(chain, await planAction(chain, action), { dryRun, keypairFile }, onStep),
  );
}

/** A plan whose transaction has landed. */
interface Landed {
  plan: Plan;
  signature: string;
  event: MarketplaceEvent;
}

/**
 * Shows a plan, simulates it, and sends it with the signer's key. Undefined where nothing was to be sent.
 *
 * @throws OperatorError when it cannot be done; ApiError `service_unavailable` where the chain is out of reach.
 */
export async function carryOut(
  chain: Chain,
  plan: Plan,
  { dryRun, keypairFile }: Pick<ProtocolCommand, 'dryRun' | 'keypairFile'>,
  onStep: (text: string) => void,
): Promise<Landed | undefined> {
  const keypair = keypairFile === undefined ? undefined : await openSigner(keypairFile, plan);
  onStep(describePlan(plan, chain.programId, await chain.requireOneCluster()));
  await simulatePlan(chain, plan);
  if (dryRun || !keypair) return undefined;
  return { plan, ...(await sendPlan(chain, plan, keypair)) };
}

/** The end of {@link carryOut} in words. */
export function describeLanded(landed: Landed | undefined): string {
  if (!landed) return 'The simulation succeeds. Nothing was sent.';
  const { plan, signature, event } = landed;
  return [`Landed: ${signature}`, describeEvent(event), ...(plan.next === '' ? [] : [plan.next])].join('\n');
}

async function checkDeployment(chain: Chain): Promise<string> {
  const deployment = await readDeployment(chain);
  if (!deployment) {
    throw new OperatorError(
      `No program is deployed at ${chain.programId.toBase58()} on this network: deploy it, or correct PROGRAM_ID. ` +
        (await describeDeploymentCost(chain)),
    );
  }
  const text = describeDeployment(deployment, await readProtocolAccount(chain));
  if (!deployment.isCommitted) {
    throw new OperatorError(
      `${text}\nThe deployed program is another one than this release's: upgrade one of them.`,
    );
  }
  return text;
}
