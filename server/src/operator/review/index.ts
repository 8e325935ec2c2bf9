export { parseReviewCommand, REVIEW_USAGE } from './parse.js';
export { runReviewCommand } from './run.js';
