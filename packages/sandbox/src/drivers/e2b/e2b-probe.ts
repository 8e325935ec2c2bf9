import type { Sandbox, StartOptions } from '../../sandbox.js';
import { probeRunner, probeStep, probeValue, requireAnswer } from '../probe.js';

const PROBE_TIMEOUT_MS = 20_000;
/** A public service of the internet. */
const PUBLIC_ADDRESS = { host: '1.1.1.1', port: 443 };

const reach = ({ host, port }: typeof PUBLIC_ADDRESS): string => `
  const { connect } = await import('node:net');
  const reached = await new Promise((resolve) => {
    const socket = connect(${port}, ${JSON.stringify(host)}, () => resolve(true));
    socket.on('error', () => resolve(false));
    setTimeout(resolve, 3000, false);
  });
  return reached ? 'network' : 6 * 7;`;

/**
 * Starts both programs on E2B once, and tests whether code there has a network. The SDK's first call is slow, so the probe
 * makes it and not a renter's run.
 * @throws SandboxProbeError naming the step that failed.
 */
export async function probeE2b(
  start: (options: StartOptions) => Promise<Sandbox>,
  address = PUBLIC_ADDRESS,
): Promise<void> {
  await probeRunner(start);
  await probeStep('run code without a network', async () => {
    const value = await probeValue(start, reach(address), { timeoutMs: PROBE_TIMEOUT_MS });
    if (value === 'network') throw new Error(`the code reached ${address.host}:${address.port}`);
    requireAnswer(value);
  });
}
