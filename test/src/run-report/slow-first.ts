import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the slowest first. Update it from the list at the end of a run in CI. */
const SLOWEST: readonly string[] = [
  'test/src/clients/published-packages.test.ts',
  'test/src/clients/templates.test.ts',
  'test/src/clients/creator-cli.test.ts',
  'test/src/clients/creator-dev.test.ts',
  'benchmarks/src/runs/runs.test.ts',
  'test/src/service/devnet.test.ts',
  'test/src/dashboard/own-agents.test.ts',
  'test/src/mcp/mcp-clients.test.ts',
  'test/src/service/operations.test.ts',
  'test/src/clients/interrupted-cli.test.ts',
  'test/src/dashboard/pages.test.ts',
  'test/src/service/examples.test.ts',
  'test/src/service/start-mistakes.test.ts',
  'test/src/dashboard/approvals.test.ts',
  'resilience/src/sandbox-soak/sandbox-soak.test.ts',
  'resilience/src/load/load.test.ts',
  'resilience/src/strangers/strangers.test.ts',
  'packages/sandbox/src/drivers/bubblewrap/bubblewrap-driver.conformance.test.ts',
  'server/src/operations/keys.test.ts',
  'packages/cli/src/terminal.test.ts',
  'server/src/runs/pipeline/money-model.test.ts',
  'resilience/src/replicas/replicas.test.ts',
  'resilience/src/plans/plans.test.ts',
  'resilience/src/replicas/rolling-update/rolling-update.test.ts',
  'resilience/src/faults/restore-drill/restore-drill.test.ts',
  'benchmarks/src/growth/growth.test.ts',
  'resilience/src/faults/hostile-database/hostile-database.test.ts',
  'resilience/src/faults/crash-matrix/crash-matrix.test.ts',
  'resilience/src/faults/kills/nothing-survives.test.ts',
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
