import { spawnServer } from '../marketplace.js';

/** Runs a server that ends by itself. */
export async function runToEnd(
  stateDir: string,
  env: Record<string, string> = {},
): Promise<{ code: number | null; stderr: string }> {
  const child = spawnServer(stateDir, env);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stderr };
}
