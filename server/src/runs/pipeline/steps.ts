import { traced } from '../../platform/tracing/spans.js';

/** The steps of a run, in their order. */
export const RUN_STEPS = ['parse', 'admit', 'slot', 'check', 'charge', 'run', 'deliver'] as const;
export type RunStep = (typeof RUN_STEPS)[number];

/** Gets the time that each step of each run took, also of a step that failed. */
export type StepTimes = (step: RunStep, seconds: number) => void;

/** Carries out a step: its time is measured, and it is a span of the run's trace. */
export async function inStep<Result>(
  { stepTimes }: { stepTimes: StepTimes },
  step: RunStep,
  work: () => Promise<Result>,
): Promise<Result> {
  const beganAt = performance.now();
  try {
    return await traced(`run.${step}`, {}, work);
  } finally {
    stepTimes(step, (performance.now() - beganAt) / 1000);
  }
}
