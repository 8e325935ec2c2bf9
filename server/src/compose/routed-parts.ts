import type { Drain } from '../platform/drain.js';
import type { Notifications } from '../database/notifications.js';
import type { Metrics } from '../operations/index.js';
import type { OutboundHttp } from '../platform/outbound-http.js';
import type { KeyRing } from '../service-keys/index.js';
import type { ListingsAndFiles } from './listings-and-files.js';
import type { Content } from './content.js';
import type { Email } from './email.js';
import type { HttpPart } from './http.js';
import type { Protocol } from './chain/protocol.js';
import type { Registration } from './registration.js';
import type { RunLogPart } from './runs/run-log.js';
import type { RunRecords } from './runs/run-records.js';
import type { Sandboxes } from './sandboxes/sandboxes.js';
import type { SettlementPart } from './settlement.js';

/** The parts whose routes are served. */
export interface RoutedParts {
  protocol: Protocol;
  content: Content;
  listingsAndFiles: ListingsAndFiles;
  records: RunRecords;
  sandboxes: Sandboxes;
  settlement: SettlementPart;
  runLog: RunLogPart;
  registration: Registration;
  httpPart: HttpPart;
  email: Email;
  /** Where callers reach this service. */
  baseUrl: () => string;
  outbound: OutboundHttp;
  drain: Drain;
  metrics: Pick<Metrics, 'stepEnded'>;
  ring: KeyRing;
  /** The server stops. */
  stopping: AbortSignal;
  /** Tells of new events. */
  eventNotices: Notifications;
}
