import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RECONCILE = fileURLToPath(new URL('../../../../server/dist/reconciliation/main.js', import.meta.url));

/** Runs `npm run reconcile` on every transaction. @returns the differences between database and chain. */
export function reconcile(parts: {
  database: { url: string };
  chain: { rpcUrl: string };
}): Promise<unknown[]> {
  const env = { ...process.env, DATABASE_URL: parts.database.url, SOLANA_RPC_URLS: parts.chain.rpcUrl };
  const args = [RECONCILE, '--every-transaction', '--json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      if (stdout === '') return reject(error ?? new Error(stderr));
      const { repaired, open } = JSON.parse(stdout) as { repaired: unknown[]; open: unknown[] };
      resolve([...repaired, ...open]);
    });
  });
}
