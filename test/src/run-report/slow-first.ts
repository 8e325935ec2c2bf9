import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the slowest first. Update it from the list at the end of a run in CI. */
const SLOWEST: readonly string[] = [
  'resilience/src/faults/hostile-database/hostile-database.test.ts',
  'resilience/src/replicas/replicas.test.ts',
  'resilience/src/faults/crash-matrix/crash-matrix.test.ts',
  'test/src/clients/published-packages.test.ts',
  'test/src/mcp/mcp-clients.test.ts',
  'test/src/clients/templates.test.ts',
  'test/src/a2a/python.test.ts',
  'resilience/src/strangers/strangers.test.ts',
  'test/src/clients/python-package.test.ts',
  'fuzz/src/api/api-fuzz.test.ts',
  'test/src/service/rehearsal.test.ts',
  'resilience/src/plans/plans.test.ts',
  'test/src/dashboard/own-agents.test.ts',
  'server/src/operations/keys.test.ts',
  'test/src/money/pay-per-call.test.ts',
  'test/src/service/start-mistakes.test.ts',
  'resilience/src/replicas/rolling-update/rolling-update.test.ts',
  'test/src/service/devnet.test.ts',
  'test/src/service/secrets.test.ts',
  'test/src/service/backup-drill.test.ts',
  'test/src/service/examples.test.ts',
  'resilience/src/faults/restore-drill/restore-drill.test.ts',
  'test/src/service/operations.test.ts',
  'test/src/runs/callbacks.test.ts',
  'test/src/clients/creator-cli.test.ts',
];

/** Starts the slowest files of a project first, so that all workers end together. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const index = SLOWEST.indexOf(relative(this.ctx.config.root, moduleId));
      return index < 0 ? SLOWEST.length : index;
    };
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((file) => file.project === project).toSorted((one, other) => rank(one) - rank(other)),
    );
  }
}
