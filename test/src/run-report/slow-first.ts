import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the slowest first. Update it from the list at the end of a run in CI. */
const SLOWEST: readonly string[] = [];

/** Starts the slowest files of a project first, so that both workers end together. */
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
