import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import { answers, POLL_MS, START_TIMEOUT_MS } from '../project/agent-endpoint.js';

const STOP_TIMEOUT_MS = 5_000;

/** The process of a connected agent, by `npm start` of its folder. */
export interface AgentProcess {
  /** Restarts it, and waits until its endpoint answers. @throws CommandError if it ends or does not answer. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** @param env variables in addition to the environment of this process */
export function createAgentProcess(
  { folder, err, signal }: CliEnvironment,
  entrypoint: string,
  env: Readonly<Record<string, string>>,
): AgentProcess {
  let child: ChildProcess | undefined;

  async function stop(): Promise<void> {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    kill(running, 'SIGTERM');
    const timer = setTimeout(() => kill(running, 'SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  async function restart(): Promise<void> {
    await stop();
    if (await answers(entrypoint)) {
      throw new CommandError(
        `Another program listens at ${entrypoint}. End it: "agent-rental dev" starts the agent itself.`,
      );
    }
    const started = spawn('npm', ['start', '--silent'], {
      cwd: folder,
      // A separate process group, with all processes that npm starts.
      detached: true,
      env: { ...process.env, PORT: new URL(entrypoint).port, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n').filter((part) => part !== '')) err(`agent | ${line}`);
      });
    }
    const endMs = Date.now() + START_TIMEOUT_MS;
    while (!(await answers(entrypoint))) {
      signal.throwIfAborted();
      if (started.exitCode !== null) throw new CommandError('The agent ended while it started; see above.');
      if (Date.now() > endMs)
        throw new CommandError(`The agent does not listen at ${entrypoint}, its entrypoint_url.`);
      await sleep(POLL_MS);
    }
  }

  return { restart, stop };
}

/** The group, with the shell and the agent that npm has started. */
function kill({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // The group has just ended.
  }
}
