export { parseReviewCommand } from './parse.js';
export { runReviewCommand } from './run.js';
export { makeTestRun } from './test-run.js';
