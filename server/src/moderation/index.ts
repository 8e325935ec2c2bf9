export { isBanned, requireNotBanned } from './bans.js';
export {
  actionsAbout,
  lastAction,
  listActions,
  recordAction,
  type Decider,
  type OperatorAction,
  type RecordedAction,
} from './operator-actions.js';
export {
  closeReports,
  createReports,
  removeReportAddresses,
  reportedListings,
  type ReportedListing,
} from './reports.js';
export { reportRoutes } from './routes.js';
