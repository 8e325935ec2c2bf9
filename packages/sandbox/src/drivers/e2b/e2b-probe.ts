import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import { type Sandbox, SandboxProbeError, type StartOptions } from '../../sandbox.js';

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
  async function step(name: string, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      throw new SandboxProbeError(name, error instanceof Error ? error.message : String(error), {
        cause: error,
      });
    }
  }

  await step('start the runner', async () => {
    const runner = await start({ entry: 'runner' });
    await runner.kill();
  });
  await step('run code without a network', async () => {
    const pool = { take: () => start({ entry: 'evaluator' }) };
    const request = { code: reach(address), task: 'probe' };
    const evaluation = await evaluateInSandbox(pool, request, { timeoutMs: PROBE_TIMEOUT_MS });
    if ('error' in evaluation) throw new Error(evaluation.error);
    if (evaluation.value === 'network') throw new Error(`the code reached ${address.host}:${address.port}`);
    if (evaluation.value !== 42) throw new Error(`6 * 7 gave ${JSON.stringify(evaluation.value)}`);
  });
}
