import type { ViteUserConfig } from 'vitest/config';
import type { Reporter, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { readRequirements, REQUIREMENTS_FOLDER } from './requirement.js';
import { judge, type TestOutcome } from './verdict.js';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

/** Fails a run that misses a requirement. */
class RequirementsReporter implements Reporter {
  readonly #folder: string;
  readonly #isPart: boolean;
  #vitest: Vitest | undefined;

  constructor(folder: string, isPart: boolean) {
    this.#folder = folder;
    this.#isPart = isPart;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], _: unknown, reason: TestRunEndReason): Promise<void> {
    const vitest = this.#vitest;
    if (!vitest) return;
    const outcomes = modules.flatMap((module) =>
      [...module.children.allTests()].map((test): TestOutcome => {
        return { title: test.name, state: test.result().state };
      }),
    );
    const scope = {
      groups: modules.flatMap((module) => [...module.children.allSuites()].map(({ name }) => name)),
      isFull: !this.#isPart && reason !== 'interrupted' && (await ranEverything(vitest, modules)),
      maySkip: process.env['CI'] === undefined,
    };
    const { problems, summary } = judge(await readRequirements(this.#folder), outcomes, scope);
    if (problems.length > 0) process.exitCode = 1;
    for (const problem of problems) vitest.logger.error(` × ${problem}`);
    vitest.logger.log(`Requirements  ${summary}\n`);
  }
}

/** Whether nothing was filtered out: no file, no project, shard or test name. */
async function ranEverything(vitest: Vitest, modules: readonly TestModule[]): Promise<boolean> {
  if (vitest.getGlobalTestNamePattern() || vitest.config.project.length > 0) return false;
  const ran = new Set(modules.map((module) => module.moduleId));
  return (await vitest.globTestSpecifications()).every(({ moduleId }) => ran.has(moduleId));
}

/**
 * Holds a test run to the requirements. A plugin and not an entry in `reporters`, so that choosing other reporters on
 * the command line does not choose this one away.
 *
 * @param options.folder the lists of requirements
 * @param options.isPart the configuration leaves files out, so that not every line is shown
 */
export function requirements({ folder = REQUIREMENTS_FOLDER, isPart = false } = {}): Plugin {
  const reporter = new RequirementsReporter(folder, isPart);
  return {
    name: 'requirements',
    configureVitest({ vitest }) {
      // Called once per project.
      if (!vitest.config.reporters.includes(reporter)) vitest.config.reporters.push(reporter);
    },
  };
}
