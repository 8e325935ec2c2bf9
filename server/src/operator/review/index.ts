export { parseReviewCommand, REVIEW_USAGE, type ReviewCommand } from './parse.js';
export { runReviewCommand, type ReviewParts } from './run.js';
