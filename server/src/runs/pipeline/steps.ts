import { traced } from '../../platform/tracing/spans.js';

/** The steps of a run, in their order. */
export const RUN_STEPS = ['parse', 'admit', 'slot', 'check', 'charge', 'run', 'deliver'] as const;
export type RunStep = (typeof RUN_STEPS)[number];

/** Gets the time that each step of each run took, also of a step that failed. */
type StepTimes = (step: RunStep, seconds: number) => void;

/** The part that every step uses. */
export interface StepDeps {
  stepTimes: StepTimes;
}

/** Makes a step: its time is measured, and it is a span of the run's trace. */
export function step<Deps, Args extends unknown[], Result>(
  name: RunStep,
  work: (deps: Deps, ...args: Args) => Promise<Result>,
): (deps: Deps & StepDeps, ...args: Args) => Promise<Result> {
  return async (deps, ...args) => {
    const startedAt = performance.now();
    try {
      return await traced(`run.${name}`, {}, () => work(deps, ...args));
    } finally {
      deps.stepTimes(name, (performance.now() - startedAt) / 1000);
    }
  };
}
