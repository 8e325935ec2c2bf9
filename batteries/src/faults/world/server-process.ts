/**
 * A server as production has it, in a process of its own. It loads its code at once and starts when its parent says with
 * which environment, so that the next one is at hand when a server is killed. Unlike production it may call the addresses on
 * this machine that its parent names, where the agent of the battery is.
 */
import { readConfig } from '@agent-rental/server/config';
import { createLogger, startProduction } from '@agent-rental/server/production';

/** What the parent says. */
export interface StartMessage {
  env: Record<string, string>;
  agentOrigin: string;
}

process.on('disconnect', () => process.exit());
process.once('message', (message: StartMessage) => {
  const config = readConfig(message.env);
  void startProduction(config, config.stateDir, createLogger(config.logLevel), [message.agentOrigin]).then(
    ({ baseUrl }) => process.send?.({ type: 'ready', baseUrl }),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.send?.({ type: 'loaded' });
