import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { runCli } from './run-cli.js';

/** Makes a folder with an agent and a wallet, until the test ends. @returns the agent's folder */
export async function newAgent(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent rental cli '));
  onTestFinished(() => rm(folder, { recursive: true }));
  const agent = join(folder, 'an-agent');
  const cli = async (cwd: string, ...args: string[]) => {
    const told: string[] = [];
    const tell = (text: string) => void told.push(text);
    const { signal } = new AbortController();
    const code = await runCli(args, {
      variables: {},
      folder: cwd,
      signal,
      out: tell,
      write: tell,
      err: tell,
    });
    expect(code, told.join('\n')).toBe(0);
  };
  await cli(folder, 'init', 'an-agent');
  await cli(agent, 'wallet', 'create');
  return agent;
}
