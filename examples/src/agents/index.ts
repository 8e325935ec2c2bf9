import { contractDates } from './contract-dates/agent.js';
import type { ExampleAgent } from './example-agent.js';
import { expenseReconciler } from './expense-reconciler/agent.js';
import { sourceReviewer } from './source-reviewer/agent.js';

/** The example agents: both packaging modes and every rental model. */
export const exampleAgents: readonly ExampleAgent[] = [expenseReconciler, sourceReviewer, contractDates];

export { contractDates, serveContractDates } from './contract-dates/agent.js';
export { inputPath, sampleInput } from './example-agent.js';
export type { ConnectedExample, DeclarativeExample, ExampleAgent, ManifestDraft } from './example-agent.js';
export { expenseReconciler } from './expense-reconciler/agent.js';
export { sourceReviewer } from './source-reviewer/agent.js';
