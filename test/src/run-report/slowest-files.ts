import { relative } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

const MOST_FILES = 25;

/** Prints the seed of a run's samples, its slowest files, and its time by project. */
class SlowestFilesReporter implements Reporter {
  #vitest: Vitest | undefined;
  #startedMs = 0;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    this.#startedMs = performance.now();
    const { TEST_FORM, TEST_SEED } = process.env;
    vitest.logger.log(`Form  ${TEST_FORM}; repeat its samples with TEST_SEED=${TEST_SEED}\n`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const vitest = this.#vitest;
    // One file needs no list.
    if (!vitest || modules.length <= MOST_FILES) return;
    const files = modules.map((module) => ({
      path: relative(vitest.config.root, module.moduleId),
      project: module.project.name,
      tests: [...module.children.allTests()].length,
      seconds: secondsOf(module),
    }));
    const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, MOST_FILES);
    vitest.logger.log(`\nSlowest ${slowest.length} of ${files.length} files:`);
    for (const { seconds, path, tests } of slowest)
      vitest.logger.log(row(seconds, `${path} (${tests} tests)`));
    vitest.logger.log('By project, summed over files:');
    for (const name of new Set(files.map(({ project }) => project))) {
      const own = files.filter(({ project }) => project === name);
      const tests = own.reduce((sum, file) => sum + file.tests, 0);
      const seconds = own.reduce((sum, file) => sum + file.seconds, 0);
      vitest.logger.log(row(seconds, `${name} (${own.length} files, ${tests} tests)`));
    }
    const totalSeconds = (performance.now() - this.#startedMs) / 1_000;
    vitest.logger.log(`${row(totalSeconds, 'in all, on the clock')}\n`);
  }
}

const row = (seconds: number, text: string) => `${seconds.toFixed(1).padStart(8)} s  ${text}`;

function secondsOf(module: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } =
    module.diagnostic();
  return (environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration) / 1_000;
}

/** Adds the report to a run. A plugin, so that other reporters on the command line do not remove it. */
export function slowestFiles(): Plugin {
  const reporter = new SlowestFilesReporter();
  return {
    name: 'slowest-files',
    configureVitest({ vitest }) {
      // Called once per project.
      if (!vitest.config.reporters.includes(reporter)) vitest.config.reporters.push(reporter);
    },
  };
}
