/**
 * `npm test [-- argument ...]`: builds changed packages and runs the tests, by vitest, which gets the arguments. Leaves out
 * the files below, unless `CI` is set or an argument chooses tests.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './build.mjs';

/**
 * The slowest files: each starts servers, chains, databases or terminals again and again. The tests beside the code show parts of
 * the same; CI runs all of them.
 */
const ONLY_IN_CI = [
  'conformance/src/adapters/mastra.test.ts',
  'conformance/src/schemas/schema-corpus.test.ts',
  'packages/ai-sdk/src/rented-tools-7.test.ts',
  'packages/ai-sdk/src/types-of-both-versions.test.ts',
  'packages/cli/src/bin.test.ts',
  'packages/cli/src/terminal.test.ts',
  'packages/local-chain/src/supervisor.test.ts',
  'packages/mcp-server/src/bin.test.ts',
  'packages/mcp-server/src/http/replica-bus.test.ts',
  'packages/program-client/src/accounts/reclaim.test.ts',
  'packages/sandbox/src/drivers/bubblewrap/bubblewrap-driver.conformance.test.ts',
  'packages/sandbox/src/drivers/e2b/e2b-driver.test.ts',
  'packages/stand-in/src/readmes/readmes.test.ts',
  'packages/tools/src/schema/never-narrower.test.ts',
  'server/src/chain/endpoints/hostile-endpoints.test.ts',
  'server/src/embedded/backup/backup.test.ts',
  'server/src/embedded/connected-run.test.ts',
  'server/src/embedded/postgres/postgres.test.ts',
  'server/src/events/email/email.test.ts',
  'server/src/events/webhooks/delivery.test.ts',
  'server/src/listings/search/search.test.ts',
  'server/src/operations/authority.test.ts',
  'server/src/operations/backup.test.ts',
  'server/src/operations/keys.test.ts',
  'server/src/operations/several-endpoints.test.ts',
  'server/src/operator/doctor/doctor.test.ts',
  'server/src/operator/protocol/protocol.test.ts',
  'server/src/pay-per-call/usdc/exact-payment.test.ts',
  'server/src/run-log/crashes.test.ts',
  'server/src/run-log/run-log.test.ts',
  'server/src/service-keys/service-keys.test.ts',
  'server/src/storage/arweave/ar-content.test.ts',
  'test/src/a2a/a2a.test.ts',
  'test/src/a2a/python-agent.test.ts',
  'test/src/a2a/python.test.ts',
  'test/src/clients/commands.test.ts',
  'test/src/clients/creator-cli.test.ts',
  'test/src/clients/creator-dev.test.ts',
  'test/src/clients/examples.test.ts',
  'test/src/clients/framework-examples.test.ts',
  'test/src/clients/generated-clients.test.ts',
  'test/src/clients/interrupted-cli.test.ts',
  'test/src/clients/published-packages.test.ts',
  'test/src/clients/python-package.test.ts',
  'test/src/clients/templates.test.ts',
  'test/src/clients/usual-mistakes.test.ts',
  'test/src/clients/wallet-cli.test.ts',
  'test/src/clients/x402-python.test.ts',
  'test/src/clients/x402.test.ts',
  'test/src/credentials/credential-states.test.ts',
  'test/src/dashboard/approvals.test.ts',
  'test/src/dashboard/charts.test.ts',
  'test/src/dashboard/development-wallet.test.ts',
  'test/src/dashboard/events.test.ts',
  'test/src/dashboard/guarding-wallets.test.ts',
  'test/src/dashboard/hostile-listing.test.ts',
  'test/src/dashboard/keys.test.ts',
  'test/src/dashboard/looks.test.ts',
  'test/src/dashboard/own-agents.test.ts',
  'test/src/dashboard/page-weight.test.ts',
  'test/src/dashboard/pages.test.ts',
  'test/src/dashboard/paying.test.ts',
  'test/src/dashboard/publishing.test.ts',
  'test/src/dashboard/renting.test.ts',
  'test/src/dashboard/reviews.test.ts',
  'test/src/dashboard/session.test.ts',
  'test/src/events/each-event.test.ts',
  'test/src/events/following.test.ts',
  'test/src/events/killed-mails.test.ts',
  'test/src/listings/icon.test.ts',
  'test/src/mcp/listening.test.ts',
  'test/src/mcp/mcp-clients.test.ts',
  'test/src/mcp/mcp-configs.test.ts',
  'test/src/mcp/mcp-long-runs.test.ts',
  'test/src/mcp/mcp-retries.test.ts',
  'test/src/mcp/renting-mcp.test.ts',
  'test/src/mcp/stable-lists.test.ts',
  'test/src/money/other-program.test.ts',
  'test/src/money/pay-per-call.test.ts',
  'test/src/money/reconcile.test.ts',
  'test/src/money/repriced-runs.test.ts',
  'test/src/money/run-log.test.ts',
  'test/src/money/transactions.test.ts',
  'test/src/oauth/attacks.test.ts',
  'test/src/oauth/login.test.ts',
  'test/src/oauth/mcp-remote.test.ts',
  'test/src/program-clients/early-renewals.test.ts',
  'test/src/program-clients/python.test.ts',
  'test/src/registration/approvals.test.ts',
  'test/src/registration/creators.test.ts',
  'test/src/registration/packaging-modes.test.ts',
  'test/src/registration/pinned-versions.test.ts',
  'test/src/registration/registration.test.ts',
  'test/src/requirements/vitest-plugin.test.ts',
  'test/src/runs/abort.test.ts',
  'test/src/runs/agent-modes.test.ts',
  'test/src/runs/callbacks.test.ts',
  'test/src/runs/e2b.test.ts',
  'test/src/runs/queue.test.ts',
  'test/src/service/backup-drill.test.ts',
  'test/src/service/boot.test.ts',
  'test/src/service/conversations.test.ts',
  'test/src/service/crash.test.ts',
  'test/src/service/devnet.test.ts',
  'test/src/service/event-loop.test.ts',
  'test/src/service/examples.test.ts',
  'test/src/service/full-disk.test.ts',
  'test/src/service/hostile-requests.test.ts',
  'test/src/service/leadership.test.ts',
  'test/src/service/limits.test.ts',
  'test/src/service/moderation.test.ts',
  'test/src/service/operations.test.ts',
  'test/src/service/operator-console-page.test.ts',
  'test/src/service/operator-console.test.ts',
  'test/src/service/operator.test.ts',
  'test/src/service/rehearsal.test.ts',
  'test/src/service/replicas.test.ts',
  'test/src/service/secrets.test.ts',
  'test/src/service/security.test.ts',
  'test/src/service/start-mistakes.test.ts',
  'test/src/service/traces.test.ts',
  'test/src/service/ugly-answers.test.ts',
  'test/src/storage/foreign-files.test.ts',
];

const missing = ONLY_IN_CI.filter((file) => !existsSync(join(root, file)));
if (missing.length > 0) {
  process.stderr.write(`scripts/test.mjs names files that are gone: ${missing.join(', ')}\n`);
  process.exit(1);
}
const given = process.argv.slice(2);
const namesTests = given.some(
  (argument) => !argument.startsWith('--reporter') && !argument.startsWith('--outputFile'),
);
const leavesOut = process.env['CI'] === undefined && !namesTests;
await build();
if (leavesOut) {
  process.stderr.write(`Leaving out ${ONLY_IN_CI.length} slow files, which CI runs: "CI=true npm test".\n`);
}
const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...given], {
  cwd: root,
  // Excluding by an argument does not reach projects.
  env: { ...process.env, ...(leavesOut ? { TESTS_LEFT_OUT: ONLY_IN_CI.join(',') } : {}) },
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
