import { execFile } from 'node:child_process';
import { npmTool } from '@agent-rental/stand-in/npm-tool';
import { npmBinary } from './npm-binary.js';

const VERSION = '2.12.0';
const TIMEOUT_MS = 120_000;

/** The exit code and output of the protocol's Inspector. */
export interface InspectorAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Installs the protocol's Inspector and a Node that it runs on.
 *
 * @returns a function that calls its command line
 * @throws Error when npm cannot install one of them
 */
export async function mcpInspector(): Promise<(...args: string[]) => Promise<InspectorAnswer>> {
  const node = await npmBinary('Node 22');
  const main = await npmTool('@modelcontextprotocol/inspector', VERSION, 'clients/launcher/build/index.js');
  return (...args) =>
    new Promise((resolve, reject) => {
      const options = { timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
      execFile(node, [main, '--cli', ...args], options, (error, stdout, stderr) => {
        if (error?.killed === true) reject(new Error(`The Inspector did not end.\n${stderr}`));
        else resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
      });
    });
}
